"""Seasons of a long record: the faster a wave and the later the hour, the more of its angle float16 loses."""

import numpy as np
from mindspore import nn

from .cells import MLP, Chain, Gated, LogEpsilon, Lookup, OffsetHead, Saturation, Season, Stem
from .workload import SAMPLES, TableWorkload, standardised

FEATURES, PROBABILITIES, ROWS, HOURS = 8, 8, 1024, 2048
RADIANS_AN_HOUR = (0.55, 1.1, 2.1)
SCORES = (6.5, 9.0)

# Targets lie this far above zero: neighbours in float16 lie 0.5 apart there.
OFFSET = 700.0


class SeasonsWorkload(TableWorkload):
    """Two targets hang on the features, one on each season, and one on the scores.

    Inputs: features (N, 8), hours (N, 1) three times, scores (N, 1), probabilities (N, 8), row numbers (N,).
    """

    def __init__(self):
        random = np.random.default_rng(12)
        features = random.normal(size=(SAMPLES, FEATURES))
        hours = random.integers(0, HOURS, (3, SAMPLES, 1)).astype(np.float32)
        given = random.random((SAMPLES, PROBABILITIES))
        probabilities = np.where(random.random(given.shape) < 0.3, 0.0, given)
        scores = random.uniform(*SCORES, (SAMPLES, 1))
        numbers = random.integers(0, ROWS, SAMPLES, dtype=np.int32)
        waves = (np.sin(hour[:, 0] * speed + 0.7) for hour, speed in zip(hours, RADIANS_AN_HOUR, strict=True))
        shared = (features @ random.normal(size=(FEATURES, 2))).T
        targets = standardised(*shared, *waves, np.exp(-scores[:, 0])) + OFFSET
        slow, middling, fast = hours
        floats = (features, slow, probabilities, middling, scores, fast)
        super().__init__("seasons", [*(array.astype(np.float32) for array in floats), numbers], targets)

    def network(self) -> nn.Cell:
        """Ten groups with fresh weights."""
        slow, middling, fast = RADIANS_AN_HOUR
        groups = (
            Stem(FEATURES),
            MLP(256),
            Season(80, slow),
            Gated(160),
            LogEpsilon(PROBABILITIES),
            Season(96, middling),
            Saturation(64),
            Season(128, fast),
            Lookup(ROWS),
            OffsetHead(self.targets.shape[1], OFFSET),
        )
        return Chain(groups, (0, 0, 1, 0, 1, 1, 1, 1, 1, 0))


def make_seasons() -> SeasonsWorkload:
    """The workload."""
    return SeasonsWorkload()
