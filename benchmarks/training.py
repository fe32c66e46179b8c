"""What halfwise's training steps cost, against a plain MindSpore loop with the same steps and policy."""

from functools import partial
from pathlib import Path

from halfwise.evaluators.device_facts import CONVOLUTION_FIX
from halfwise.policies.errors import HalfwiseError

from .bench import Bench, Figure, Say, alternate
from .jobs import PLAIN_STEPS_JOB, TRIAL_STEPS_JOB, Steps, answer, least_step_cpu_s, steps_request

# Least of five would do on quiet cores; on busy ones a few more keep a passing load out of the figure.
ROUNDS = 8
# A small network: what a loop adds to its steps shows best beside little work.
WORKLOAD, POLICY, STEPS = "digits-resnet", "O2", 100
TARGET = 1.05


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Train both ways in turn, each time in a fresh process; equal losses prove that the steps are the same."""
    say(f"{STEPS} steps of {WORKLOAD} under {POLICY}, {ROUNDS} runs each, in turn")
    request = steps_request(folder / "steps", WORKLOAD, POLICY, STEPS, CONVOLUTION_FIX)
    trials, plains = alternate(
        ROUNDS, partial(answer, TRIAL_STEPS_JOB, request, Steps), partial(answer, PLAIN_STEPS_JOB, request, Steps)
    )
    if len({run.losses for run in trials + plains}) != 1:
        raise HalfwiseError("the two loops do not train the same: their losses differ")
    for name, runs in (("a trial", trials), ("a plain loop", plains)):
        totals_s = ", ".join(f"{sum(run.process_cpu_s):.2f}" for run in runs)
        say(f"{name}: {1000 * least_step_cpu_s(runs):.2f} ms of CPU time a step; whole runs {totals_s} s")
    ratio = least_step_cpu_s(trials) / least_step_cpu_s(plains)
    return (Figure("a trial's steps against a plain loop's, CPU time", ratio, "at most", TARGET, "x"),)


BENCH = Bench(
    "training", f"a trial's training steps: at most {TARGET:g}x the CPU time of a plain MindSpore loop", run
)
