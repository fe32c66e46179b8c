"""What the switch away from oneDNN's reference convolution gains, and that it is left alone elsewhere."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from halfwise.evaluators.device_facts import ISA_VARIABLE, DeviceFacts, learn_device
from halfwise.evaluators.evaluator import survey_workload
from halfwise.evaluators.process import Limits
from halfwise.evaluators.survey_result import SurveyRequest
from halfwise.experiments.workloads import resolve_reference

from .bench import Bench, Figure, Say, alternate
from .jobs import TRIAL_STEPS_JOB, Steps, answer, least_step_cpu_s, steps_request

FASTER_TARGET = 10
NOT_SLOWER_TARGET = 1.05
ROUNDS = 3
# Without the fix a step takes a tenth of a second or more.
CONVOLVING_STEPS = 20
OTHER_STEPS = 60


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Train with halfwise's choice of environment and without it, in turn."""
    device = learn_device("CPU", folder / "device")
    if ISA_VARIABLE in os.environ:
        say(f"not applicable: {ISA_VARIABLE} is set, and halfwise leaves it to whoever set it")
        return ()
    if not device.reference_convolution:
        say("not applicable: oneDNN picks a fast convolution on this CPU")
        return ()
    return _convolving(folder, device, say), _other(folder, device, say)


def _convolving(folder: Path, device: DeviceFacts, say: Say) -> Figure:
    chosen_s, plain_s = _both_ways(folder, device, "digits-resnet", CONVOLVING_STEPS, say)
    what = "digits-resnet, how much faster with halfwise's choice"
    return Figure(what, plain_s / chosen_s, "at least", FASTER_TARGET, "x")


def _other(folder: Path, device: DeviceFacts, say: Say) -> Figure:
    chosen_s, plain_s = _both_ways(folder, device, "text-transformer", OTHER_STEPS, say)
    what = "text-transformer, its step with halfwise's choice against without"
    return Figure(what, chosen_s / plain_s, "at most", NOT_SLOWER_TARGET, "x")


def _both_ways(folder: Path, device: DeviceFacts, workload: str, steps: int, say: Say) -> tuple[float, float]:
    """CPU time of a float32 step with halfwise's choice and with nothing set, in seconds."""
    environment = _choice(folder, device, workload)
    words = " ".join(f"{name}={value}" for name, value in environment.items()) or "to set nothing"
    say(f"{workload}, halfwise's choice: {words}; {ROUNDS} runs of {steps} steps with it and without it, in turn")
    chosen_s, plain_s = map(
        least_step_cpu_s,
        alternate(
            ROUNDS,
            partial(_train, folder, workload, steps, environment),
            partial(_train, folder, workload, steps, {}),
        ),
    )
    say(f"{workload}: {1000 * chosen_s:.1f} ms of CPU time a step with it, {1000 * plain_s:.1f} ms without")
    return chosen_s, plain_s


def _choice(folder: Path, device: DeviceFacts, workload: str) -> Mapping[str, str]:
    request = SurveyRequest(
        folder=folder / "survey",
        target=device.target,
        workload=resolve_reference(workload),
        search_path=folder,
    )
    survey = survey_workload(request, Limits(time_s=300, memory_bytes=8 << 30))
    return device.environment(survey.convolves)


def _train(folder: Path, workload: str, steps: int, environment: Mapping[str, str]) -> Steps:
    return answer(TRIAL_STEPS_JOB, steps_request(folder / "steps", workload, "O0", steps, environment), Steps)


BENCH = Bench(
    "convolution",
    f"digits-resnet: at least {FASTER_TARGET}x faster with the convolution fix; text-transformer: not slower",
    run,
)
