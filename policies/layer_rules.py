"""The rules of a policy laid over a network: which of them name which Cell, and which is nearest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .errors import InputError
from .near_miss import hint
from .ops import family
from .outline_index import OutlineIndex
from .patterns import Pattern, parse_pattern
from .precision import RulePrecision

_SPECIFICITY = ("exact", "glob", "type")


@dataclass(frozen=True)
class Rule:
    """One entry of a policy's `layers`."""

    pattern: Pattern
    precision: RulePrecision

    def __str__(self) -> str:
        """As errors show it."""
        return f"{self.pattern.text!r} ({self.precision})"


class Decided(NamedTuple):
    """The rule that decides for a Cell under one of its names, and from how many levels above it."""

    rule: Rule
    distance: int


class RuleMap:
    """Every rule beside the Cells that it names; `unmatched` are those that name none, `ops` those with rules."""

    def __init__(self, layers: Mapping[str, RulePrecision], index: OutlineIndex) -> None:
        """Notes each rule at every name that it speaks of."""
        self._index = index
        self._whole_at: dict[int, list[Rule]] = {}
        self._op_at: dict[int, list[Rule]] = {}
        self.unmatched: list[Rule] = []
        for text, precision in layers.items():
            rule = _rule(text, precision)
            numbers = index.named_by(rule.pattern)
            if not numbers:
                self.unmatched.append(rule)
            at = self._whole_at if rule.pattern.op is None else self._op_at
            for number in numbers:
                at.setdefault(number, []).append(rule)
        self.ops = sorted({rule.pattern.op for rules in self._op_at.values() for rule in rules if rule.pattern.op})

    def nearest(self, op: str | None) -> list[Decided | None]:
        """What decides for each Cell of the outline, or for one op in it; None where no rule does.

        For an op, a rule for the Cell as a whole ends the walk upwards: it is nearer than what lies beyond.

        Raises:
            InputError: two rules clash at one Cell, or the names of a shared Cell get different answers.
        """
        by_name = self._nearest_by_name(op)
        return [self._nearest_of(names, by_name) for names in self._index.of_cell]

    def refuse_unmatched(self) -> None:
        """A rule for a class of MindSpore's speaks of that class, not of this network: it may idle.

        Raises:
            InputError: any other rule names no Cell; the message has a line for each, with near misses.
        """
        problems = [
            f"layers.{rule.pattern.text}: matches no layer of this network{self._hint(rule.pattern)}"
            for rule in self.unmatched
            if not rule.pattern.name.startswith("nn.") or rule.pattern.kind != "type"
        ]
        if problems:
            raise InputError("\n".join(problems))

    def _nearest_by_name(self, op: str | None) -> list[Decided | None]:
        """For each name of the index; what holds a Cell has been answered before it."""
        found: list[Decided | None] = []
        for number, holder in enumerate(self._index.holders):
            chosen = self._own(number, op)
            above = found[holder] if holder >= 0 else None
            if chosen is not None:
                found.append(Decided(chosen, 0))
            elif above is None or number in self._whole_at:
                found.append(None)
            else:
                found.append(Decided(above.rule, above.distance + 1))
        return found

    def _own(self, number: int, op: str | None) -> Rule | None:
        """Which of the rules that name a Cell decides for it, or for an op in it."""
        rules = self._whole_at.get(number) if op is None else _for_op(self._op_at.get(number, ()), op)
        return _most_specific(rules, self._index.names[number]) if rules else None

    def _nearest_of(self, names: Sequence[int], by_name: Sequence[Decided | None]) -> Decided | None:
        """The answers under all names of a Cell as one."""
        if len(names) == 1:
            return by_name[names[0]]
        answers = [(decided, number) for number in names if (decided := by_name[number]) is not None]
        for decided, number in answers[1:]:
            if decided.rule.precision != answers[0][0].rule.precision:
                raise InputError(self._shared_cell_clash(*answers[0], decided, number))
        return min((decided for decided, _ in answers), key=lambda decided: decided.distance, default=None)

    def _shared_cell_clash(self, first: Decided, name: int, second: Decided, other: int) -> str:
        names = self._index.names
        return (
            f"layers: {_shown(names[name])} and {_shown(names[other])} are one layer under two names, but "
            f"{first.rule} covers the one and {second.rule} the other: give both the same precision"
        )

    def _hint(self, pattern: Pattern) -> str:
        if pattern.kind == "type":
            return hint(pattern.name, self._index.type_names)
        return hint(pattern.name, (name for name in self._index.names if name))


@lru_cache(maxsize=4096)
def _rule(text: str, precision: RulePrecision) -> Rule:
    return Rule(parse_pattern(text), precision)


def _for_op(rules: Sequence[Rule], op: str) -> list[Rule]:
    """The rules for one op; one that names its family (`Mul` for `Muls`) counts where none names itself."""
    named = [rule for rule in rules if rule.pattern.op == op]
    return named or [rule for rule in rules if rule.pattern.op == family(op)]


def _most_specific(rules: Sequence[Rule], name: str) -> Rule | None:
    if len(rules) == 1:
        return rules[0]
    for kind in _SPECIFICITY:
        alike = [rule for rule in rules if rule.pattern.kind == kind]
        for rule in alike[1:]:
            if rule.precision != alike[0].precision:
                raise InputError(
                    f"layers: {alike[0]} and {rule} both cover {_shown(name)}: keep one of them, "
                    f"or add a rule for just {name or '.'!r}"
                )
        if alike:
            return alike[0]
    return None


def _shown(name: str) -> str:
    return repr(name) if name else "the network itself"
