"""An independent reading of the rules: each is tried on every Cell, without any index or walk upwards."""

import re
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from outlines import outlines, rules

from halfwise.policies import GRAPH_NAMES, CellOutline, InputError, NetworkOutline, Policy, idle_rules, resolve
from halfwise.policies.resolve import Resolver

FAMILY = {name: op for op, names in GRAPH_NAMES.items() for name in names}
CLASH = "clash"


def oracle_names(pattern: str, cell: CellOutline, name: str) -> str | None:
    """Which kind of pattern (without its op) names this Cell under this name, if it does."""
    if pattern.startswith(("nn.", "type:")):
        return "2 type" if pattern.removeprefix("type:") in cell.type_names else None
    if pattern in ("", ".") or not set(pattern) & set("*?"):
        return "0 exact" if pattern.strip(".") == name else None
    pieces = {"**": r"([^.]+\.)*", "*": r"[^.]+\."}
    regex = "".join(
        pieces.get(part, re.escape(part).replace(r"\?", "[^.]") + r"\.") for part in pattern.split(".")
    )
    return "1 glob" if re.fullmatch(regex, "".join(f"{part}." for part in name.split(".") if part)) else None


def oracle_holders(outline: NetworkOutline, name: str) -> list[tuple[int, CellOutline, str]]:
    """The Cells that hold this name, by distance."""
    parts = name.split(".") if name else []
    chain = [".".join(parts[:length]) for length in range(len(parts), -1, -1)]
    cells = {other: cell for cell in outline.cells for other in cell.names}
    present = [(cells[holder], holder) for holder in chain if holder in cells]
    return [(distance, cell, holder) for distance, (cell, holder) in enumerate(present)]


def oracle_by_name(
    layers: dict[str, str], outline: NetworkOutline, name: str, op: str | None
) -> tuple[int, str] | str | None:
    """(distance, precision) under one name; None where no rule (or a nearer one for the Cell) decides."""
    found: list[tuple[int, int, str, str]] = []
    for distance, cell, holder in oracle_holders(outline, name):
        for text, precision in layers.items():
            layer, colons, rule_op = text.rpartition("::")
            kind = oracle_names(layer if colons else text, cell, holder)
            if kind is None or (colons and rule_op not in (op, FAMILY.get(op or ""))):
                continue
            level = 2 if not colons else 0 if rule_op == op else 1
            found.append((distance, level, kind, precision))
    if not found:
        return None
    best = min(found)[:3]
    if best[1] == 2 and op is not None:
        return None
    precisions = {entry[3] for entry in found if entry[:3] == best}
    return CLASH if len(precisions) > 1 else (best[0], precisions.pop())


def oracle(policy: Policy, outline: NetworkOutline) -> dict[str, tuple[str, dict[str, str]]] | str:
    """Precision and op precisions of each Cell, or "clash"."""
    layers: dict[str, str] = {**policy.layers}
    ops = sorted({text.rpartition("::")[2] for text in layers if "::" in text})
    result: dict[str, tuple[str, dict[str, str]]] = {}
    for cell in outline.cells:
        merged: dict[str | None, tuple[int, str]] = {}
        for op in (None, *ops):
            answers = [oracle_by_name(layers, outline, name, op) for name in cell.names]
            if CLASH in answers:
                return CLASH
            real = [answer for answer in answers if isinstance(answer, tuple)]
            if len({precision for _, precision in real}) > 1:
                return CLASH
            if real:
                merged[op] = min(real)
        distance, precision = merged.pop(None, (99, policy.default))
        kept = {str(op): answer[1] for op, answer in merged.items() if answer[0] <= distance}
        result[cell.path] = (precision, kept)
    return result


@settings(max_examples=400)
@given(outlines(), st.lists(rules, max_size=5).map(dict))
def test_resolving_agrees_with_a_brute_force_reading_of_the_rules(
    outline: NetworkOutline, layers: dict[str, str]
) -> None:
    """On any small network and rules, the answer is what the sentences of the documentation give."""
    policy = Policy.model_validate({"default": "bfloat16", "layers": layers})
    idle = [text for text in idle_rules(policy, outline) if not text.startswith("nn.")]
    try:
        assignments = resolve(policy, outline)
    except InputError as error:
        unmatched = [line for line in str(error).splitlines() if "matches no layer" in line]
        assert len(unmatched) == len(idle)
        assert idle or oracle(policy, outline) == CLASH
    else:
        assert not idle
        assert {a.path: (a.precision, dict(a.op_precisions)) for a in assignments} == oracle(policy, outline)


def outcome(resolving: Callable[..., object], *arguments: object) -> object:
    """The assignments, or what the error says."""
    try:
        return resolving(*arguments)
    except InputError as error:
        return str(error)


@settings(deadline=None, max_examples=100)
@given(outlines(), st.lists(st.lists(rules, max_size=4).map(dict), min_size=2, max_size=4))
def test_resolving_many_policies_gives_each_what_it_gets_alone(
    outline: NetworkOutline, many: list[dict[str, str]]
) -> None:
    """What a resolver keeps of one policy never shows in another one's answer, clashes and idle rules included."""
    resolver = Resolver(outline)
    for layers in many:
        policy = Policy.model_validate({"default": "bfloat16", "layers": layers})
        assert outcome(resolver.resolve, policy) == outcome(resolve, policy, outline)
