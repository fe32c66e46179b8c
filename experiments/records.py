"""What the runner hands to tracking, figures and reports: what a study is, its trials, what it came to."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..evaluators.outcome import Direction, Outcome
from ..evaluators.speed.comparison import Comparison
from ..policies import Policy
from ..search.front import Point
from ..search.propose.bound import Bound
from .cost import Cost
from .speed import Speed, speed_named


@dataclass(frozen=True)
class StudyInfo:
    """What a study searches, on what, and the command that made it.

    `tolerance` is relative to float32's quality (0.005 is half a percent); `speed_label` is the kind of speed
    and its device, such as "measured on CPU", `priced_for` the row of the device table if it is a price;
    `max_memory_bytes` is what a policy may need at most; `budget` is what else bounds the search, in words;
    `folder` is the study's own folder, absolute.
    """

    name: str
    workload: str
    command: str
    folder: Path
    device: str
    versions: Mapping[str, str]
    metric: str
    direction: Direction
    tolerance: float
    sampler: str
    seed: int
    trials_planned: int
    speed_label: str
    priced_for: str | None = None
    max_memory_bytes: int | None = None
    budget: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def title(self) -> str:
        """The study by its name, and its workload where that is another."""
        return self.name if self.name == self.workload else f"{self.name}: {self.workload}"

    @property
    def speed(self) -> Speed:
        """The speed that policies are compared by."""
        return speed_named(self.priced_for, self.device)


@dataclass(frozen=True)
class TrialRecord:
    """One finished trial: the policy that was tried, under which name if it has one, and its outcome."""

    number: int
    name: str | None
    policy: Policy
    outcome: Outcome
    folder: Path

    @property
    def title(self) -> str:
        """How lists name it, so that they sort by number: "002 O2", or "007" and the policy's digest."""
        return f"{self.number:03d} {self.name or self.policy.digest}"


@dataclass(frozen=True)
class StudySummary:
    """What a study came to: all its points, those on the front, and the policy that was chosen.

    `best` and `best_policy` are None where nothing could be chosen; `reason` says why in either case.
    `counts` are trials by status word; `files` are more files for people (front.csv, report.html and so on).
    `confirmed` is the speed of `best` over float32's where it was measured once more, on its own. `as_good_as`
    are the trials that noise cannot tell from a faster one on the front, by number; `remarks` are sentences on
    what the study found beside its choice. `bound` is how much priced speed is left above `best`, where it was
    worked out. `cost` is what the search cost, once it is over.
    """

    points: tuple[Point, ...]
    front: tuple[Point, ...]
    baseline: Point | None
    best: Point | None
    reason: str
    best_policy: Path | None = None
    files: tuple[Path, ...] = ()
    counts: Mapping[str, int] = field(default_factory=Counter[str])
    confirmed: Comparison | None = None
    as_good_as: Mapping[int, int] = field(default_factory=dict[int, int])
    remarks: tuple[str, ...] = ()
    bound: Bound | None = None
    cost: Cost | None = None
