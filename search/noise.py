"""What noise makes of a difference in quality: the spread of float32, and losses with their intervals."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# SciPy ships no types.
from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from ..policies.errors import HalfwiseError

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Noise:
    """How much float32's quality differs from seed to seed: a standard deviation from so many repeats.

    Raises:
        HalfwiseError: fewer than two repeats, or a spread that is no finite number of at least 0.
    """

    spread: float
    repeats: int

    def __post_init__(self) -> None:
        """Refuse what has no interval."""
        if self.repeats < 2 or not 0 <= self.spread < math.inf:
            raise HalfwiseError(
                f"noise needs at least 2 repeats and a finite spread >= 0; got {self.spread} from {self.repeats}"
            )

    @property
    def margin(self) -> float:
        """Half the 95% interval of one paired difference, in the metric's unit.

        Two runs with the same seed and the same batches are taken to differ by no more than float32 differs
        from seed to seed. Student's t, because the spread is known from a few repeats only.
        """
        return _student_t(self.repeats - 1) * self.spread


@dataclass(frozen=True, slots=True)
class QualityLost:
    """What a policy lost against float32 on the same seeds and batches, in the metric's unit: positive is worse.

    `half_width` is half the 95% interval; None where no noise is known. `confirmed`: from fresh seeds and a longer
    training, not from the trial itself.
    """

    mean: float
    half_width: float | None = None
    seeds: int = 1
    confirmed: bool = False

    @classmethod
    def of_one_seed(cls, difference: float, noise: Noise | None) -> "QualityLost":
        """From a trial's own seed; the interval is that of float32's spread, if it is known."""
        return cls(difference, noise and noise.margin)

    @classmethod
    def of_fresh_seeds(cls, differences: Sequence[float]) -> "QualityLost":
        """From a confirmation: the mean over seeds, with Student's t interval of paired differences.

        Raises:
            HalfwiseError: fewer than two differences have no spread.
        """
        seeds = len(differences)
        if seeds < 2:
            raise HalfwiseError(f"an interval needs differences from at least 2 seeds, but got {seeds}")
        half = _student_t(seeds - 1) * statistics.stdev(differences) / math.sqrt(seeds)
        return cls(statistics.fmean(differences), half, seeds, confirmed=True)

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width

    @property
    def short(self) -> str:
        """For a table: "0.0012 ± 0.0043"."""
        return f"{self.mean:.2g}" + ("" if self.half_width is None else f" ± {self.half_width:.2g}")

    def __str__(self) -> str:
        """Such as "0.0012 (95% interval -0.001 to 0.0034, 3 fresh seeds)"."""
        what = f"{self.seeds} fresh seeds" if self.confirmed else "one seed"
        if self.low is None or self.high is None:
            return f"{self.mean:.2g} ({what}, noise not known)"
        return f"{self.mean:.2g} (95% interval {self.low:.2g} to {self.high:.2g}, {what})"


def _student_t(degrees_of_freedom: int) -> float:
    # The quantile of scipy.stats.t, without the second that importing scipy.stats takes.
    quantile = stdtrit(degrees_of_freedom, (1 + CONFIDENCE) / 2)  # pyright: ignore[reportUnknownVariableType]
    return float(quantile)  # pyright: ignore[reportUnknownArgumentType]
