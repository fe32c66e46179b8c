"""Names for the ops of one graph under which they are found again in another graph of the same network.

The order of ops in a graph, and of their names, changes with the precisions in it. What stays is where an op is
written, and what it takes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import mindspore
import pandas as pd

from ...policies import rewrite
from ..evidence.asked_graph import AskedOp
from ..evidence.ir_text import Position
from ..evidence.layer_marks import layer_number
from .values import OpKey

_HEADS = ("def ", "@")
_MINDSPORE = Path(mindspore.__path__[0]).resolve()
_REWRITE = Path(rewrite.__path__[0]).resolve()
_DIRECTIONS = ("forward", "loss", "gradient")


def op_keys(table: pd.DataFrame, graph: Sequence[AskedOp]) -> Mapping[int, OpKey]:
    """The key of every op that computes, by id; those that only show their input in another shape have none.

    `table` is the op table of the step that `graph` holds the ops of.
    """
    return dict(_Keys(table, graph).keys())


class _Keys:
    def __init__(self, table: pd.DataFrame, graph: Sequence[AskedOp]) -> None:
        self._table = table
        self._rows = table.to_dict("index")
        self._written = {op.id: _written(op) for op in graph}

    def keys(self) -> Iterator[tuple[int, OpKey]]:
        alike: Counter[OpKey] = Counter()
        for id_, row in self._rows.items():
            if row["is_cast"] or row["bytes_written"] == 0 or row["direction"] not in _DIRECTIONS:
                continue
            forward = None if pd.isna(row["forward_id"]) else row["forward_id"]
            key = OpKey(
                layer=row["layer"],
                op=row["op"] if forward is None else self._rows[forward]["op"],
                graph_op=row["op"],
                direction=row["direction"],
                shapes=row["output_shapes"],
                written=self._written[id_ if forward is None else forward],
                takes=self._takes(row) if row["direction"] == "gradient" else (),
            )
            yield id_, key.model_copy(update={"number": alike[key]})
            alike[key] += 1

    def _takes(self, row: Mapping) -> tuple[str, ...]:
        """The Parameters and forward ops whose values a gradient op takes, through casts and copies."""
        found: set[str] = set(row["parameters"])
        waiting, seen = list(row["producers"]), set()
        while waiting:
            producer = waiting.pop()
            before = self._rows[producer]
            if producer in seen:
                continue
            seen.add(producer)
            if before["is_cast"] or before["bytes_written"] == 0 or before["op"] == "Transpose":
                found.update(before["parameters"])
                waiting += before["producers"]
            elif before["direction"] == "forward":
                found.add(f"{before['op']} at {self._written[producer]}")
        return tuple(sorted(found))


def _written(op: AskedOp) -> str:
    """Where the op is written: the calls in the user's code, from its layer's own down, and the innermost of all.

    Calls inside MindSpore's functions, heads of functions, and calls of the rewrite layer change with precisions.
    """
    stack = op.node.stack or next(iter(op.node.candidates), ())
    marked = [place for place, position in enumerate(stack) if layer_number(position.file) is not None]
    calls = [p for p in stack[marked[-1] if marked else 0 :] if not p.code.lstrip().startswith(_HEADS)]
    users = [position for position in calls[:-1] if not _is_within(position, _MINDSPORE, _REWRITE)]
    return " ".join(map(_place, (*users, *calls[-1:])))


def _is_within(position: Position, *folders: Path) -> bool:
    # A marked Cell's file is a link to the true one.
    return any(folder in Path(position.file).resolve().parents for folder in folders)


def _place(position: Position) -> str:
    # Where an expression ends differs between graphs, not where it begins.
    return f"{Path(position.file).name}:{position.line}:{position.columns.partition('~')[0]}"
