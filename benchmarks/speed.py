"""Whether a measured ratio's interval holds the truth: float32 against float32, where it is known to be 1."""

from pathlib import Path

from halfwise.evaluators.process import Failure, Limits
from halfwise.evaluators.speed.measure import measure_speed
from halfwise.evaluators.speed.twin_request import SpeedRequest
from halfwise.experiments.side_by_side import ROUNDS
from halfwise.experiments.workloads import resolve_reference

from .bench import Bench, Figure, Say

# The built-in workload that compiles fastest: most of a measurement's time goes into fresh processes.
WORKLOAD = "tabular-mlp"
RUNS = 20
HELD_TARGET = 17
BUDGET_S = 3
_LIMITS = Limits(time_s=120, memory_bytes=8 << 30)


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Measure with as many pairs of processes as a trial of a search, each time from another seed."""
    say(f"float32 against float32 on {WORKLOAD}, {RUNS} runs of {ROUNDS} pairs of processes, {BUDGET_S} s each")
    held = [_holds(folder, seed, say) for seed in range(RUNS)]
    return (Figure(f"intervals that hold 1, of {RUNS}", sum(held), "at least", HELD_TARGET, ""),)


def _holds(folder: Path, seed: int, say: Say) -> bool:
    request = SpeedRequest(
        workload=resolve_reference(WORKLOAD),
        search_path=folder,
        folder=folder / "sides",
        target="CPU",
        policy="O0",
        seed=seed,
        budget_s=BUDGET_S,
        rounds=ROUNDS,
    )
    found = measure_speed(request, _LIMITS)
    if isinstance(found, Failure):
        raise found.as_error()
    say(f"seed {seed}: {found}")
    return found.judged.low <= 1 <= found.judged.high


BENCH = Bench(
    "speed", f"float32 against itself: the interval holds 1 in at least {HELD_TARGET} of {RUNS} runs", run
)
