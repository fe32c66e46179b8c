"""Which samples a workload trains on and which it holds out."""

import numpy as np


def held_out_split(samples: int, held_out: int) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers to train on and `held_out` row numbers to judge by: disjoint, and the same in every run.

    The split does not depend on the trial's seed: fresh seeds are to show the noise of training, not of
    the data that a policy happened to be judged by.
    """
    order = np.random.default_rng(0).permutation(samples)
    return order[held_out:], order[:held_out]
