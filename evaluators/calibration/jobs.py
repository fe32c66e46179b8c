"""The jobs of a calibration: which kernels there are, and how long each takes."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false

import time
from collections.abc import Sequence

import mindspore as ms
import pandas as pd
from mindspore import nn

from ...policies.errors import HalfwiseError
from ...policies.text import parse_policy
from ..child import error_line
from ..device import use_device
from ..kernel_step import compile_kernels
from ..prepared import prepare
from ..price.kernel_costs import kernel_works
from ..price.kernel_signatures import signatures
from ..price.signature import Signature
from ..training import as_tensors
from ..workload_reference import load_workload
from .chain import alone, call_s, time_kernel, time_now
from .clock import Clock
from .recipes import Recipe, recipe_for
from .request import CatalogueRequest, FoundKernels, TimedKernels, TimingRequest, WorkloadKernelsRequest

# How long the chains of one kernel are run over and over.
_ENOUGH_S = 0.12
_CALL = Signature("Mul", (("float32", (64,)), ("float32", (64,))), ("float32", (64,)))


class _Together(nn.Cell):
    """One copy of each recipe's op, side by side."""

    def __init__(self, recipes: Sequence[Recipe]):
        super().__init__()
        self.chains = nn.CellList([alone(recipe) for recipe in recipes])

    def construct(self):
        """What each gives."""
        results = ()
        for chain in self.chains:
            results += (chain(),)
        return results


def compile_catalogue(request: CatalogueRequest) -> FoundKernels:
    """Compile all kernels as one Cell; those are left out for which the device runs something else.

    A kernel that is given half zeros is there if it is there on other data.
    """
    use_device(request.target, "graph", request.device_id)
    asked = [Signature.parse(text) for text in request.kernels]
    together = _Together([recipe_for(kernel) for kernel in asked])
    works = _works(compile_kernels(together, (), request.folder))
    plain = {kernel: str(Signature(kernel.op, kernel.inputs, kernel.output)) for kernel in asked}
    return FoundKernels(works={str(k): works[plain[k]] for k in asked if plain[k] in works})


def compile_workload(request: WorkloadKernelsRequest) -> FoundKernels:
    """Every kernel of the workload's training step under the policy; views are left out.

    Raises:
        InputError: the workload or the policy is wrong.
        RuntimeError, TypeError, ValueError: MindSpore cannot compile the step.
    """
    use_device(request.target, "graph", request.device_id)
    workload = load_workload(request.workload, request.search_path)
    step = prepare(workload, parse_policy(request.policy), seed=0).step
    return FoundKernels(works=_works(compile_kernels(step, as_tensors(workload.sample_batch()), request.folder)))


def time_kernels(request: TimingRequest) -> TimedKernels:
    """Time the kernels one after the other, until the budget is spent; what fails is left out with its reason."""
    deadline = time.monotonic() + request.budget_s
    use_device(request.target, "graph", request.device_id)
    clock = Clock(time_now(request.target))
    step_s = call_s(_CALL, clock, _ENOUGH_S)
    seconds: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for text in request.kernels:
        if time.monotonic() > deadline:
            left_out[text] = "no time was left for it"
            continue
        try:
            found = time_kernel(Signature.parse(text), clock, _ENOUGH_S)
        except (HalfwiseError, RuntimeError, TypeError, ValueError) as error:
            left_out[text] = error_line(error)
            continue
        if found > 0:
            seconds[text] = found
        else:
            left_out[text] = "too short to be told from noise"
    return TimedKernels(seconds=seconds, left_out=left_out, step_s=step_s, mindspore_version=ms.__version__)


def _works(table: pd.DataFrame) -> dict[str, float]:
    found = zip(signatures(table), kernel_works(table), strict=True)
    return {str(kernel): float(work) for kernel, work in found if work > 0}
