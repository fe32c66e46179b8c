"""The rules of a policy laid over a network: which of them name which Cell, and which is nearest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .errors import InputError
from .near_miss import hint
from .ops import family
from .outline import CellOutline, NetworkOutline
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


@dataclass(frozen=True)
class Answer:
    """The rule that decides for a Cell under one of its names, from `distance` levels above it."""

    rule: Rule
    distance: int
    name: str


class RuleMap:
    """Every rule beside the Cells that it names."""

    def __init__(self, layers: Mapping[str, RulePrecision], outline: NetworkOutline) -> None:
        """Matches each rule with each name of each Cell once."""
        self._rules = [Rule(parse_pattern(text), precision) for text, precision in layers.items()]
        self._outline = outline
        self._at = {name: tuple(self._naming(cell, name)) for cell in outline.cells for name in cell.names}
        self.ops = sorted({rule.pattern.op for rule in self._rules if rule.pattern.op is not None})

    def nearest(self, cell: CellOutline, op: str | None) -> Answer | None:
        """What decides for a Cell, or for one op in it; None where no rule does.

        For an op, a rule for the Cell as a whole ends the walk upwards: it is nearer than what lies beyond.

        Raises:
            InputError: two rules clash at one Cell, or the names of a shared Cell get different answers.
        """
        answers = [answer for name in cell.names if (answer := self._nearest_by_name(name, op)) is not None]
        for answer in answers[1:]:
            if answer.rule.precision != answers[0].rule.precision:
                raise InputError(_shared_cell_clash(answers[0], answer))
        return min(answers, key=lambda answer: answer.distance, default=None)

    def unmatched(self) -> tuple[Rule, ...]:
        """The rules that name no Cell."""
        matched = {rule for rules in self._at.values() for rule in rules}
        return tuple(rule for rule in self._rules if rule not in matched)

    def refuse_unmatched(self) -> None:
        """A rule for a class of MindSpore's speaks of that class, not of this network: it may idle.

        Raises:
            InputError: any other rule names no Cell; the message has a line for each, with near misses.
        """
        problems = [
            f"layers.{rule.pattern.text}: matches no layer of this network{self._hint(rule.pattern)}"
            for rule in self.unmatched()
            if not rule.pattern.name.startswith("nn.") or rule.pattern.kind != "type"
        ]
        if problems:
            raise InputError("\n".join(problems))

    def _naming(self, cell: CellOutline, name: str) -> Iterator[Rule]:
        for rule in self._rules:
            if rule.pattern.kind == "type":
                if rule.pattern.name in cell.type_names:
                    yield rule
            elif rule.pattern.matches_path(name):
                yield rule

    def _nearest_by_name(self, name: str, op: str | None) -> Answer | None:
        for distance, ancestor in enumerate(self._upwards(name)):
            rules = self._at[ancestor]
            own = [rule for rule in rules if rule.pattern.op is None]
            chosen = _most_specific(_for_op(rules, op) if op else own, ancestor)
            if chosen is not None:
                return Answer(chosen, distance, name)
            if own:
                return None
        return None

    def _upwards(self, name: str) -> Iterator[str]:
        """The Cell of that name, the one that holds it, and so on; the network itself, "", comes last."""
        while name:
            if name in self._at:
                yield name
            name = name.rpartition(".")[0]
        if "" in self._at:
            yield ""

    def _hint(self, pattern: Pattern) -> str:
        if pattern.kind == "type":
            return hint(pattern.name, {name for cell in self._outline.cells for name in cell.type_names})
        return hint(pattern.name, (name for name in self._at if name))


def _for_op(rules: Sequence[Rule], op: str) -> list[Rule]:
    """The rules for one op; one that names its family (`Mul` for `Muls`) counts where none names itself."""
    named = [rule for rule in rules if rule.pattern.op == op]
    return named or [rule for rule in rules if rule.pattern.op == family(op)]


def _most_specific(rules: Sequence[Rule], name: str) -> Rule | None:
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


def _shared_cell_clash(first: Answer, second: Answer) -> str:
    return (
        f"layers: {_shown(first.name)} and {_shown(second.name)} are one layer under two names, but "
        f"{first.rule} covers the one and {second.rule} the other: give both the same precision"
    )


def _shown(name: str) -> str:
    return repr(name) if name else "the network itself"
