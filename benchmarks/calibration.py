"""Whether prices of a calibrated CPU tell what steps cost there: ratios to float32, priced against measured."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from halfwise.evaluators.calibration.calibrate import Calibrator
from halfwise.evaluators.device_facts import learn_device
from halfwise.evaluators.price.devices import Device
from halfwise.evaluators.price.families import FAMILIES, family_seconds, fit_multipliers
from halfwise.evaluators.price.kernel_costs import kernel_costs
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies.errors import HalfwiseError

from .bench import Bench, Figure, Say
from .timed_steps import PolicySteps, StepTimer

WORKLOADS = ("digits-resnet", "text-transformer", "tabular-mlp")
FITTING, HELD_OUT = 15, 30
SEED = 20261130
CALIBRATION_S = 120
# A pair of policies that lie closer than this is not asked for its order.
CLEAR = 0.10


@dataclass(frozen=True)
class Priced:
    """One step: seconds of each family of kernels, how many casts, what the runs took."""

    families_s: np.ndarray
    beside_s: float
    casts: int
    steps: PolicySteps

    def price_s(self, factors: np.ndarray) -> float:
        """The price with a factor for each family."""
        return float(self.families_s @ factors) + self.beside_s


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Calibrate, draw, measure and compare, workload by workload."""
    if not _is_cpu(folder):
        say("not applicable: the figures are stated for a CPU")
        return ()
    say(f"load before: {os.getloadavg()[0]:.1f}; {FITTING} + {HELD_OUT} random policies a workload, two runs each")
    return tuple(figure for name in WORKLOADS for figure in _workload_figures(folder, name, say))


def _is_cpu(folder: Path) -> bool:
    return learn_device("auto", folder / "probe").target == "CPU"


def _workload_figures(folder: Path, workload: str, say: Say) -> tuple[Figure, ...]:
    device = learn_device("CPU", folder / "device")
    started = time.monotonic()
    deadline_s = started + CALIBRATION_S
    calibrator = Calibrator(device, folder / "calibration")
    made = calibrator.calibrate((resolve_reference(workload),), folder, deadline_s, say)
    row = Device(name="this-cpu", **dict(made.row))
    left_out = f"{len(made.left_out)} kernels without a time"
    say(f"{workload}: calibrated in {time.monotonic() - started:.0f} s, {left_out}")
    timed, float32 = StepTimer(folder, workload, device).time_random(FITTING + HELD_OUT, SEED, say)
    steps = [_priced(found, row) for found in timed]
    found = figures(workload, _priced(_typical(float32), row), steps[:FITTING], steps[FITTING:], say)
    for figure in found:
        say(str(figure))
    return found


def _typical(float32: Sequence[PolicySteps]) -> PolicySteps:
    """The median of the times that float32 was measured, in each as every policy is: all ratios hang on it."""
    return sorted(float32, key=lambda steps: steps.least_s)[len(float32) // 2]


def _priced(steps: PolicySteps, device: Device) -> Priced:
    if device.timings is None or device.step is None:
        raise HalfwiseError("the calibration made a row without kernel times")
    costs = kernel_costs(steps.kernels, device, device.timings)
    return Priced(family_seconds(steps.kernels, costs), device.step.si, int(costs.is_cast.sum()), steps)


def figures(
    workload: str, float32: Priced, fitting: Sequence[Priced], held_out: Sequence[Priced], say: Say
) -> tuple[Figure, ...]:
    """Unfitted and fitted figures on the held-out policies; those of the replicate and of cast counts are said."""
    measured = _ratios([p.steps.least_s for p in held_out], float32.steps.least_s)
    plain = np.ones(len(FAMILIES))
    unfitted = _prices(plain, float32, held_out)
    samples = [float32, *fitting]
    factors = fit_multipliers(
        [p.families_s for p in samples], float32.beside_s, [p.steps.least_s for p in samples]
    )
    fitted = _prices(factors, float32, held_out)
    by_casts = _by_casts(float32, fitting, held_out)
    again = [_ratios([p.steps.runs_s[run] for p in held_out], float32.steps.runs_s[run]) for run in (0, 1)]
    words = ", ".join(f"{family} {factor:.2f}" for family, factor in zip(FAMILIES, factors, strict=True))
    priced_ms, measured_ms = 1e3 * float32.price_s(plain), 1e3 * float32.steps.least_s
    say(f"{workload}: a step in float32 is priced at {priced_ms:.2f} ms and measured at {measured_ms:.2f} ms")
    say(f"{workload}: ratios measured {measured.min():.2f} to {measured.max():.2f}; factors fitted: {words}")
    say(f"{workload}: run 1 against run 2: rank correlation {_rank(*again):.3f}, error {_error(*again):.1%}")
    say(
        f"{workload}: counting casts: rank correlation {_rank(by_casts, measured):.3f}, "
        f"error {_error(by_casts, measured):.1%} fitted on {FITTING}"
    )
    return (
        Figure(f"{workload}, unfitted: rank correlation", _rank(unfitted, measured), "at least", 0.8, ""),
        Figure(f"{workload}, unfitted: error", 100 * _error(unfitted, measured), "at most", 15, "%"),
        Figure(f"{workload}, fitted: rank correlation", _rank(fitted, measured), "at least", 0.85, ""),
        Figure(f"{workload}, fitted: error", 100 * _error(fitted, measured), "at most", 10, "%"),
        Figure(f"{workload}, clear pairs ordered right", 100 * _ordered(fitted, measured), "at least", 90, "%"),
        Figure(
            f"{workload}, error against counting casts",
            _error(fitted, measured) / _error(by_casts, measured),
            "at most",
            1,
            "x",
        ),
    )


def _ratios(seconds: Sequence[float], float32_s: float) -> np.ndarray:
    return np.asarray(seconds) / float32_s


def _prices(factors: np.ndarray, float32: Priced, steps: Sequence[Priced]) -> np.ndarray:
    return _ratios([p.price_s(factors) for p in steps], float32.price_s(factors))


def _by_casts(float32: Priced, fitting: Sequence[Priced], held_out: Sequence[Priced]) -> np.ndarray:
    """The ratio as a line of the casts that a policy adds, 1 without any, fitted as the price is."""
    added = np.array([p.casts - float32.casts for p in fitting], dtype=float)
    ratios = _ratios([p.steps.least_s for p in fitting], float32.steps.least_s)
    slope = (added / ratios) @ (1 - 1 / ratios) / ((added / ratios) @ (added / ratios))
    return 1 + slope * np.array([p.casts - float32.casts for p in held_out], dtype=float)


def _rank(first: np.ndarray, second: np.ndarray) -> float:
    return float(spearmanr(first, second).statistic)


def _error(found: np.ndarray, true: np.ndarray) -> float:
    """Mean absolute relative error."""
    return float(np.mean(np.abs(found / true - 1)))


def _ordered(found: np.ndarray, true: np.ndarray) -> float:
    """The share of pairs, among those that measured clearly apart, that the prices put in the same order."""
    pairs = combinations(range(len(true)), 2)
    clear = [(a, b) for a, b in pairs if max(true[a], true[b]) > (1 + CLEAR) * min(true[a], true[b])]
    right = [(found[a] - found[b]) * (true[a] - true[b]) > 0 for a, b in clear]
    return float(np.mean(right)) if right else float("nan")


BENCH = Bench(
    "calibration",
    "prices of a calibrated CPU against measured steps: rank correlation, error, order, beside counting casts",
    run,
)
