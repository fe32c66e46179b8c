"""The exact front of a chain, by dynamic programming.

A label is what the sites so far add to the float32 step: seconds (negative where saved) and quality lost. Of
labels with the same choice at the last site only those are kept that no other one beats in both, because what
follows adds the same to all: label setting for the bi-objective shortest path (P. Hansen, "Bicriterion path
problems", Lecture Notes in Economics and Mathematical Systems 177, 1980). Their number may double with each site;
of the chains here it does not. Some ten thousand are left after 150 sites, so nothing is rounded.
"""

import numpy as np

from halfwise.search.propose.arrays import Floats


def chain_front(gain_s: Floats, cast_s: Floats, lost: Floats, lost_together: Floats) -> Floats:
    """The labels of the front, (labels, 2), fastest first; the figures are those of `Chain`."""
    high = np.zeros((1, 2))
    low = np.array([[-gain_s[0], lost[0]]])
    for gain, cast, alone, together in zip(gain_s[1:], cast_s, lost[1:], lost_together, strict=True):
        high, low = (
            _undominated(high, _plus(low, cast, 0.0)),
            _undominated(_plus(high, cast - gain, alone), _plus(low, -gain, alone + together)),
        )
    return _undominated(high, low)


def _plus(labels: Floats, seconds: float, lost: float) -> Floats:
    return labels + np.array([seconds, lost])


def _undominated(*parts: Floats) -> Floats:
    """The labels that no other one beats: fastest first, the loss falling."""
    labels = np.concatenate(parts)
    labels = labels[np.lexsort((labels[:, 1], labels[:, 0]))]
    least = np.minimum.accumulate(labels[:, 1])
    return labels[np.concatenate(([True], labels[1:, 1] < least[:-1]))]
