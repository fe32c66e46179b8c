"""What a search has cost: training steps and seconds, over all its starts, written down as they are spent."""

import time
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ..evaluators.finite import Finite
from ..evaluators.json_file import read_json, write_json
from .home import StudyFolder


class Cost(BaseModel):
    """Training steps of every kind, and wall time, of a study so far.

    `full_steps` is the length of a whole training of the workload, where that is known. Steps are those of
    float32's repeats, of trials and of training them longer, of confirmations, of sensitivity and of diagnosis;
    those of a process that was killed are not known. Blocks that measure speed are counted by their time only.
    `calm_trials` is how many trials in a row changed nothing; `ended` is why the trials ended.
    """

    model_config = ConfigDict(frozen=True)

    full_steps: int | None = None
    steps: int = 0
    time_s: Finite = 0.0
    calm_trials: int = 0
    ended: str | None = None

    @property
    def full_runs(self) -> float | None:
        """The steps in full-training equivalents: over the steps of the workload's whole training."""
        return self.steps / self.full_steps if self.full_steps else None

    def figures(self) -> dict[str, float | None]:
        """The figures by name, for tables and trackers."""
        return {
            "training_steps": self.steps,
            "search_time_s": self.time_s,
            "full_training_equivalents": self.full_runs,
        }

    def words(self, trials: int) -> str:
        """Such as "14 trials, 93 s, 1.20 full-training equivalents (1,920 training steps)"."""
        full_runs = "" if self.full_runs is None else f"{self.full_runs:.2f} full-training equivalents "
        steps = f"({self.steps:,} training steps)" if full_runs else f"{self.steps:,} training steps"
        return f"{trials} trials, {self.time_s:,.0f} s, {full_runs}{steps}"


class Ledger:
    """Writes down what one process of a search costs; what earlier starts of it have cost is part of it.

    It is the `Spending` of an evaluator. A process that is killed loses what it cost since the last entry.
    """

    def __init__(
        self, file: Path, clock: Callable[[], float] = time.monotonic, others: Callable[[], int] = lambda: 0
    ) -> None:
        """Begins to count seconds; `file` is read if it is there. `others` are the steps of the study's workers.

        Raises:
            HalfwiseError: it holds something else.
        """
        self._file = file
        self._clock = clock
        self._others = others
        self._kept = read_cost(file)
        self._before_s, self._started_s = self._kept.time_s, clock()

    @property
    def cost(self) -> Cost:
        """Until now, with the steps of the others."""
        return self._own().model_copy(update={"steps": self._kept.steps + self._others()})

    def note_full(self, steps: int) -> None:
        """A whole training of the workload is so many steps long."""
        self._write(self._kept.model_copy(update={"full_steps": steps}))

    def add(self, steps: int) -> None:
        """So many training steps were run."""
        self._write(self._kept.model_copy(update={"steps": self._kept.steps + steps}))

    def note_calm(self, trials: int) -> None:
        """So many trials in a row have changed nothing."""
        self._write(self._kept.model_copy(update={"calm_trials": trials}))

    def note_end(self, reason: str | None) -> None:
        """The trials have ended, or go on (None)."""
        self._write(self._kept.model_copy(update={"ended": reason}))

    def _own(self) -> Cost:
        elapsed_s = self._clock() - self._started_s
        return self._kept.model_copy(update={"time_s": self._before_s + elapsed_s})

    def _write(self, cost: Cost) -> None:
        self._kept = cost
        write_json(self._own(), self._file)


def read_cost(file: Path) -> Cost:
    """What one process of a study has cost; nothing where that was not written down yet."""
    return read_json(Cost, file) if file.exists() else Cost()


def cost_of(folder: StudyFolder) -> Cost:
    """What a study has cost: the leader's own cost, with the steps of all workers."""
    own = read_cost(folder.cost_file)
    return own.model_copy(update={"steps": own.steps + worker_steps(folder)})


def worker_steps(folder: StudyFolder) -> int:
    """The training steps that the study's workers have run, as far as their ledgers have come here."""
    return sum(read_cost(file).steps for file in folder.workers.glob("*/cost.json"))
