"""What a benchmark is, and how its figures are judged and printed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

T = TypeVar("T")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Figure:
    """A measured figure beside its target; `unit` is printed behind both, such as "x" for a ratio."""

    what: str
    value: float
    sense: Literal["at most", "at least"]
    target: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether the figure reaches its target; NaN never does."""
        return self.value <= self.target if self.sense == "at most" else self.value >= self.target

    def __str__(self) -> str:
        """One line: the figure, its target, and whether it is met."""
        # Three digits tell 1.049 from 1.051, and 12.3 from 12.
        verdict = "met" if self.met else "MISSED"
        return (
            f"{self.what}: {self.value:.3g}{self.unit}; target {self.sense} {self.target:g}{self.unit}: {verdict}"
        )


@dataclass(frozen=True)
class Bench:
    """A named benchmark.

    `run` gets an empty folder to work in and a function to say how it goes, and gives the figures to judge;
    none where the benchmark does not apply to this machine, which it then says.
    """

    name: str
    summary: str
    run: Callable[[Path, Say], tuple[Figure, ...]]


def alternate(rounds: int, *runs: Callable[[], T]) -> tuple[list[T], ...]:
    """The results of each function over some rounds, one call of each a round, in turn.

    A machine that slows down for a while then slows all of them alike. Every other round goes backwards, so
    that none always comes right after another.
    """
    results: tuple[list[T], ...] = tuple([] for _ in runs)
    for round_number in range(rounds):
        for position in _back_and_forth(range(len(runs)), round_number):
            results[position].append(runs[position]())
    return results


def _back_and_forth(positions: Iterable[int], round_number: int) -> Iterator[int]:
    in_order = list(positions)
    return iter(in_order if round_number % 2 == 0 else in_order[::-1])
