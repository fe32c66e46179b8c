"""What applying a policy takes by each engine, against the compilation that comes after it."""

from pathlib import Path
from statistics import median
from typing import Literal

from .bench import Bench, Figure, Say
from .jobs import REWRITE_JOB, RewriteRequest, Rewritten, answer

Engine = Literal["regions", "symbol-tree"]
LAYERS = 200
ROUNDS = 3
TARGETS: dict[Engine, float] = {"regions": 0.05, "symbol-tree": 1.0}


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Apply and compile in fresh processes, the engines in turn; both are taken from one process's clock."""
    say(f"a network of {LAYERS} layers, each with a precision of its own, {ROUNDS} processes for each engine")
    found: dict[Engine, list[Rewritten]] = {engine: [] for engine in TARGETS}
    for _ in range(ROUNDS):
        for engine, runs in found.items():
            request = RewriteRequest(folder=folder / engine, target="CPU", engine=engine, layers=LAYERS)
            runs.append(answer(REWRITE_JOB, request, Rewritten))
    return tuple(_figure(engine, runs, say) for engine, runs in found.items())


def _figure(engine: Engine, runs: list[Rewritten], say: Say) -> Figure:
    times = ", ".join(f"{each.apply_wall_s:.2f} of {each.compile_wall_s:.1f} s" for each in runs)
    say(f"{engine}: {times}")
    ratio = median(each.apply_wall_s / each.compile_wall_s for each in runs)
    what = f"{engine}: applying a policy to {LAYERS} layers, against compiling them"
    return Figure(what, ratio, "at most", TARGETS[engine], "x")


BENCH = Bench(
    "rewrite",
    f"applying a policy to {LAYERS} layers: regions at most 5% of the compile time, the symbol tree at most 1x",
    run,
)
