"""The trainings behind a table, one JSON line each, so that a stopped making goes on where it stood."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt, ValidationError

from halfwise.policies.errors import InputError
from halfwise.search.propose.cost_model import Choices, CostModel


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Network(_Line):
    """The first line: what all policies of a network have in common.

    `chances` is each site's chance of harm in float16, as the rules see it in one float32 run, and
    `sensitivity_trials` what that run took: its steps over a trial's steps.
    """

    name: str
    workload: str
    steps: PositiveInt
    mindspore_version: str
    costs: CostModel
    chances: dict[str, float]
    sensitivity_trials: NonNegativeFloat


class Run(_Line):
    """One policy with one seed: its price, its quality, or why it has none and which sites the diagnosis blamed.

    `diagnosis_steps` are those that the diagnosis took, 0 where there was none.
    """

    choices: tuple[int, ...]
    seed: int = Field(ge=0)
    step_time_s: PositiveFloat
    quality: float | None
    cause: str | None
    blamed: frozenset[int] = frozenset()
    diagnosis_steps: int = Field(default=0, ge=0)


class Journal:
    """A file that runs are appended to; what was written before a kill is kept, but for half a last line."""

    def __init__(self, path: Path, network: Network):
        """Read what is there, or begin.

        Raises:
            InputError: the file is of another network, or holds something else.
            OSError: the file cannot be written.
        """
        self._path = path
        self._runs: dict[tuple[Choices, int], Run] = {}
        lines = _whole_lines(path)
        first = next(lines, None)
        if first is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(network.model_dump_json().encode() + b"\n")
            return
        try:
            begun = Network.model_validate_json(first)
            self._runs = {(run.choices, run.seed): run for run in map(Run.model_validate_json, lines)}
        except ValidationError as error:
            raise InputError(f"{path} holds no trainings of a table: {error}; remove it to begin anew") from error
        if begun != network:
            raise InputError(
                f"{path} was begun with another network, device file or version of MindSpore than {network.name} "
                "has now; remove it to begin anew"
            )

    def find(self, choices: Choices, seed: int) -> Run | None:
        """What became of a policy with a seed, if it was trained."""
        return self._runs.get((choices, seed))

    def add(self, run: Run) -> None:
        """Write it down.

        Raises:
            OSError: the file cannot be written.
        """
        with self._path.open("ab") as file:
            file.write(run.model_dump_json().encode() + b"\n")
        self._runs[run.choices, run.seed] = run

    def __len__(self) -> int:
        """How many trainings there are."""
        return len(self._runs)

    def of(self, choices: Choices) -> tuple[Run, ...]:
        """A policy's runs, by seed."""
        found = [run for (policy, _), run in self._runs.items() if policy == choices]
        return tuple(sorted(found, key=lambda run: run.seed))


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines that were written to their end; what follows the last of them is cut off the file."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        path.write_bytes(whole)
    yield from whole.splitlines()
