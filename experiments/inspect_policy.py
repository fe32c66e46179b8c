"""Inspects policies on a workload without training: one process for each policy."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..evaluators.inspection_result import INSPECT_JOB, OPS_TABLE, Inspection, InspectionRequest
from ..evaluators.price.devices import Device
from ..evaluators.process import Failure, Limits, run_job
from ..policies import BUILTIN, LossScaling, Policy, load_policy, parse_policy
from ..policies.errors import InputError
from .workloads import resolve_for_pricing

_LIMITS = Limits(time_s=600, memory_bytes=16 << 30)


@dataclass(frozen=True)
class Inspected:
    """What one policy came to, and the op table of its step."""

    policy: Policy
    inspection: Inspection
    table: pd.DataFrame


def read_policy(text: str) -> Policy:
    """The policy that an argument names: a built-in level, a text in braces, or a file.

    Raises:
        InputError: it is none of them.
    """
    if text in BUILTIN or text.lstrip().startswith("{"):
        return parse_policy(text)
    if not Path(text).exists():
        raise InputError(f"{text}: no such policy file; a built-in policy is one of {', '.join(BUILTIN)}")
    return load_policy(text)


def inspect_policy(
    policy: Policy,
    workload: str,
    price_for: Device | None = None,
    batch_size: int | None = None,
    search_path: Path | None = None,
    devices: int = 1,
) -> Inspected:
    """Compile the workload's step under the policy in a fresh process, on this machine's CPU.

    The asked stage is the same for any device, so a CPU is enough. `batch_size` replaces the workload's own, of
    each of so many `devices`;
    a workload of the user's own is looked for in `search_path`, by default the working folder.

    Raises:
        InputError: workload or policy are wrong, or MindSpore cannot compile the step.
        HalfwiseError: the process did not get to its end.
    """
    with _scratch() as folder:
        request = InspectionRequest(
            workload=resolve_for_pricing(workload),
            search_path=search_path or Path.cwd(),
            folder=folder,
            target="CPU",
            policy=str(policy),
            price_for=price_for,
            batch_size=batch_size,
            devices=devices,
        )
        found = run_job(INSPECT_JOB, request, Inspection, _LIMITS)
        if isinstance(found, Failure):
            raise found.as_error()
        rows = json.loads((folder / OPS_TABLE).read_text(encoding="utf-8"))
    return Inspected(policy, found, pd.DataFrame(rows).apply(as_written))


def float32_table(workload: str, search_path: Path, loss_scaling: LossScaling) -> pd.DataFrame:
    """The op table that a what-if price starts from: float32, with the loss scaling of the policies to come.

    Raises:
        InputError, HalfwiseError: as `inspect_policy`.
    """
    return inspect_policy(
        BUILTIN["O0"].replace(loss_scaling=loss_scaling), workload, search_path=search_path
    ).table


def as_written(column: pd.Series) -> pd.Series:
    """The column as the op table had it: JSON has no tuples, and pandas makes a missing text a number."""
    if column.dtype.kind in "biuf":
        return column
    values = [_tuples(None if isinstance(value, float) else value) for value in column]
    return pd.Series(values, index=column.index, dtype=object)


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        yield Path(folder) / "inspection"
