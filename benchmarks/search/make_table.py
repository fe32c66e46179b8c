"""Trains every policy of a small network and writes its measured table; when it was stopped, it goes on.

    python -m benchmarks.search.make_table sensors

Each training is one line of `bench-search/NAME.jsonl` in the working folder. All policies are trained with the
first seed; those that no other policy clearly beats get the other seeds too.
"""

import itertools
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halfwise.policies.errors import HalfwiseError, InputError
from halfwise.policies.near_miss import hint
from halfwise.search.propose.cost_model import Choices

from .measured import Row, Table, read_table, write_table
from .tables.catalogue import TABLES, Entry
from .tables.near_front import near_front, noise_of
from .tables.runs import Journal, Network, Run
from .tables.trainer import make_trainer

SEEDS = (0, 1, 2)
# As in a search: quality can repeat exactly, and a spread of nothing would make every difference matter.
_LEAST_NOISE = 0.001
# So many are trained by one process, and lost when it is stopped.
_SHIFT = 16

Train = Callable[[Sequence[tuple[Choices, int]]], Sequence[Run]]


@dataclass(frozen=True)
class Making:
    """A table in the making: the network, its trainings so far, and what trains more policies with their seeds."""

    network: Network
    journal: Journal
    train: Train

    def run(self, say: Callable[[str], None]) -> Table:
        """Train what is missing, and make the table of it."""
        every = tuple(itertools.product(*map(range, self.network.costs.sizes)))
        float32 = self.network.costs.float32
        self._train(((float32, seed) for seed in SEEDS), say)
        self._train(((choices, SEEDS[0]) for choices in every), say)
        while missing := [(c, s) for c in self._near(every) for s in SEEDS if self.journal.find(c, s) is None]:
            self._train(missing, say)
        return self._table(every)

    def _train(self, wanted: Iterable[tuple[Choices, int]], say: Callable[[str], None]) -> None:
        missing = [(choices, seed) for choices, seed in wanted if self.journal.find(choices, seed) is None]
        started = time.monotonic()
        for begin in range(0, len(missing), _SHIFT):
            shift = missing[begin : begin + _SHIFT]
            for run in self.train(shift):
                self.journal.add(run)
            done = begin + len(shift)
            left_s = (time.monotonic() - started) / done * (len(missing) - done)
            say(f"{done} of {len(missing)} trained, about {left_s / 60:.0f} minutes left")

    def _near(self, every: Iterable[Choices]) -> tuple[Choices, ...]:
        lost = {choices: self._lost(choices) for choices in every}
        trained = {choices: _known(losses) for choices, losses in lost.items() if None not in losses}
        return near_front({c: self._speedup(c) for c in trained}, trained, noise_of(trained.values()))

    def _lost(self, choices: Choices) -> tuple[float | None, ...]:
        """Against float32 with the same seed; None where it did not train."""
        runs = self.journal.of(choices)
        return tuple(None if run.quality is None else self._float32(run.seed) - run.quality for run in runs)

    def _float32(self, seed: int) -> float:
        run = self.journal.find(self.network.costs.float32, seed)
        if run is None or run.quality is None:
            raise HalfwiseError(f"float32 of {self.network.name} does not train with seed {seed}")
        return run.quality

    def _speedup(self, choices: Choices) -> float:
        return self._step_time_s(self.network.costs.float32) / self._step_time_s(choices)

    def _step_time_s(self, choices: Choices) -> float:
        return self.journal.of(choices)[0].step_time_s

    def _table(self, every: Sequence[Choices]) -> Table:
        rows = tuple(self._row(choices) for choices in every)
        network, float32 = self.network, {seed: self._float32(seed) for seed in SEEDS}
        noise = noise_of(_known(row.quality_lost) for row in rows if None not in row.quality_lost)
        return Table(
            **network.model_dump(exclude={"costs"}),
            costs=network.costs,
            command=f"python -m benchmarks.search.make_table {network.name}",
            float32_quality=float32,
            noise=max(noise, _LEAST_NOISE * abs(float32[SEEDS[0]])),
            rows=rows,
        )

    def _row(self, choices: Choices) -> Row:
        runs = self.journal.of(choices)
        return Row(
            choices=choices,
            speedup=self._speedup(choices),
            quality_lost=self._lost(choices),
            blamed=frozenset().union(*(run.blamed for run in runs)),
            diagnosis=max(run.diagnosis_steps for run in runs) / self.network.steps,
        )


def _known(lost: Iterable[float | None]) -> list[float]:
    return [value for value in lost if value is not None]


def make(entry: Entry, journal: Path, say: Callable[[str], None]) -> Table:
    """Train all that the journal lacks, and give the table.

    Raises:
        InputError: the journal is of another network.
        HalfwiseError: float32 does not train, or a trial did not run to its end.
    """
    trainer = make_trainer(entry)
    network = trainer.network()
    return Making(network, Journal(journal, network), trainer.train).run(say)


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 the table is written, 1 something went wrong while running, 2 no such table."""
    name = arguments[0] if len(arguments) == 1 else ""
    if name not in TABLES:
        known = ", ".join(TABLES)
        print(f"make_table: give one of {known}; got {' '.join(arguments)!r}{hint(name, TABLES)}", file=sys.stderr)
        return 2
    entry = TABLES[name]
    try:
        table = make(entry, Path("bench-search") / f"{name}.jsonl", lambda line: print(line, flush=True))
        write_table(table, entry.path)
        read_table(entry.path)
    except (HalfwiseError, OSError) as error:
        print(f"make_table: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    print(f"{entry.path}: {len(table.rows)} policies")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
