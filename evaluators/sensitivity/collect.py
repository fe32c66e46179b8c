"""The float32 run: every op's values at some of its steps, reduced to figures as soon as they are written."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...policies import OP_CLASSES
from ...policies.errors import HalfwiseError, InputError
from ...policies.rewrite import read_outline
from ...policies.rules import OpStatistics, TensorStatistics
from ...policies.rules.statistics import OpDirection, TensorKind
from ..compile_failure import failure_of
from ..evidence import mark_layers, read_kernel_table, read_op_table, remove_marks
from ..graph_dump import dumped_graphs
from ..prepared import Prepared
from ..training import as_tensors
from ..value_dump import DumpedOp, dumped_tensors, forget_dumped, read_dumped
from ..workload import Batch, Workload
from .figures import Figures, figures
from .summed_length import summed_length

# Beside their data, what these take and give (scale, shift, statistics) stays in float32.
_OWN_FLOAT32 = frozenset({"normalization", "inplace_normalization"})
# The first step, the last, and two between.
COLLECTED_STEPS = 4


class OpKey(NamedTuple):
    """The ops that share one entry: of a layer, by the forward op's name and the direction."""

    layer: str
    op: str
    direction: OpDirection


class _Seen(NamedTuple):
    kind: TensorKind
    step: int
    figures: Figures


@dataclass
class Collected:
    """What the run showed of each op.

    `loss_scale` is the largest that its gradients leave room for in float16, `unseen` counts ops whose values
    could not be told apart, `refusal` says why graph mode cannot compile the step; then there is nothing else.
    """

    steps: tuple[int, ...]
    run: int = 0
    loss_scale: float = 1.0
    unseen: int = 0
    refusal: str | None = None
    lengths: dict[OpKey, int] = field(default_factory=dict)
    seen: dict[OpKey, list[_Seen]] = field(default_factory=lambda: defaultdict(list))

    def largest_gradient(self) -> float:
        """The largest finite gradient of all, without a loss scale."""
        found = [s.figures.largest for key, all_ in self.seen.items() if key.direction == "gradient" for s in all_]
        return max(found, default=0.0)

    def statistics(self, layers: Iterable[str], op: str | None = None) -> tuple[OpStatistics, ...]:
        """The ops of some layers together, or one of them only: an entry for each op and direction."""
        wanted = set(layers)
        alike: dict[tuple[str, OpDirection], list[OpKey]] = defaultdict(list)
        for key in self.seen:
            if key.layer in wanted and op in (None, key.op):
                alike[key.op, key.direction].append(key)
        return tuple(self._op(name, direction, keys) for (name, direction), keys in sorted(alike.items()))

    def _op(self, op: str, direction: OpDirection, keys: list[OpKey]) -> OpStatistics:
        by_kind: dict[TensorKind, list[_Seen]] = defaultdict(list)
        for seen in itertools.chain.from_iterable(self.seen[key] for key in keys):
            by_kind[seen.kind].append(seen)
        scale = self.loss_scale if direction == "gradient" else None
        return OpStatistics(
            op=op,
            direction=direction,
            summed_length=max((self.lengths[key] for key in keys if key in self.lengths), default=None),
            tensors=tuple(_worst(kind, found, self.steps, scale) for kind, found in sorted(by_kind.items())),
        )


def collected_steps(steps: int) -> tuple[int, ...]:
    """The numbers of the steps whose values are read, the first and the last among them."""
    return tuple(sorted({round(step) for step in np.linspace(0, steps - 1, COLLECTED_STEPS)}))


def collect(prepared: Prepared, workload: Workload, seed: int, steps: int, dump: Path) -> Collected:
    """Train in float32 for `steps` steps, in a process that writes the values of `collected_steps` to `dump`.

    Of the forward pass, the inputs and outputs of every op whose precision a policy decides are read, and what its
    gradient ops give. One step's values are on disk at a time.

    Raises:
        DoesNotCompile: graph mode cannot compile the step.
        HalfwiseError: the loss is not finite in float32.
        InputError: the workload's batches end too early.
    """
    collected = Collected(collected_steps(steps))
    reader: _Reader | None = None
    batches = itertools.islice(workload.batches(seed), steps)
    for number, batch in enumerate(batches):
        weights = _weights(prepared) if number in collected.steps else {}
        if reader is None:
            loss, scale = _run_marked(prepared, batch, dump / "graphs")
            reader = _Reader(prepared, dump)
            collected.unseen = reader.unseen
        else:
            loss, scale = _run(prepared, batch)
        collected.run += 1
        if not math.isfinite(loss):
            raise HalfwiseError(
                f"{workload.name} is not finite in float32: the loss is {loss} at step {number} with seed {seed}; "
                "no precision can be judged before that is mended"
            )
        if number in collected.steps:
            reader.read(collected, number, scale, weights)
    if collected.run < steps:
        raise InputError(f"{workload.name} must give {steps} batches, but its batches end after {collected.run}")
    return collected


