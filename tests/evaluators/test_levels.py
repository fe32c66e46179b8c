"""The built-in levels against MindSpore's own, op by op of the asked stage: docs/levels.md gives the reasons."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import zip_longest
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

    Forward and gradient ops are compared layer by layer, others over the whole step. So are casts: which layer
    they stand in is a matter of who writes them down.
    """
    ours, theirs = _by_place(halfwise["ops"]), _by_place(mindspore["ops"])
    found: Counter[str] = Counter()
    for place in {*ours, *theirs}:
        only_theirs, only_ours = theirs[place] - ours[place], ours[place] - theirs[place]
        pairs = zip_longest(sorted(only_theirs.elements()), sorted(only_ours.elements()), fillvalue="none")
        found.update(f"{place.split(' @')[0]}: {their} | {our}" for their, our in pairs)
    return dict(sorted(found.items()))


def _by_place(ops: Sequence[Sequence[Any]]) -> dict[str, Counter[str]]:
    """What each op computes in, under its direction and name, "@", and its layer and shape."""
    places: dict[str, Counter[str]] = defaultdict(Counter)
    for direction, layer, op, shape, inputs, output in ops:
        if op == "Cast":
            places[f"cast {inputs[0]} to {output} @{shape}"]["one"] += 1
        elif direction in ("forward", "gradient"):
            places[f"{direction} {op} @{layer} {shape}"][_precisions(inputs, output)] += 1
        else:
            places[f"rest {op} @{shape}"][_precisions(inputs, output)] += 1
    return places


def _precisions(inputs: Sequence[str | None], output: str | None) -> str:
    """One word where everything is of one precision."""
    floats = [precision for precision in (*inputs, output) if precision]
    if len(set(floats)) < 2:
        return "".join(floats[:1])
    return f"{' '.join(floats[:-1])} to {output}"
