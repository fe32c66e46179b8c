"""Times one kernel alone: copies chained in one compiled Cell, minus the same Cell with one copy."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false

import time
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from ..price.op_costs import unit_of
from ..price.signature import Signature
from .clock import Clock, chained_s
from .recipes import Recipe, recipe_for

COPIES = 12
# A branch predictor learns short data by heart when it sees them again and again; a step's data are always new.
# Fewer elements cost next to nothing either way, more can't be learned.
_LEAST_ELEMENTS, _MOST_ELEMENTS = 256, 1 << 19
# Ops with more operands than this are no element-wise ones.
_MOST_OPERANDS = 3

Tensors = tuple[ms.Tensor, ...]


class Chain(nn.Cell):
    """A recipe's op some times over, each copy kept behind the one before by `ops.depend`.

    Copies that share their operands are given them when the Cell is called: MindSpore would merge them if they
    were Parameters. Copies with operands of their own have them as Parameters, which lie on the device: so many
    tensors would take time to be handed over.
    """

    def __init__(self, recipe: Recipe, own: Sequence[Tensors], copies: int):
        """`own` holds operands for each copy, or nothing where they share what the Cell is called with."""
        super().__init__()
        self.op = recipe.primitive
        self.written = _parameters("written", recipe.parameters)
        self.own = _parameters("own", [tensor for operands in own for tensor in operands])
        self.shares = not own
        self.constants = recipe.constants
        self.packed = recipe.packed
        self.width = len(recipe.tensors)
        self.copies = copies

    def construct(self, *shared: Any):
        """The last copy's output."""
        operands = shared if self.shares else self.own
        result = self.call(operands[0], operands[1 : self.width])
        for copy in range(1, self.copies):
            start = 0 if self.shares else copy * self.width
            first = ops.depend(operands[start], result)
            result = self.call(first, operands[start + 1 : start + self.width])
        return result

    def call(self, first, others):
        """One copy."""
        if self.packed:
            return self.op((first, *others))
        return self.op(*self.written, first, *others, *self.constants)


def time_kernel(kernel: Signature, clock: Clock, enough_s: float) -> float:
    """Seconds of one copy; `enough_s` is how long its chains may be run over and over.

    Raises:
        NoRecipe: nobody has written down how to call its op.
    """
    recipe = recipe_for(kernel)
    own = fresh_operands(kernel, recipe)
    shared = () if own else recipe.tensors
    chain, single = (runner(Chain(recipe, own, copies), shared) for copies in (COPIES, 1))
    return chained_s(chain, single, COPIES, clock, enough_s)


def call_s(kernel: Signature, clock: Clock, enough_s: float) -> float:
    """Seconds that a call of a compiled Cell takes beside its kernels, by the shortest of many calls.

    The Cell holds one copy; what is found includes that one kernel, so it should be a tiny one.
    """
    return clock.least(enough_s, runner(alone(recipe_for(kernel)), ()))[0]


def alone(recipe: Recipe) -> Chain:
    """One copy, with operands of its own."""
    return Chain(recipe, [recipe.tensors], 1)


def runner(cell: nn.Cell, operands: Tensors) -> Callable[[], None]:
    """A function that runs the Cell to its end; it has run once before, so that nothing is compiled any more."""

    def run() -> None:
        result = cell(*operands)
        while isinstance(result, (tuple, list)):
            result = result[0]
        # Reading the value waits for the kernels: a device may only have queued them.
        result.asnumpy()

    run()
    return run


def time_now(target: str) -> Callable[[], float]:
    """The clock to go by: process CPU time on a CPU, where wall time says more about the neighbours."""
    return time.process_time if target == "CPU" else time.perf_counter


def fresh_operands(kernel: Signature, recipe: Recipe) -> list[Tensors]:
    """Operands for each copy where the time of a kernel of its size depends on new data, else nothing."""
    varies = unit_of(kernel.op) == "vector" and len(recipe.tensors) <= _MOST_OPERANDS
    if not varies or not _LEAST_ELEMENTS <= prod(kernel.output[1]) < _MOST_ELEMENTS:
        return []
    return [recipe_for(kernel, seed).tensors for seed in range(COPIES)]


def _parameters(name: str, tensors: Sequence[ms.Tensor]) -> ms.ParameterTuple:
    return ms.ParameterTuple([ms.Parameter(tensor.copy(), name=f"{name}{n}") for n, tensor in enumerate(tensors)])
