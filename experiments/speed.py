"""The speed that a study compares policies by, and what it is called in print."""

from ..evaluators.outcome import Outcome


def speed_of(outcome: Outcome) -> float | None:
    """Samples per second that were trained on, or None where the steps were not timed.

    On a CPU it is samples per second of process CPU time: on shared machines wall time says more about the
    neighbours than about the policy (22-39% between equal runs, against 3-13%).
    """
    if outcome.step_time is None or outcome.throughput_samples_per_s is None:
        return None
    if outcome.device != "CPU":
        return outcome.throughput_samples_per_s
    return outcome.throughput_samples_per_s * outcome.step_time.wall_s / outcome.step_time.process_cpu_s


def speed_margin(device: str) -> float:
    """How much faster than float32 a policy must be measured to count as faster.

    Equal runs in fresh processes differ by 3-13% in process CPU time on a shared CPU; for accelerators, where
    nobody has measured it with halfwise yet, 5% is assumed.
    """
    return 0.15 if device == "CPU" else 0.05


def speed_label(device: str) -> str:
    """What is measured, and where: "measured on CPU, per second of CPU time"."""
    return "measured on CPU, per second of CPU time" if device == "CPU" else f"measured on {device}"
