"""Finds the kernel that computes each asked op, where that can be told.

The back end names its kernels anew, `<scope>/<op>-op<number>`, counting in the order of the graph; ops that it
builds from others are named `Expand/_<asked op>/<kernel>-op<number>`. So within one scope and op the n-th of one
stage is the n-th of the other, as long as there are equally many (or a whole multiple, for built ones). A pair is
believed only if its outputs have one shape and, where both take Parameters, the same ones; casts and what stays
is left unmatched.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from .asked_graph import AskedOp
from .kernel_graph import Kernel

_NAME = re.compile(r"^(?P<scope>.*/)(?P<op>[^/]+)-op(?P<number>\d+)$")
_EXPANDED = re.compile(r"^Expand/_(?P<asked>[^/]+)/$")


def match_kernels(ops: Sequence[AskedOp], kernels: Sequence[Kernel]) -> dict[int, Kernel]:
    """The kernel of each asked op that has one, by the op's id.

    Of several kernels that an op was built from, it is the last one with the op's output shape.
    """
    by_name: dict[tuple[str, str], list[tuple[int, Kernel]]] = defaultdict(list)
    built: dict[str, dict[str, list[tuple[int, Kernel]]]] = defaultdict(lambda: defaultdict(list))
    for kernel in kernels:
        name = _NAME.match(kernel.name)
        if name is None or kernel.op == "Cast":
            continue
        expanded = _EXPANDED.match(name["scope"])
        numbered = (int(name["number"]), kernel)
        if expanded:
            built[expanded["asked"]][kernel.op].append(numbered)
        else:
            by_name[name["scope"], kernel.op].append(numbered)
    matched: dict[int, Kernel] = {}
    for key, asked in _grouped(ops, lambda scope, op: (scope, op)).items():
        if len(by_name[key]) == len(asked):
            matched |= _believed(zip(asked, _in_order(by_name[key]), strict=True))
    for name, asked in _grouped(ops, lambda scope, op: op).items():
        for parts in built[name].values():
            count, rest = divmod(len(parts), len(asked))
            if not rest:
                ordered = _in_order(parts)
                for place in range(count):
                    matched |= _believed(zip(asked, ordered[place::count], strict=True))
    return matched


def _grouped(ops: Iterable[AskedOp], key) -> dict:
    groups = defaultdict(list)
    for op in ops:
        name = _NAME.match(op.node.full_name)
        if name and op.node.op != "Cast":
            groups[key(name["scope"], op.node.op)].append((int(name["number"]), op))
    return {name: _in_order(group) for name, group in groups.items()}


def _in_order(numbered: list) -> list:
    return [value for _, value in sorted(numbered, key=lambda pair: pair[0])]


def _believed(pairs: Iterable[tuple[AskedOp, Kernel]]) -> dict[int, Kernel]:
    return {op.id: kernel for op, kernel in pairs if _same_output(op, kernel) and _same_parameters(op, kernel)}


def _same_output(op: AskedOp, kernel: Kernel) -> bool:
    asked = [tensor.shape for tensor in op.node.output_types]
    return asked == [tensor.shape for tensor in kernel.outputs]


def _same_parameters(op: AskedOp, kernel: Kernel) -> bool:
    named = [name for name in kernel.parameters if "." in name]
    return not named or not op.parameters or set(named) <= set(op.parameters)
