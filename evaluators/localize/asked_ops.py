"""Which op of the asked stage a kernel is for, also where the kernel table leaves it open."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property

import pandas as pd

from ...policies.ops import family

# Kernels that the back end builds from another op: "Expand/_<op>/<kernel>-op<number>".
_BUILT = re.compile(r"^Expand/_(?P<op>[^/]+)/")

_Beside = Callable[[int], Iterable[int]]


class AskedOps:
    """Looks up the rows of an op table by the kernels of the same step's kernel table."""

    def __init__(self, ops: pd.DataFrame, kernels: pd.DataFrame) -> None:
        """Takes both tables of one step."""
        self._ops = ops
        self._kernels = kernels
        self._taken = set(kernels["asked_id"].dropna())

    def exact(self, kernel: int) -> int | None:
        """The id of the op that a kernel computes; None for casts, and where that stays open."""
        found = self._candidates(kernel)
        return found.index[0] if len(found) == 1 else None

    def behind(self, kernel: int) -> pd.Series | None:
        """The op that a kernel is for, or one of several in one layer; None where nothing around it is known.

        A cast, or a part of which no op is known, stands for the nearest op: the one that it takes its value from
        if that hands on low values or nobody is known to take it, else the one that takes it, which asked for it.
        """
        own = self._own(kernel)
        if own is not None:
            return own
        before, after = self._nearest(kernel, self._producers), self._nearest(kernel, self._consumers)
        if before is None or (after is not None and before["output_precision"] == "float32"):
            return before if after is None else after
        return before

    def _own(self, kernel: int) -> pd.Series | None:
        found = self._candidates(kernel)
        return found.iloc[0] if len(found) and found["layer"].nunique(dropna=False) == 1 else None

    def _candidates(self, kernel: int) -> pd.DataFrame:
        """The op that a kernel was matched with, else those left over whose neighbours are most like its own."""
        row = self._kernels.loc[kernel]
        if row["asked_id"] is not None:
            return self._ops.loc[[row["asked_id"]]]
        left = self._ops.iloc[:0] if row["is_cast"] else self._left(row)
        if len(left) < 2:
            return left
        near = self._neighbours(kernel)
        shared = [len(near & self._op_neighbours(op)) for op in left.index]
        return left[[count == max(shared) for count in shared]]

    def _left(self, kernel: pd.Series) -> pd.DataFrame:
        """The ops that no kernel was matched with and that this one may compute."""
        built = _BUILT.match(kernel["name"])
        ops = self._ops[~self._ops.index.isin(self._taken)]
        ops = ops[ops["graph_op"] == built["op"]] if built else ops[ops["op"] == family(kernel["op"])]
        of_shape = ops[ops["output_shapes"] == kernel["output_shapes"]]
        if not len(of_shape):
            # What an op was built from may have shapes of its own.
            return ops if built else of_shape
        as_precise = of_shape[of_shape["output_precision"] == kernel["output_precision"]]
        return as_precise if len(as_precise) else of_shape

    def _nearest(self, kernel: int, beside: _Beside) -> pd.Series | None:
        """The first op in one direction, through kernels of which none is known."""
        front, seen = [kernel], {kernel}
        while front:
            front = [other for one in front for other in beside(one) if other not in seen]
            seen.update(front)
            known = (row for row in map(self._own, front) if row is not None)
            found = next(known, None)
            if found is not None:
                return found
        return None

    def _neighbours(self, kernel: int) -> set[int]:
        """The ops whose kernels stand around this one, through kernels that were not matched."""
        matched = self._kernels["asked_id"]
        sides = (self._producers, self._consumers)
        found = {k for side in sides for k in _reach(kernel, side, lambda k: matched[k] is None)}
        return {matched[k] for k in found if matched[k] is not None}

    def _op_neighbours(self, op: int) -> set[int]:
        """The ops around an op that were matched with a kernel, through those that were not."""
        found: set[int] = set()
        for side in ("producers", "consumers"):
            found |= _reach(op, self._ops[side].__getitem__, lambda i: i not in self._taken)
        return found & self._taken

    def _producers(self, kernel: int) -> Iterable[int]:
        return self._kernels.at[kernel, "producers"]

    def _consumers(self, kernel: int) -> Iterable[int]:
        return self._consumers_of[kernel]

    @cached_property
    def _consumers_of(self) -> dict[int, list[int]]:
        consumers: dict[int, list[int]] = defaultdict(list)
        for kernel, producers in self._kernels["producers"].items():
            for producer in producers:
                consumers[producer].append(kernel)
        return consumers


def _reach(start: int, beside: _Beside, through: Callable[[int], bool]) -> set[int]:
    """Everything beside a node, and beyond what the way leads through."""
    seen: set[int] = set()
    waiting = list(beside(start))
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += beside(node) if through(node) else ()
    return seen
