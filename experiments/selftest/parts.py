"""The parts of a self-test: each finds out one thing on the device and gives it as plain data."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...evaluators.calibration.calibrate import Calibrator
from ...evaluators.device_facts import DeviceFacts, learn_device
from ...evaluators.inspection_result import INSPECT_JOB, Inspection, InspectionRequest
from ...evaluators.json_file import ValueT
from ...evaluators.process import Failure, Limits, run_job
from ...evaluators.request import Request, Target
from ...evaluators.selftest.result import (
    BITS_JOB,
    IDENTITY_JOB,
    BitsRequest,
    Float32Bits,
    Identity,
    IdentityRequest,
)
from ...policies import BUILTIN
from ...policies.errors import HalfwiseError
from ..confirming_on import Wish, confirm_policies
from ..evaluator_of import evaluator_of, look
from ..experiment_file import Experiment
from ..progress import Display
from ..workloads import resolve_reference

Found = Mapping[str, Any]

_LIMITS = Limits(time_s=600, memory_bytes=16 << 30)
_INSPECTED = ("O1", "O2", "O3")
_STEPS = 10


@dataclass(frozen=True)
class Bench:
    """What the parts work with: the device, a small workload, a folder, and how long calibration may take."""

    target: Target
    workload: str
    folder: Path
    calibration_s: float
    display: Display

    def place(self, name: str) -> Path:
        """A folder of a part's own."""
        return self.folder / name

    def job(self, job: str, request: Request, result: type[ValueT]) -> ValueT:
        """A job's result.

        Raises:
            HalfwiseError: it gave none.
        """
        found = run_job(job, request, result, _LIMITS)
        if isinstance(found, Failure):
            raise found.as_error()
        return found

    @property
    def of_workload(self) -> dict[str, Any]:
        """The fields of a request on the workload."""
        return {"workload": resolve_reference(self.workload), "search_path": self.folder, "target": self.target}


Part = Callable[[Bench], Found]


def precisions(bench: Bench) -> Found:
    """Which low precisions the device computes, and the op that it refuses in the others."""
    facts = learn_device(bench.target, bench.place("precisions"))
    return {
        "low_precisions": list(facts.low_precisions),
        "refused": dict(facts.missing),
        "reference_convolution": facts.reference_convolution,
    }


def float32(bench: Bench) -> Found:
    """How many bits float32 products keep: TF32 and float16 inside show here, whatever was switched."""
    request = BitsRequest(folder=bench.place("float32"), target=bench.target)
    return bench.job(BITS_JOB, request, Float32Bits).model_dump()


def identity(bench: Bench) -> Found:
    """Whether an all-float32 policy changes no bit of a training.

    Raises:
        HalfwiseError: it does.
    """
    request = IdentityRequest(folder=bench.place("identity"), steps=_STEPS, **bench.of_workload)
    found = bench.job(IDENTITY_JOB, request, Identity)
    if not found.holds:
        raise HalfwiseError(f"an all-float32 policy changes the training: {found}")
    return found.model_dump()


def tables(bench: Bench) -> Found:
    """What the compiled step is asked under the levels, and what this device's kernels compute in.

    Raises:
        HalfwiseError: an op does not compute in what was asked.
    """
    found: dict[str, Any] = {}
    for level in _INSPECTED:
        request = InspectionRequest(
            folder=bench.place(f"tables-{level}"), policy=str(BUILTIN[level]), **bench.of_workload
        )
        evidence = bench.job(INSPECT_JOB, request, Inspection).evidence
        if evidence.mismatches:
            raise HalfwiseError(f"{level} is not applied: {'; '.join(evidence.mismatches[:3])}")
        found[level] = {"asked_hash": evidence.asked_hash, "summary": evidence.summary}
    return found


def calibration(bench: Bench) -> Found:
    """Rates and bandwidth by the times of single kernels, and how many of them were timed."""
    facts = DeviceFacts(bench.target, (), {}, reference_convolution=False)
    deadline_s = time.monotonic() + bench.calibration_s
    place = bench.place("calibration")
    place.mkdir(parents=True, exist_ok=True)
    made = Calibrator(facts, place).calibrate((), bench.folder, deadline_s, bench.display.note)
    row = made.row
    timed = 0 if row.timings is None else len(row.timings.kernels)
    rates: dict[str, BaseModel | None] = {
        **{f"matrix {name}": rate for name, rate in row.matrix.items()},
        **{f"vector {name}": rate for name, rate in row.vector.items()},
        "bandwidth": row.bandwidth,
        "launch": row.launch,
    }
    return {
        "kernels_timed": timed,
        "kernels_left_out": len(made.left_out),
        **{name: str(rate) for name, rate in rates.items() if rate is not None},
    }


def trial(bench: Bench) -> Found:
    """One short training under O1, as a search makes it."""
    experiment = Experiment(workload=bench.workload, device=bench.target)
    device, survey = look(experiment, bench.folder, bench.display)
    evaluator = evaluator_of(experiment, bench.folder, survey, device, None)
    outcome = evaluator.evaluate(BUILTIN["O1"], "O1", bench.place("trial"))
    if outcome.status != "trained":
        raise HalfwiseError(f"O1 does not train {bench.workload}: {outcome.cause}: {outcome.message}")
    return {
        "workload": bench.workload,
        outcome.metric: outcome.quality,
        "step_wall_s": outcome.step_time and outcome.step_time.wall_s,
        "peak_memory_bytes": outcome.peak_memory_bytes,
        "updates_skipped": outcome.updates_skipped,
    }


def confirmation(bench: Bench) -> Found:
    """O1 against float32 with fresh seeds, and its speed measured side by side."""
    wish = Wish(device=bench.target, speed_budget_s=bench.calibration_s)
    (found,) = confirm_policies(["O1"], bench.workload, wish, bench.display).policies
    return {
        "holds": found.confirmation.holds,
        "quality_lost": str(found.confirmation.lost) if found.confirmation.failure is None else None,
        "failure": found.confirmation.failure,
        "speed": None if found.comparison is None else str(found.comparison),
        "note": found.note,
    }


PARTS: Mapping[str, Part] = {
    "precisions": precisions,
    "float32 products": float32,
    "float32 identity": identity,
    "tables": tables,
    "calibration": calibration,
    "trial": trial,
    "confirmation": confirmation,
}
