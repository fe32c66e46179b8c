"""Which of the kernels that were found are worth timing, and in what order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..price.op_costs import unit_of
from ..price.signature import Signature

# Of element-wise and such kernels, a few sizes show how the time grows.
SIZES_A_KIND = 4


class WorthTiming(NamedTuple):
    """Kernels in the order in which to time them: the essentials and a workload's own, then the catalogue's."""

    own: tuple[Signature, ...]
    general: tuple[Signature, ...]


def worth_timing(own: Mapping[str, float], general: Mapping[str, float]) -> WorthTiming:
    """What to time of a workload's own kernels and of the catalogue's; both hold the work of each.

    The essentials tell launch, bandwidth and rates. Of the workload's products and convolutions all are timed, of
    every other kind of kernel four sizes at most, the ends among them; large work first, which decides a step.
    From the catalogue comes what the workload has fewer sizes of.
    """
    essential = [kernel for kernel in map(Signature.parse, general) if _is_essential(kernel)]
    kinds: dict[tuple, list[Signature]] = defaultdict(list)
    for kernel in sorted(map(Signature.parse, own), key=lambda kernel: (own[str(kernel)], str(kernel))):
        kinds[kernel.kind].append(kernel)
    chosen = [kernel for kernels in kinds.values() for kernel in _of_one_kind(kernels)]
    chosen.sort(key=lambda kernel: -own[str(kernel)])
    more = [kernel for kernel in map(Signature.parse, general) if len(kinds[kernel.kind]) < SIZES_A_KIND]
    first = dict.fromkeys((*essential, *chosen))
    return WorthTiming(tuple(first), tuple(kernel for kernel in more if kernel not in first))


def convolves(kernel: Signature) -> bool:
    """Whether the kernel is a convolution or a gradient of one."""
    return kernel.op.startswith("Conv")


def _is_essential(kernel: Signature) -> bool:
    return kernel.op == "Mul"


def _of_one_kind(kernels: Sequence[Signature]) -> Sequence[Signature]:
    """By rising work: all of them, or some spread over their number, the ends among them."""
    if unit_of(kernels[0].op) == "matrix" or len(kernels) <= SIZES_A_KIND:
        return kernels
    last = len(kernels) - 1
    return [kernels[round(place * last / (SIZES_A_KIND - 1))] for place in range(SIZES_A_KIND)]
