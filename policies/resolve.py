"""What a policy asks of each Cell of a network, and which rule decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from .frozen import FrozenMapping
from .layer_rules import Decided, Rule, RuleMap
from .outline import NetworkOutline
from .outline_index import OutlineIndex
from .policy import Policy
from .precision import Precision, RulePrecision


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
    return Resolver(outline).resolve(policy)


def idle_rules(policy: Policy, outline: NetworkOutline) -> tuple[str, ...]:
    """The patterns of a policy that match no Cell of this network."""
    return tuple(rule.pattern.text for rule in RuleMap(policy.layers, OutlineIndex(outline)).unmatched)


class Resolver:
    """Resolves many policies on one outline: the names are sorted and each glob is matched once."""

    def __init__(self, outline: NetworkOutline) -> None:
        """Indexes the outline."""
        self._index = OutlineIndex(outline)
        self._assignment = lru_cache(maxsize=65536)(self._make)

    def resolve(self, policy: Policy) -> tuple[Assignment, ...]:
        """What the function `resolve` gives for this outline; equal answers may be one object.

        Raises:
            InputError: as there.
        """
        rules = RuleMap(policy.layers, self._index)
        rules.refuse_unmatched()
        layers = rules.nearest(None)
        ops = {op: rules.nearest(op) for op in rules.ops}
        return tuple(
            self._assignment(
                number,
                layer.rule.precision if layer else policy.default,
                layer.rule.pattern.text if layer else "default",
                _op_rules(number, layer, ops) if ops else (),
            )
            for number, layer in enumerate(layers)
        )

    def _make(
        self, number: int, precision: RulePrecision, rule: str, ops: tuple[tuple[str, Rule], ...]
    ) -> Assignment:
        cell = self._index.outline.cells[number]
        return Assignment(
            path=cell.path,
            aliases=cell.aliases,
            type_names=cell.type_names,
            precision=precision,
            rule=rule,
            op_precisions=FrozenMapping({op: cast("Precision", rule.precision) for op, rule in ops}),
            op_rules=FrozenMapping({op: rule.pattern.text for op, rule in ops}),
        )


def _op_rules(
    number: int, layer: Decided | None, ops: Mapping[str, Sequence[Decided | None]]
) -> tuple[tuple[str, Rule], ...]:
    """The ops of a Cell that a rule of their own decides.

    A shared Cell may get its op's rule through one name and a nearer rule for the Cell through another.
    """
    answers = ((op, decided[number]) for op, decided in ops.items())
    return tuple((op, a.rule) for op, a in answers if a and (not layer or a.distance <= layer.distance))
