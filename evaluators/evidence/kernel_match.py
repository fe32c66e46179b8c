"""Finds the kernel that computes each asked op, where that can be told.

The back end names kernels `<scope>/<op>-op<number>`, and those that it builds from another op
`Expand/_<op>/<kernel>-op<number>`. It numbers them anew, so a name says what a kernel is for, not which instance.
That comes from the data: starting from ops that are the only ones of their name, output shape and Parameters, a
pair is accepted when what flows into (or out of) the op flows into (or out of) the kernel, and it is the only such
kernel left.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from .asked_graph import AskedOp
from .kernel_graph import Kernel

_NAME = re.compile(r"^(?P<scope>.*/)(?P<op>[^/]+)-op\d+$")
_BUILT = re.compile(r"^Expand/_(?P<op>[^/]+)/[^/]+$")
# The back end may drop or move these, so data is followed through them.
_TRANSPARENT = frozenset({"Cast", "Reshape", "ExpandDims", "Squeeze", "Flatten"})


def match_kernels(ops: Sequence[AskedOp], kernels: Sequence[Kernel]) -> dict[int, tuple[Kernel, ...]]:
    """The kernel of each asked op, by the op's id; several where it stays open which of them it is.

    Casts, and ops for which no kernel fits, are left out. Of several kernels that an op was built from, it is the
    last one with the op's output shape.
    """
    return _Matching(ops, kernels).matched()


class _Matching:
    def __init__(self, ops: Sequence[AskedOp], kernels: Sequence[Kernel]) -> None:
        self._kernels = kernels
        consumers = _consumers(kernels)
        built = _built_from_several(ops, kernels)
        # A kernel inside of what an op was built from is no op's answer, unless its value leaves that op.
        inner = {
            kernel.id
            for kernel in kernels
            if _built(kernel) in built
            and consumers[kernel.id]
            and all(_built(kernels[c]) == _built(kernel) for c in consumers[kernel.id])
        }
        through_op = {op.id for op in ops if op.node.op in _TRANSPARENT}
        through_kernel = inner | {k.id for k in kernels if k.op in _TRANSPARENT or _built(k) in built}
        self._op_sides = (
            _walk(lambda i: ops[i].producers, through_op),
            _walk(lambda i: ops[i].consumers, through_op),
        )
        self._kernel_sides = (
            _walk(lambda i: kernels[i].producers, through_kernel),
            _walk(lambda i: consumers[i], through_kernel),
        )
        self._candidates = _candidates(ops, [kernel for kernel in kernels if kernel.id not in inner])
        self._matched: dict[int, int] = {}

    def matched(self) -> dict[int, tuple[Kernel, ...]]:
        while self._settle_more():
            pass
        taken = set(self._matched.values())
        open_ = {op: self._left(op, taken) for op in self._candidates if op not in self._matched}
        found = {op: (kernel,) for op, kernel in self._matched.items()} | open_
        return {op: tuple(self._kernels[k] for k in kernels) for op, kernels in found.items() if kernels}

    def _settle_more(self) -> bool:
        """Accept the pairs that are clear by now; whether there were any."""
        before = len(self._matched)
        taken = set(self._matched.values())
        for op in self._candidates:
            if op in self._matched:
                continue
            left = self._left(op, taken)
            supported = [k for k in left if self._support(op, k)] if len(left) > 1 else left
            if len(supported) == 1:
                self._matched[op] = supported[0]
                taken.add(supported[0])
        return len(self._matched) > before

    def _left(self, op: int, taken: set[int]) -> list[int]:
        return [k for k in self._candidates[op] if k not in taken and self._fits(op, k)]

    def _fits(self, op: int, kernel: int) -> bool:
        """Nothing that is known to flow into the op, within the kernel's branch, fails to flow into the kernel."""
        flows_in = {self._matched[p] for p in self._op_sides[0](op) if p in self._matched}
        branch = self._kernels[kernel].branch
        return {k for k in flows_in if self._kernels[k].branch == branch} <= self._kernel_sides[0](kernel)

    def _support(self, op: int, kernel: int) -> bool:
        return any(
            self._matched.get(n) in kernel_side(kernel)
            for op_side, kernel_side in zip(self._op_sides, self._kernel_sides, strict=True)
            for n in op_side(op)
            if n in self._matched
        )


def _candidates(ops: Sequence[AskedOp], kernels: Iterable[Kernel]) -> Mapping[int, list[int]]:
    """Kernels of an op's name and output shapes, that take Parameters of the op's only."""
    named: dict[tuple[str, tuple], list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        if kernel.op != "Cast":
            named[_key(kernel), _shapes(kernel.outputs)].append(kernel)
    found: dict[int, list[int]] = {}
    for op in ops:
        name = _NAME.match(op.node.full_name)
        if name is None or op.node.op == "Cast":
            continue
        keys = (f"{name['scope']}{op.node.op}", f"Expand/_{op.node.op}")
        similar = [k for key in keys for k in named[key, _shapes(op.node.output_types)]]
        found[op.id] = [k.id for k in similar if _same_parameters(op, k)]
    return found


def _key(kernel: Kernel) -> str:
    built = _BUILT.match(kernel.name)
    return f"Expand/_{built['op']}" if built else re.sub(r"-op\d+$", "", kernel.name)


def _built(kernel: Kernel) -> str | None:
    found = _BUILT.match(kernel.name)
    return found["op"] if found else None


def _built_from_several(ops: Iterable[AskedOp], kernels: Iterable[Kernel]) -> set[str]:
    """The asked ops that the back end builds from more than one kernel each; casts do not count."""
    asked, made = defaultdict(int), defaultdict(int)
    for op in ops:
        asked[op.node.op] += 1
    for kernel in kernels:
        made[_built(kernel)] += kernel.op != "Cast"
    return {op for op, count in made.items() if op is not None and count > asked[op]}


def _consumers(kernels: Sequence[Kernel]) -> Mapping[int, list[int]]:
    consumers: dict[int, list[int]] = defaultdict(list)
    for kernel in kernels:
        for producer in kernel.producers:
            consumers[producer].append(kernel.id)
    return consumers


def _walk(next_to: Callable[[int], Iterable[int]], through: set[int]) -> Callable[[int], frozenset[int]]:
    """Everything next to a node in one direction, and beyond it where the data is followed through."""

    @cache
    def reach(start: int) -> frozenset[int]:
        seen: set[int] = set()
        waiting = list(next_to(start))
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += next_to(node) if node in through else ()
        return frozenset(seen)

    return reach


def _shapes(tensors: Iterable) -> tuple[tuple[int, ...], ...]:
    return tuple(tensor.shape for tensor in tensors)


def _same_parameters(op: AskedOp, kernel: Kernel) -> bool:
    # A branch's kernels name its parameters, which are Parameters only by way of the call: those have no dot.
    named = {name for name in kernel.parameters if "." in name}
    return named <= set(op.parameters)
