"""Whether the guard recovers a network that cannot train in float16, and how well it trains then."""

from pathlib import Path

from pydantic import NonNegativeInt

from .bench import Bench, Figure, Say
from .jobs import Answer, StepsRequest, answer

GUARDED_JOB = "benchmarks.job_guard:train_guarded"

WORKLOAD, SEEDS, STEPS = "text-transformer", (1, 2, 3), 200
TOLERANCE_PERCENT = 2


class GuardedRequest(StepsRequest):
    """Train from a seed, with the guard or without."""

    seed: NonNegativeInt
    guarded: bool


class Guarded(Answer):
    """The quality at the end, None where it is not finite; how many steps updated the weights; the log."""

    quality: float | None
    updates: int
    log: tuple[str, ...]


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Float32, all-float16, and all-float16 under the guard from each seed, each in a fresh process."""
    say(f"{STEPS} steps of {WORKLOAD}, {len(SEEDS)} seeds: nats per character, the less the better")
    losses = [_lost_percent(folder, seed, say) for seed in SEEDS]
    recovered = [lost for lost in losses if lost is not None]
    return (
        Figure(f"guarded trainings that recover, of {len(SEEDS)}", len(recovered), "at least", len(SEEDS), ""),
        Figure(
            "the worst of them against float32 with its seed", max(recovered, default=float("nan")), "at most",
            TOLERANCE_PERCENT, "%",
        ),
    )  # fmt: skip


def _lost_percent(folder: Path, seed: int, say: Say) -> float | None:
    """How much worse than float32 the guarded training ends; None if it does not recover, or had no need to."""
    float32, low, guarded = (
        _train(folder, policy, seed, guarding) for policy, guarding in (("O0", False), ("O3", False), ("O3", True))
    )
    say(f"seed {seed}: float32 {float32.quality}, float16 {low.quality} after {low.updates} updates")
    say(f"   guarded {guarded.quality} after {guarded.updates} updates; {'; '.join(guarded.log)}")
    needed = low.quality is None and guarded.log
    if not needed or guarded.quality is None or float32.quality is None:
        return None
    return 100 * (guarded.quality / float32.quality - 1)


def _train(folder: Path, policy: str, seed: int, guarded: bool) -> Guarded:
    request = GuardedRequest(
        folder=folder / f"{policy}-{seed}-{guarded}",
        target="CPU",
        workload=WORKLOAD,
        policy=policy,
        steps=STEPS,
        seed=seed,
        guarded=guarded,
    )
    return answer(GUARDED_JOB, request, Guarded)


BENCH = Bench(
    "guard",
    f"a transformer forced all-float16 recovers and ends within {TOLERANCE_PERCENT}% of float32",
    run,
)
