"""What a policy asks of each Cell of a network, and which rule decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from .frozen import FrozenMapping
from .outline import CellOutline, NetworkOutline
from .policy import Policy
from .precision import Precision, RulePrecision
from .rules import RuleMap


@dataclass(frozen=True)
class Assignment:
    """What a policy asks of one Cell.

    `rule` is the pattern that decided, or "default". `op_precisions` holds the ops that an `::Op` rule takes
    out of the Cell's precision, `op_rules` the patterns that did so.
    """

    path: str
    aliases: tuple[str, ...]
    type_names: tuple[str, ...]
    precision: RulePrecision
    rule: str
    op_precisions: Mapping[str, Precision]
    op_rules: Mapping[str, str]


def resolve(policy: Policy, outline: NetworkOutline) -> tuple[Assignment, ...]:
    """One assignment for each Cell of the outline, in its order.

    The nearest rule that covers a Cell decides: one that names the Cell itself, then its parent, and so on
    up to the network, then the policy's default. At one Cell a path beats a glob and a glob beats a type;
    for one op, `::Op` beats the Cell's own rule, so that only a nearer rule for the whole Cell beats it.

    Raises:
        InputError: two rules of one kind clash at a Cell, rules for a shared Cell differ by name, or a rule
            matches nothing. Only rules for MindSpore's own `nn.` classes may match nothing: they speak of a
            class, not of this network; `idle_rules` names them.
    """
    rules = RuleMap(policy.layers, outline)
    rules.refuse_unmatched()
    return tuple(_assignment(cell, policy, rules) for cell in outline.cells)


def idle_rules(policy: Policy, outline: NetworkOutline) -> tuple[str, ...]:
    """The patterns of a policy that match no Cell of this network."""
    return tuple(rule.pattern.text for rule in RuleMap(policy.layers, outline).unmatched())


def _assignment(cell: CellOutline, policy: Policy, rules: RuleMap) -> Assignment:
    layer = rules.nearest(cell, op=None)
    answers = {op: rules.nearest(cell, op) for op in rules.ops}
    # A shared Cell may get its op's rule through one name and a nearer rule for the Cell through another.
    ops = {op: a for op, a in answers.items() if a and (not layer or a.distance <= layer.distance)}
    return Assignment(
        path=cell.path,
        aliases=cell.aliases,
        type_names=cell.type_names,
        precision=layer.rule.precision if layer else policy.default,
        rule=layer.rule.pattern.text if layer else "default",
        op_precisions=FrozenMapping({op: cast("Precision", a.rule.precision) for op, a in ops.items()}),
        op_rules=FrozenMapping({op: a.rule.pattern.text for op, a in ops.items()}),
    )
