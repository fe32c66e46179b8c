"""The built-in levels against MindSpore's own, op by op of the asked stage; docs/levels.md gives the reasons."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any

import pytest
from fresh_process import in_fresh_process

LEVELS = ("O1", "O2", "O3", "auto")
WORKLOADS = ("tabular-mlp", "digits-resnet", "text-transformer")

# All that is known to differ, and how often. Another MindSpore version that changes it changes docs/levels.md.
KNOWN = {
    ("digits-resnet", "O1"): {
        "cast to float16: float32 | none": 2,
        "cast to float32: float16 | none": 4,
        "gradient AddN: float32 | float16": 2,
    },
    ("text-transformer", "O1"): {
        "cast to float16: none | float32": 28,
        "cast to float32: none | float16": 32,
        "forward BiasAdd: float32 | float16": 8,
        "forward MatMul: float32 | float16": 8,
        "forward Reshape: float16 | float32": 5,
        "forward Reshape: float32 | float16": 8,
        "forward Transpose: float32 | float16": 8,
        "gradient BiasAddGrad: float32 | float16": 8,
        "gradient MatMul: float32 | float16": 16,
        "gradient Reshape: float16 | float32": 5,
        "gradient Reshape: float32 | float16": 8,
        "gradient Transpose: float32 | float16": 8,
    },
    ("text-transformer", "O2"): {
        "cast to float32: none | float16": 4,
        "forward Reshape: float16 | float32": 5,
        "gradient AddN: float16 | float32": 2,
        "gradient Reshape: float16 | float32": 9,
    },
}

Asked = dict[str, Any]
Places = dict[tuple[str, ...], Counter[str]]


@pytest.fixture(scope="module")
def asked() -> Callable[[str, str, str], Asked]:
    """`asked("tabular-mlp", "O1", "mindspore")`: the ops of a compiled step; each is compiled once."""

    @cache
    def ask(workload: str, level: str, by: str) -> Asked:
        return in_fresh_process("level_jobs:asked_ops", workload=workload, level=level, by=by)

    return ask


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "workload",
    # The small one runs each time: a compilation of the others takes some five seconds.
    [name if name == "tabular-mlp" else pytest.param(name, marks=pytest.mark.full) for name in WORKLOADS],
)
def test_levels_differ_from_mindspores_as_documented(asked, workload, level):
    """Under each level every op computes in what MindSpore's own level gives it, but for what is known."""
    mindspore, halfwise = asked(workload, level, "mindspore"), asked(workload, level, "halfwise")
    assert len(halfwise["ops"]) > 100
    assert differences(mindspore, halfwise) == KNOWN.get((workload, level), {})


@pytest.mark.parametrize(
    "workload",
    [name if name == "tabular-mlp" else pytest.param(name, marks=pytest.mark.full) for name in WORKLOADS],
)
def test_auto_is_the_same_table(asked, workload):
    """Under `auto` the whole asked table is MindSpore's, casts and their layers included."""
    theirs, ours = (asked(workload, "auto", by)["ops"] for by in ("mindspore", "halfwise"))
    assert sorted(map(str, theirs)) == sorted(map(str, ours))


def test_levels_are_told_apart(asked):
    """The comparison sees what differs: O3 lowers the data of the BatchNorm that O2 keeps in float32."""
    low = "float16 float32 float32 float32 float32 to float16"
    low_gradient = "float16 float16 float32 float32 float32 float32 to float16"
    assert differences(asked("tabular-mlp", "O2", "mindspore"), asked("tabular-mlp", "O3", "halfwise")) == {
        f"forward BatchNorm: float32 | {low}": 1,
        f"gradient BatchNormGrad: float32 | {low_gradient}": 1,
        "cast to float16: float32 | none": 1,
        "cast to float32: float16 | none": 2,
    }


def differences(mindspore: Asked, halfwise: Asked) -> dict[str, int]:
    """How often an op computes in something else, as "direction op: MindSpore's | halfwise's".

    Forward and gradient ops are compared layer by layer and shape by shape, casts and the rest shape by shape;
    what is left over there, as the other one has no such op, is compared over the whole step.
    """
    theirs, ours = _by_place(mindspore["ops"]), _by_place(halfwise["ops"])
    left_theirs: Places = defaultdict(Counter)
    left_ours: Places = defaultdict(Counter)
    found: Counter[str] = Counter()
    for place in {*theirs, *ours}:
        pairs, alone_theirs, alone_ours = _paired(theirs[place], ours[place])
        found.update(f"{place[0]}: {their} | {our}" for their, our in pairs)
        left_theirs[place[:1]].update(alone_theirs)
        left_ours[place[:1]].update(alone_ours)
    for place in {*left_theirs, *left_ours}:
        pairs, alone_theirs, alone_ours = _paired(left_theirs[place], left_ours[place])
        pairs += zip_longest(alone_theirs, alone_ours, fillvalue="none")
        found.update(f"{place[0]}: {their} | {our}" for their, our in pairs)
    return dict(found)


def _paired(theirs: Counter[str], ours: Counter[str]) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """What the two have instead of each other, and what one of them has more of."""
    left, right = sorted((theirs - ours).elements()), sorted((ours - theirs).elements())
    pairs = list(zip(left, right, strict=False))
    return pairs, left[len(pairs) :], right[len(pairs) :]


def _by_place(ops: Iterable[Sequence[Any]]) -> Places:
    """What ops compute in: by direction and name, then layer where that counts, and shape."""
    places: Places = defaultdict(Counter)
    for direction, layer, op, shape, inputs, output in ops:
        if op == "Cast":
            places[f"cast to {output}", str(shape)][str(inputs[0])] += 1
        elif direction in ("forward", "gradient"):
            places[f"{direction} {op}", str(layer), str(shape)][_precisions(inputs, output)] += 1
        else:
            places[f"rest {op}", str(shape)][_precisions(inputs, output)] += 1
    return places


def _precisions(inputs: Sequence[str | None], output: str | None) -> str:
    """One word where all floats are of one precision."""
    floats = [precision for precision in (*inputs, output) if precision]
    return floats[0] if len(set(floats)) == 1 else f"{' '.join(map(str, inputs))} to {output}"
