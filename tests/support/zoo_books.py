"""A made-up zoo network of three sites and its book, to race on without training anything."""

from pathlib import Path

from benchmarks.search.zoo.outcomes import Book, Network, Trained, book_path
from halfwise.experiments.float32_repeats import Float32Repeats
from halfwise.search.propose.cost_model import CostModel, Site

COSTS = CostModel(1.0, tuple(Site(f"groups.{i}", ("float32", "float16"), (1.0, 0.5)) for i in range(3)))
"""Four seconds in float32, 2.5 with everything low."""


def network(qualities: tuple[float, ...] = (0.9, 0.9, 0.9)) -> Network:
    """Everything but the last site may go low; `qualities` are float32's by seed."""
    return Network(
        name="three",
        ops=(("Mul",),) * 3,
        costs=COSTS,
        float32_step_time_s=4.0,
        chances=(0.01, 0.01, 0.02),
        sensitivity_steps=60,
        repeats=Float32Repeats(qualities=dict(enumerate(qualities, start=1))),
        best=(1, 1, 0),
    )


def outcome(choices: tuple[int, ...]) -> Trained:
    """The last site ruins training; finding that out takes a step."""
    if choices[2]:
        return Trained(
            choices=choices, speedup=COSTS.speedup(choices), quality_lost=None, blamed=(2,), diagnosis_steps=1
        )
    return Trained(choices=choices, speedup=COSTS.speedup(choices), quality_lost=0.001 * choices[0])


def book(folder: Path) -> Book:
    """Holds the best policy alone."""
    made = Book(book_path(folder, "three"), network(), ())
    made.add(outcome(made.network.best))
    return made
