"""Sensors that read in units of their own: the further from zero, the more of a reading float16 rounds away."""

import numpy as np
from mindspore import nn

from .cells import MLP, Chain, Head, Sensor, Square, Stem, Summary
from .workload import SAMPLES, TableWorkload, standardised

FEATURES, WIDE, MEASUREMENTS = 8, 256, 8

# Where readings lie, and their deviation. Rounding loses a share r / (1 + r) of what can be told from them, r
# being (distance of neighbours in float16)^2 / 12 / deviation^2: 5, 10, 19, 33 and 57%.
READINGS = ((1500, 1.2), (3000, 1.7), (5000, 2.4), (10_000, 3.3), (20_000, 4.0))


class SensorsWorkload(TableWorkload):
    """One target hangs on the features, one more on each reading; measurements and the wide input tell nothing.

    Inputs: features (N, 8), readings (N, 1) each, measurements (N, 8) up to 2,000, a wide one (N, 256).
    """

    def __init__(self):
        random = np.random.default_rng(11)
        features = random.normal(size=(SAMPLES, FEATURES))
        readings = [random.normal(centre, deviation, (SAMPLES, 1)) for centre, deviation in READINGS]
        measurements = random.uniform(200, 2000, (SAMPLES, MEASUREMENTS))
        wide = random.normal(size=(SAMPLES, WIDE))
        inputs = (features, *readings[:2], measurements, *readings[2:4], wide, readings[4])
        targets = standardised(features @ random.normal(size=FEATURES), *(reading[:, 0] for reading in readings))
        super().__init__("sensors", [array.astype(np.float32) for array in inputs], targets)

    def network(self) -> nn.Cell:
        """Ten groups with fresh weights."""
        first, second, third, fourth, fifth = READINGS
        groups = (
            Stem(FEATURES),
            MLP(320),
            Sensor(48, *first),
            Sensor(64, *second),
            Square(MEASUREMENTS),
            Sensor(80, *third),
            Sensor(112, *fourth),
            Summary(),
            Sensor(144, *fifth),
            Head(self.targets.shape[1]),
        )
        return Chain(groups, (0, 0, 1, 1, 1, 1, 1, 1, 1, 0))


def make_sensors() -> SensorsWorkload:
    """The workload."""
    return SensorsWorkload()
