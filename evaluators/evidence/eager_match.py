"""Compares what Cells gave in PyNative mode with what the compiled graph's table says that they give."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from .eager_outputs import SeenCall

_FORWARD = ("forward", "loss")


@dataclass(frozen=True)
class SeenMismatch:
    """A layer that gave another precision in PyNative mode than the graph's table says."""

    layer: str
    graph: str
    seen: str


@dataclass(frozen=True)
class SeenMatch:
    """What the comparison found: the layers that gave floats, how many of them were compared, and which differ."""

    layers: int
    compared: int
    mismatched: tuple[SeenMismatch, ...]


def match_seen(calls: Iterable[SeenCall], table: pd.DataFrame) -> SeenMatch:
    """Compare every layer that gave one float tensor at each call with the op table of the same policy.

    What the graph says a layer gives is the precision of the ops in it, or below it, whose values leave it. A
    layer is not compared where that is not one certain answer: no such op is left in the graph, several disagree,
    or one is shared with another layer; nor where it gives several values, or its code casts (see `SeenCall`).
    """
    seen: dict[str, list[SeenCall]] = defaultdict(list)
    for call in calls:
        seen[call.layer].append(call)
    floats = {layer: found for layer in seen if (found := _seen(seen[layer]))}
    graph = _Leaving(table)
    answers = {layer: graph.precision(layer) for layer in floats if _comparable(seen[layer])}
    compared = {layer: answer for layer, answer in answers.items() if answer is not None}
    mismatched = tuple(
        SeenMismatch(layer, answer, " and ".join(sorted(floats[layer])))
        for layer, answer in compared.items()
        if floats[layer] != {answer}
    )
    return SeenMatch(len(floats), len(compared), mismatched)


def _seen(calls: Sequence[SeenCall]) -> set[str]:
    return {tensor.precision for call in calls for tensor in call.outputs if tensor.precision}


def _comparable(calls: Sequence[SeenCall]) -> bool:
    return all(call.one_output and not call.writes_casts for call in calls)


class _Leaving:
    """The forward ops by layer, and who takes their values."""

    def __init__(self, table: pd.DataFrame) -> None:
        # Casts of the policy stand before the op that wants them: no layer gives their value.
        own = (table["direction"] == "forward") & (table["cast_by"] != "policy") & table["layer"].notna()
        self._ops = table[own].to_dict("records")
        taking = table[table["direction"].isin(_FORWARD)]
        self._takers = dict(zip(taking["id"], taking["layer"], strict=True))

    def precision(self, layer: str) -> str | None:
        leaving = [op for op in self._ops if _within(op["layer"], layer) and self._leaves(op, layer)]
        found = {op["output_precision"] for op in leaving}
        certain = all(op["layer_certain"] for op in leaving)
        return found.pop() if len(found) == 1 and certain else None

    def _leaves(self, op: dict, layer: str) -> bool:
        takers = [self._takers[taker] for taker in op["consumers"] if taker in self._takers]
        return any(not _within(taker, layer) for taker in takers)


def _within(layer: str | None, outer: str) -> bool:
    return layer is not None and (outer == "" or layer == outer or layer.startswith(f"{outer}."))
