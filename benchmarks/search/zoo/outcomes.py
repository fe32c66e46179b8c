"""What trainings of zoo networks came to, by network and policy: compressed JSON lines, to be replayed.

The first line of a file is the network as a search meets it, each other one a policy that was trained for real.
"""

import gzip
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt

from halfwise.experiments.advice import LEAST_TOLERANCE
from halfwise.experiments.float32_repeats import Float32Repeats
from halfwise.policies import LowPrecision
from halfwise.policies.errors import InputError
from halfwise.search.propose.cost_model import Choices, CostModel

LOW: LowPrecision = "float16"
"""What a group may be beside float32."""

_SUFFIX = ".jsonl.gz"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Network(_Value):
    """What is known of a zoo network before the first trial, as a search by halfwise finds it out.

    Sites are the groups in their order; `ops` are each one's, by the names that policies use. `costs` are priced
    for the row `zoo`. `chances` are the sites' probabilities of harm in float16, which took `sensitivity_steps`
    steps to measure. `repeats` is float32's quality by seed; the first seed is that of every trial. `best` is the
    best trainable policy, which is among the outcomes.
    """

    name: str
    ops: tuple[tuple[str, ...], ...]
    costs: CostModel
    float32_step_time_s: PositiveFloat
    chances: tuple[float, ...]
    sensitivity_steps: PositiveInt
    repeats: Float32Repeats
    best: Choices

    @property
    def float32(self) -> float:
        """The quality of float32 with the seed of the trials."""
        return next(iter(self.repeats.qualities.values()))

    @property
    def allowed(self) -> float:
        """The quality that may be lost, in the metric's unit: what a search by halfwise allows if nobody says."""
        return max(LEAST_TOLERANCE, self.repeats.relative_noise) * abs(self.float32)


class Trained(_Value):
    """One policy: its priced speed-up as compiled, and the quality lost against float32.

    That is None if it did not train; `cause` says why, `blamed` are the sites that the diagnosis named, and
    `diagnosis_steps` the steps that this took.
    """

    choices: Choices
    speedup: float = Field(gt=0)
    quality_lost: float | None
    cause: str | None = None
    blamed: tuple[int, ...] = ()
    diagnosis_steps: NonNegativeInt = 0


class Book:
    """The outcomes of one network; what is added is written at once."""

    def __init__(self, path: Path, network: Network, outcomes: Iterable[Trained]) -> None:
        """Nothing is written yet."""
        self.network = network
        self._path = path
        self._outcomes = {outcome.choices: outcome for outcome in outcomes}

    @property
    def outcomes(self) -> Mapping[Choices, Trained]:
        """What is known, by the choices."""
        return self._outcomes

    def add(self, outcome: Trained) -> None:
        """Keep it; equal books are equal files.

        Raises:
            OSError: the file cannot be written.
        """
        self._outcomes[outcome.choices] = outcome
        rows = (self._outcomes[choices] for choices in sorted(self._outcomes))
        lines = [value.model_dump_json() for value in (self.network, *rows)]
        aside = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
        aside.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
        os.replace(aside, self._path)


def book_path(folder: Path, name: str) -> Path:
    """Where the outcomes of the network of that name are kept."""
    return folder / f"{name}{_SUFFIX}"


def read_book(path: Path) -> Book:
    """The outcomes of a file.

    Raises:
        InputError: it holds something else, or lacks the best trainable policy.
    """
    try:
        first, *others = gzip.decompress(path.read_bytes()).decode().split("\n")
        book = Book(path, Network.model_validate_json(first), map(Trained.model_validate_json, others))
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path} holds no outcomes of a zoo network: {error}") from error
    if book.network.best not in book.outcomes:
        raise InputError(f"{path} must hold the best trainable policy of {book.network.name}, but does not")
    return book
