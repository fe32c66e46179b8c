"""Says of every call that a rule could have changed and did not, why."""

from collections.abc import Callable, Iterator

from mindspore import nn

from .bodies import Bodies, Body
from .code import CannotRead
from .flow import Step
from .report import Left
from .rule import Rule

Reason = Callable[[Rule, Body, Step], tuple[str | None, bool]]
"""Why a call was left, and whether the pattern matched there; no reason if it was changed."""


def leftovers(bodies: Bodies, rule: Rule, reason: Reason) -> Iterator[Left]:
    """Every layer, function or operator that the rule's pattern could have ended in and that was left."""
    for cell in bodies.alive():
        for name, layer in bodies.layers(cell).items():
            if rule.pattern.covers(layer):
                yield from _layer(bodies, rule, reason, cell, name)
        yield from _calls(bodies, rule, reason, cell)
    if rule.pattern.covers(bodies.network):
        kind = type(bodies.network).__name__
        yield Left(rule.name, "the network itself", kind, "it is no layer of another Cell: put it into one")


def _layer(bodies: Bodies, rule: Rule, reason: Reason, owner: nn.Cell, name: str) -> Iterator[Left]:
    path, body = bodies.path(owner, name), bodies.body(owner)
    if isinstance(body, CannotRead):
        yield Left(rule.name, path, body.where, str(body))
        return
    if body is None:
        kind = type(owner).__name__
        yield Left(
            rule.name,
            path,
            kind,
            f"it is called out of a {kind}, which MindSpore's rewriter does not follow: "
            "give it a name of its own in the Cell that calls it",
        )
        return
    steps = [step for step in body.flow.steps if step.call.attribute == name]
    for step in steps:
        words, matched = reason(rule, body, step)
        if words is not None:
            yield Left(rule.name, path, body.where(step.line), words, matched)
    elsewhere = bodies.places.read_elsewhere(owner, name)
    if body.reads(name) > len(steps) or elsewhere or not steps:
        yield Left(rule.name, path, body.where(), _unreached(name, elsewhere))


def _unreached(name: str, elsewhere: str | None) -> str:
    if elsewhere is not None:
        return f"it is read {elsewhere}, where the rule did not reach it: call it in the construct alone"
    return (
        f"it is called or read other than by a statement like `y = self.{name}(x)` outside branches and loops: "
        "write such a statement, or move that part into a Cell of its own"
    )


def _calls(bodies: Bodies, rule: Rule, reason: Reason, cell: nn.Cell) -> Iterator[Left]:
    """Calls of functions, operators and primitives."""
    body = bodies.body(cell)
    if body is None or isinstance(body, CannotRead):
        return
    for step in body.flow.steps:
        if step.call.attribute is None and rule.pattern.covers(step.call.callee):
            words, matched = reason(rule, body, step)
            if words is not None:
                yield Left(rule.name, step.call.words, body.where(step.line), words, matched)
