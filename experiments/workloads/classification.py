"""How well scores tell classes apart."""

import numpy as np


def accuracy(scores: np.ndarray, classes: np.ndarray) -> float:
    """The share of samples whose own class scores highest, from scores (N, classes) and class numbers (N,).

    NaN if a score is NaN: the largest of such scores would be a class all the same.
    """
    if np.isnan(scores).any():
        return float("nan")
    return float(np.mean(scores.argmax(axis=1) == classes))