def _run_marked(prepared: Prepared, batch: Batch, graphs: Path) -> tuple[float, float]:
    """The first step, which is compiled: its graphs are written down and say which layer each op belongs to."""
    mark_layers(prepared.network, graphs)
    try:
        with dumped_graphs(graphs):
            return _run(prepared, batch)
    except (RuntimeError, TypeError, ValueError) as error:
        raise failure_of(error, prepared.network, graphs) from error
    finally:
        remove_marks(prepared.network)


def _run(prepared: Prepared, batch: Batch) -> tuple[float, float]:
    loss, _, scale = (value.asnumpy().item() for value in prepared.step(*as_tensors(batch)))
    return loss, scale


def _weights(prepared: Prepared) -> dict[str, np.ndarray]:
    return {parameter.name: parameter.asnumpy().copy() for parameter in prepared.network.get_parameters()}


class _Reader:
    """Turns dumped files into figures of the ops that a policy decides."""

    def __init__(self, prepared: Prepared, dump: Path) -> None:
        """Reads the graphs that the first step left in `dump`."""
        table = read_op_table(dump / "graphs", read_outline(prepared.network))
        kernels = read_kernel_table(dump / "graphs")
        self._dump = dump
        self._table = table
        self._keys = {row["id"]: key for _, row in table.iterrows() if (key := _key(row, table)) is not None}
        known = kernels[kernels["asked_id"].isin(set(self._keys))]
        # Dumps write "/" in names as "_".
        self._asked = dict(zip(known["name"].str.replace("/", "_"), known["asked_id"], strict=True))
        self.unseen = len(set(self._keys) - set(self._asked.values()))

    def read(self, collected: Collected, step: int, loss_scale: float, weights: Mapping[str, np.ndarray]) -> None:
        """Take in one step's files and delete them."""
        for tensor in dumped_tensors(self._dump):
            asked = self._asked.get(tensor.name)
            if asked is not None:
                self._take(collected, self._table.loc[asked], tensor, step, loss_scale, weights)
        forget_dumped(self._dump)

    def _take(
        self,
        collected: Collected,
        row: pd.Series,
        tensor: DumpedOp,
        step: int,
        loss_scale: float,
        weights: Mapping[str, np.ndarray],
    ) -> None:
        key = self._keys[row["id"]]
        if tensor.index > 0 and OP_CLASSES.get(key.op) in _OWN_FLOAT32:
            return
        gradient = key.direction == "gradient"
        values = read_dumped(tensor.file)
        if values.dtype.kind != "f" or (gradient and tensor.side == "input"):
            return
        own = [weights[name] for name in row["parameters"] if name in weights]
        is_weight = tensor.side == "input" and any(np.array_equal(values, weight) for weight in own)
        kind: TensorKind = "weight" if is_weight else tensor.side
        found = figures(values, loss_scale if gradient else 1.0, detail=not gradient and kind != "weight")
        collected.seen[key].append(_Seen(kind, step, found))
        length = summed_length(row, key.op)
        if length is not None:
            collected.lengths[key] = max(length, collected.lengths.get(key, 0))


def _key(row: pd.Series, table: pd.DataFrame) -> OpKey | None:
    """None for an op that no policy decides, that only looks at its input in another shape, or without a layer."""
    if row["layer"] is None or row["is_cast"] or row["bytes_written"] == 0:
        return None
    if row["direction"] == "forward":
        return OpKey(row["layer"], row["op"], "forward") if row["graph_op"] in OP_CLASSES else None
    if row["direction"] != "gradient":
        return None
    forward = row["forward_id"]
    op = row["op"] if forward is None or pd.isna(forward) else table.at[forward, "op"]
    return OpKey(row["layer"], op, "gradient")


def _worst(kind: TensorKind, found: list[_Seen], steps: tuple[int, ...], scale: float | None) -> TensorStatistics:
    all_ = [seen.figures for seen in found]
    return TensorStatistics(
        kind=kind,
        largest_by_step=tuple(
            max((s.figures.largest for s in found if s.step == step), default=0.0) for step in steps
        ),
        beyond_float16=max(each.beyond_float16 for each in all_),
        below_normal=max(each.below_normal() for each in all_),
        below_subnormal=max(each.below_subnormal() for each in all_),
        below_normal_scaled=None if scale is None else max(each.below_normal(scale) for each in all_),
        below_subnormal_scaled=None if scale is None else max(each.below_subnormal(scale) for each in all_),
        detail_lost_float16=_known_worst(each.detail_lost.get("float16") for each in all_),
        detail_lost_bfloat16=_known_worst(each.detail_lost.get("bfloat16") for each in all_),
    )


def _known_worst(shares: Iterable[float | None]) -> float | None:
    return max((share for share in shares if share is not None), default=None)
