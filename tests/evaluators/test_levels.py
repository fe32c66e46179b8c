"""The built-in levels against MindSpore's own, op by op of the asked stage: docs/levels.md gives the reasons."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from fresh_process import in_fresh_process

Asked = dict[str, Any]


@pytest.fixture(scope="module")
def asked() -> Callable[[str, str, str], Asked]:
    """`asked("tabular-mlp", "O1", "mindspore")`: the ops of a compiled step; each is compiled once."""

    @cache
    def ask(workload: str, level: str, by: str) -> Asked:
        return in_fresh_process("level_jobs:asked_ops", workload=workload, level=level, by=by)

    return ask


def differences(mindspore: Asked, halfwise: Asked) -> dict[str, int]:
    """How often each op computes in something else, as "direction op: MindSpore's | halfwise's".

    Forward and gradient ops are compared layer by layer, casts and the rest over the whole step. "none" stands
    where the other one has no such op there, nor one that is left over elsewhere.
    """
    theirs, ours = _by_place(mindspore["ops"]), _by_place(halfwise["ops"])
    found: Counter[str] = Counter()
    lone_theirs: Counter[tuple[str, str]] = Counter()
    lone_ours: Counter[tuple[str, str]] = Counter()
    for name, *place in {*theirs, *ours}:
        left = sorted((theirs[name, *place] - ours[name, *place]).elements())
        right = sorted((ours[name, *place] - theirs[name, *place]).elements())
        found.update(f"{name}: {their} | {our}" for their, our in zip(left, right, strict=False))
        lone_theirs.update((name, precision) for precision in left[len(right) :])
        lone_ours.update((name, precision) for precision in right[len(left) :])
    for (name, precision), count in (lone_theirs - lone_ours).items():
        found[f"{name}: {precision} | none"] += count
    for (name, precision), count in (lone_ours - lone_theirs).items():
        found[f"{name}: none | {precision}"] += count
    return dict(sorted(found.items()))


def _by_place(ops: Sequence[Sequence[Any]]) -> dict[tuple[str, ...], Counter[str]]:
    """What ops compute in, by their direction and name, their layer where that counts, and their shape."""
    places: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for direction, layer, op, shape, inputs, output in ops:
        if op == "Cast":
            places["cast", str(shape)][f"{inputs[0]} to {output}"] += 1
        elif direction in ("forward", "gradient"):
            places[f"{direction} {op}", str(layer), str(shape)][_precisions(inputs, output)] += 1
        else:
            places[f"rest {op}", str(shape)][_precisions(inputs, output)] += 1
    return places


def _precisions(inputs: Sequence[str | None], output: str | None) -> str:
    """One word where everything is of one precision."""
    floats = [precision for precision in (*inputs, output) if precision]
    return floats[0] if len(set(floats)) == 1 else f"{' '.join(map(str, inputs))} to {output}"
