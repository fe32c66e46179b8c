"""Applies rules to a copy of a network, in order and again until nothing changes, and reports what it did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mindspore import nn

from ...errors import HalfwiseError
from .bodies import Bodies, Body
from .code import CannotRead
from .copies import copy_network
from .equality import Equality, compare
from .flow import Step
from .form import Node
from .leftovers import leftovers
from .match import Found, Miss, match_at
from .report import Change, Report
from .rule import Answer, Declined, Followed, Match, Rule

# A rule that matches what it makes would go on for ever; no sound one changes a network this often.
_CHANGES_A_LAYER = 10


@dataclass(frozen=True)
class Rewriting:
    """The new network, what was done, how far its outputs are from the original's, and the new constructs' source.

    `equality` is None where nothing changed: then nothing was compared.
    """

    network: nn.Cell
    report: Report
    equality: Equality | None
    source: str


def rewrite(network: nn.Cell, rules: Sequence[Rule], inputs: Sequence[Any]) -> Rewriting:
    """Rewrite a copy of `network` by the rules and compare the two on `inputs`.

    The network itself stays as it is. The new one holds the same Parameters, so an optimizer over them trains it,
    but for those that a rule made anew; a Cell that no rule changed keeps its class and its construct. Rules are
    tried in order, in every construct and SequentialCell, again until none changes anything; what a rule made is
    matched like the user's layers, but not looked into. Not for use from several threads.

    Raises:
        InputError: the network carries a policy.
        HalfwiseError: the new network computes something else than the rules allow, does not run, or a rule fails
            or never comes to an end. Nothing is left half done.
    """
    copy = copy_network(network)
    bodies = Bodies(copy)
    report = _Engine(bodies).run(rules)
    source = bodies.install()
    if not report.changes:
        return Rewriting(copy, report, None, source)
    used = {change.rule for change in report.changes}
    active = [rule for rule in rules if rule.name in used]
    tolerance = sum(rule.tolerance for rule in active)
    types = any(rule.changes_types for rule in active)
    return Rewriting(copy, report, compare(network, copy, inputs, tolerance, types), source)


def find(network: nn.Cell, pattern: Node) -> tuple[Match, ...]:
    """Every match of the pattern in the constructs and SequentialCells of a network; nothing is changed."""
    bodies = Bodies(network)
    return tuple(
        _match(bodies, body, found)
        for body in _bodies(bodies)
        for step in body.flow.steps
        if pattern.covers(step.call.callee) and isinstance(found := match_at(body.flow, pattern, step), Found)
    )


class _Engine:
    def __init__(self, bodies: Bodies):
        self.bodies = bodies
        self.changes: list[Change] = []
        # By rule, Cell and call: why the rule left a match, or None where it changed it and left it in place.
        self.settled: dict[tuple[str, int, object], str | None] = {}

    def run(self, rules: Sequence[Rule]) -> Report:
        """Sweep until nothing changes."""
        while any(self._sweep(rule) for rule in rules):
            pass
        left = [each for rule in rules for each in leftovers(self.bodies, rule, self._reason)]
        return Report(tuple(self.changes), tuple(left))

    def _sweep(self, rule: Rule) -> bool:
        before = len(self.changes)
        for body in _bodies(self.bodies):
            while self._changed_one(rule, body):
                self._refuse_endless(rule)
        return len(self.changes) > before

    def _changed_one(self, rule: Rule, body: Body) -> bool:
        for step in body.flow.steps:
            key = self._key(rule, body, step)
            if key in self.settled or not rule.pattern.covers(step.call.callee):
                continue
            found = match_at(body.flow, rule.pattern, step)
            if isinstance(found, Found):
                answer = _ask(rule, _match(self.bodies, body, found), body.where(step.line))
                self.settled[key] = _declined(answer) or self._obstacle(body, found, answer)
                if self.settled[key] is None:
                    self._apply(rule, body, found, answer)
                    return True
        return False

    def _apply(self, rule: Rule, body: Body, found: Found, answer: Answer) -> None:
        layers = _match(self.bodies, body, found).paths
        place = body.where(found.root.line)
        if isinstance(answer, Followed):
            name = body.follow(found.root, answer.cell, rule.name.replace("-", "_"))
        elif isinstance(answer, nn.Cell):
            name = body.replace(found, answer)
        else:
            raise HalfwiseError(
                f"rule {rule.name} must return a Cell, Followed, Declined or nothing, but returned {answer!r}"
            )
        self.changes.append(Change(rule.name, layers, self.bodies.path(body.cell, name), place))

    def _obstacle(self, body: Body, found: Found, answer: Answer) -> str | None:
        """Why this match cannot be replaced, in a user's words, or None."""
        if isinstance(answer, Followed):
            return None
        for value in found.inputs:
            if value is None:
                return "an input is a constant, an attribute, or given by keyword or star: give it a name first"
            if not body.names(value, found.root.place):
                return "an input is set anew before the last call: give the new value another name"
        for step in found.steps:
            name = step.call.attribute
            if name is not None and step not in found.kept:
                elsewhere = self.bodies.read_elsewhere(body, name, step.call.callee)
                if elsewhere is not None:
                    return f"{self.bodies.path(body.cell, name)} is also read {elsewhere}"
        return None

    def _reason(self, rule: Rule, body: Body, step: Step) -> tuple[str | None, bool]:
        key = self._key(rule, body, step)
        if key in self.settled:
            return self.settled[key], True
        found = match_at(body.flow, rule.pattern, step)
        return (found.reason, False) if isinstance(found, Miss) else (None, True)

    def _key(self, rule: Rule, body: Body, step: Step) -> tuple[str, int, object]:
        return rule.name, id(body.cell), body.key(step)

    def _refuse_endless(self, rule: Rule) -> None:
        if len(self.changes) > 100 + _CHANGES_A_LAYER * len(list(self.bodies.alive())):
            raise HalfwiseError(
                f"rule {rule.name} does not come to an end: after {len(self.changes)} changes it still matches "
                "what it made; let it return nothing for that"
            )


def _bodies(bodies: Bodies) -> list[Body]:
    found = [bodies.body(cell) for cell in bodies.alive()]
    return [body for body in found if body is not None and not isinstance(body, CannotRead)]


def _match(bodies: Bodies, body: Body, found: Found) -> Match:
    calls = [step.call for step in found.steps]
    paths = [bodies.path(body.cell, call.attribute) if call.attribute else call.words for call in calls]
    return Match(tuple(call.callee for call in calls), tuple(paths))


def _ask(rule: Rule, match: Match, place: str) -> Answer:
    try:
        return rule.build(match)
    except Exception as error:
        raise HalfwiseError(
            f"rule {rule.name} failed at {', '.join(match.paths)} ({place}): {type(error).__name__}: {error}"
        ) from error


def _declined(answer: Answer) -> str | None:
    if isinstance(answer, Declined):
        return answer.reason
    return "the rule returned nothing" if answer is None else None
