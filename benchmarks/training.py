"""What halfwise's training steps cost, against a plain MindSpore loop with the same steps and policy."""

from functools import partial
from pathlib import Path

from halfwise.policies.errors import HalfwiseError

from .bench import Bench, Figure, Say, alternate
from .jobs import PLAIN_STEPS_JOB, TRIAL_STEPS_JOB, Steps, answer, steps_request

ROUNDS = 5
STEPS = 400
TARGET = 1.05
WORKLOAD = "text-transformer"
# Everything low but the one product that would overflow: many casts, and loss scaling at work.
POLICY = "{default: float16, layers: {'blocks.*.attention::Mul': float32}}"


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Train both ways in turn, each in a fresh process; the least process CPU time of each counts."""
    say(f"{STEPS} steps of {WORKLOAD} under {POLICY}, {ROUNDS} times each, in turn")
    request = steps_request(folder / "steps", WORKLOAD, POLICY, STEPS)
    trials, plains = alternate(
        ROUNDS, partial(answer, TRIAL_STEPS_JOB, request, Steps), partial(answer, PLAIN_STEPS_JOB, request, Steps)
    )
    if {run.losses for run in trials} != {run.losses for run in plains}:
        raise HalfwiseError("the two loops do not train the same: their losses differ")
    for name, runs in (("a trial", trials), ("a plain loop", plains)):
        each_ms = sorted(1000 * run.process_cpu_s / STEPS for run in runs)
        say(f"{name}: {', '.join(f'{ms:.2f}' for ms in each_ms)} ms of CPU time a step")
    ratio = min(run.process_cpu_s for run in trials) / min(run.process_cpu_s for run in plains)
    return (Figure("a trial's steps against a plain loop's", ratio, "at most", TARGET, "x"),)


BENCH = Bench(
    "training", f"a trial's training steps: at most {TARGET:g}x the CPU time of a plain MindSpore loop", run
)
