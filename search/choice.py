"""Rules that choose one policy of a study: best, fastest, accurate, trial:N."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..policies.errors import HalfwiseError, InputError
from .front import Direction, Point, by_speed, confirmed_first, measured, merit, worth
from .words import unknown

ALLOWED = ("best", "fastest", "accurate", "trial:N")


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a choice is measured by.

    `baseline` is the float32 trial (None if it was not run), `tolerance` the accepted loss of quality
    relative to float32's (0.005 is half a percent). `refuted` are trials of which a measurement side by side
    leaves open whether they are faster than float32, whatever their own speed says; `relapsed` are trials that
    lost too much quality when they were trained again with other seeds. `metric` and `speed_label` ("measured on
    CPU") are for the reasons.

    Raises:
        InputError: the tolerance is not a finite number of at least 0.
    """

    baseline: Point | None
    tolerance: float
    direction: Direction
    metric: str = "quality"
    speed_label: str | None = None
    refuted: frozenset[int] = frozenset()
    relapsed: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        """Refuse a tolerance that would let everything, or nothing, pass."""
        if not 0 <= self.tolerance < float("inf"):
            raise InputError(f"the tolerance must be a finite number >= 0, but got {self.tolerance}")

    def bound(self, quality: float) -> float:
        """The worst quality within the tolerance of `quality`."""
        slack = self.tolerance * abs(quality)
        return quality - slack if self.direction == "maximize" else quality + slack

    def figures(self, point: Point) -> str:
        """Both figures of a point in words: "accuracy 0.981, 1,250 samples/s measured on CPU".

        What a policy lost against float32 stands beside its quality where it is known.
        """
        quality, speed = measured(point)
        where = f" {self.speed_label}" if self.speed_label else ""
        known = point.quality_lost is not None and point != self.baseline
        lost = f", loses {point.quality_lost}" if known else ""
        return f"{self.metric} {quality:.5g}{lost}, {_rate(speed)} samples/s{where}"


@dataclass(frozen=True, slots=True)
class Choice:
    """The point that a rule chose, and why, in words with the numbers."""

    point: Point
    reason: str


class Rule(Protocol):
    """Anything that chooses one of the trials."""

    def choose(self, points: Sequence[Point], criteria: Criteria) -> Choice:
        """The chosen point, always a feasible one.

        Raises:
            HalfwiseError: no point can be chosen; the message names what comes nearest.
        """
        ...


@dataclass(frozen=True, slots=True)
class Best:
    """The fastest policy within the tolerance of float32's quality, of equals a confirmed one; else float32.

    Float32 that trained but needs more memory than allowed is still what quality is held against; it cannot stay,
    so the fastest policy within the tolerance is chosen even if it is slower.
    """

    def choose(self, points: Sequence[Point], criteria: Criteria) -> Choice:
        """See the class; the reason says how far float32 is, or why it stays.

        Raises:
            HalfwiseError: float32 was not run or does not train, so that there is nothing to compare with; or it
                cannot stay, and no other policy is within the tolerance.
        """
        base = _baseline(points, criteria)
        quality, speed = measured(base)
        bound = criteria.bound(quality)
        ranked = confirmed_first(by_speed(points, criteria.direction))
        others = [p for p in ranked if p.number != base.number]
        kept = [p for p in others if p.number not in criteria.relapsed]
        within = [p for p in kept if _is_within(p, quality, criteria)]
        if not within:
            return _stay(base, _none_within(others, points, base, bound, criteria))
        if not base.feasible:
            return Choice(within[0], _faster(within[0], base, criteria))
        beyond = [p for p in within if measured(p)[1] > speed]
        surely = [p for p in beyond if p.number not in criteria.refuted]
        if not surely:
            return Choice(base, _none_faster(within[0], base, criteria))
        return Choice(surely[0], _faster(surely[0], base, criteria))


@dataclass(frozen=True, slots=True)
class Fastest:
    """The fastest policy that trains, whatever its quality."""

    def choose(self, points: Sequence[Point], criteria: Criteria) -> Choice:
        """See the class; of equal speed the better quality wins, then the earlier trial."""
        ranked = _trained(points, criteria)
        reason = f"{ranked[0].label} is the fastest of {len(ranked)} that train: {criteria.figures(ranked[0])}"
        return Choice(ranked[0], reason)


@dataclass(frozen=True, slots=True)
class Accurate:
    """The policy with the best quality, whatever its speed."""

    def choose(self, points: Sequence[Point], criteria: Criteria) -> Choice:
        """See the class; of equal quality the faster one wins, then the earlier trial."""
        ranked = _trained(points, criteria)
        # max() keeps the first of equals, and the first is the fastest.
        winner = max(ranked, key=lambda p: worth(p, criteria.direction))
        reason = f"{winner.label} has the best {criteria.metric} of {len(ranked)} that train: "
        return Choice(winner, reason + criteria.figures(winner))


@dataclass(frozen=True, slots=True)
class TrialNumber:
    """The trial that the user names."""

    number: int

    def choose(self, points: Sequence[Point], criteria: Criteria) -> Choice:
        """See the class.

        Raises:
            InputError: there is no such trial, or it does not train.
        """
        found = [p for p in points if p.number == self.number]
        if not found:
            numbers = sorted(p.number for p in points)
            have = f"finished trials are {numbers[0]} to {numbers[-1]}" if numbers else "no trial has finished"
            raise InputError(f"there is no finished trial {self.number}: {have}")
        if not found[0].feasible:
            raise InputError(f"{found[0].label} cannot be chosen, it has no result: {found[0].cause}")
        return Choice(found[0], f"{found[0].label} was asked for by number: {criteria.figures(found[0])}")


_NAMED: dict[str, Rule] = {"best": Best(), "fastest": Fastest(), "accurate": Accurate()}


def parse_rule(text: str) -> Rule:
    """The rule that a text such as "best" or "trial:7" names.

    Raises:
        InputError: it names none.
    """
    if text in _NAMED:
        return _NAMED[text]
    if match := re.fullmatch(r"trial:([0-9]{1,9})", text):
        return TrialNumber(int(match[1]))
    raise unknown("rule", text, ALLOWED)


def _rate(speed: float) -> str:
    """Samples per second: whole from a thousand on, four figures below."""
    return f"{speed:,.0f}" if abs(speed) >= 1000 else f"{speed:.4g}"


def _is_within(point: Point, float32: float, criteria: Criteria) -> bool:
    """Whether the point loses no more than the tolerance of float32's quality.

    A confirmed one was held against float32 of its own length and seeds: it is within unless it relapsed.
    """
    if point.confirmed:
        return point.number not in criteria.relapsed
    if point.quality_lost is not None:
        return point.quality_lost.mean <= criteria.tolerance * abs(float32)
    bound = criteria.bound(float32)
    return merit(measured(point)[0], criteria.direction) >= merit(bound, criteria.direction)


def _trained(points: Sequence[Point], criteria: Criteria) -> list[Point]:
    ranked = by_speed(points, criteria.direction)
    if not ranked:
        what = f"none of {len(points)} finished trials trains, so no policy can be chosen"
        raise HalfwiseError(what + _causes(points))
    return ranked


def _causes(points: Sequence[Point]) -> str:
    counts = Counter(p.cause or "no cause given" for p in points if not p.feasible)
    return "".join(f"; {cause} ({count}x)" for cause, count in counts.most_common(3))


def _stay(base: Point, reason: str) -> Choice:
    """Float32, unless it cannot be chosen."""
    if base.feasible:
        return Choice(base, f"{reason}; float32 stays")
    raise HalfwiseError(f"{reason}; float32 itself cannot stay: it {base.cause}")


def _baseline(points: Sequence[Point], criteria: Criteria) -> Point:
    """The float32 point, or an error that names the best policy that did train."""
    base = criteria.baseline
    if base is not None and base.quality is not None and base.speed is not None:
        return base
    why = "was not run" if base is None else f"does not train ({base.cause})"
    ranked = by_speed(points, criteria.direction)
    if not ranked:
        raise HalfwiseError(f"float32 {why}, and no other trial trains{_causes(points)}")
    near = Accurate().choose(points, criteria).point
    raise HalfwiseError(
        f"float32 {why}, so no policy can be held against it; the nearest miss is {near.label} with "
        f"{criteria.figures(near)}: take it with --rule trial:{near.number}"
    )


def _promise(base: Point, criteria: Criteria) -> str:
    quality, _ = measured(base)
    return f"within {criteria.tolerance * 100:g}% of float32's {criteria.metric} {quality:.5g}"


def _faster(winner: Point, base: Point, criteria: Criteria) -> str:
    ratio = f" ({measured(winner)[1] / measured(base)[1]:.2f}x)" if measured(base)[1] > 0 else ""
    doubt = "; not confirmed with fresh seeds" if winner.quality_lost and not winner.confirmed else ""
    return (
        f"{winner.label} is the fastest policy {_promise(base, criteria)}: {criteria.figures(winner)}, "
        f"against float32's {_rate(measured(base)[1])} samples/s{ratio}{doubt}"
    )


def _none_faster(nearest: Point, base: Point, criteria: Criteria) -> str:
    where = f", {criteria.speed_label}" if criteria.speed_label else ""
    compared = nearest.against_float32
    surely = "surely " if criteria.refuted else ""
    doubt = f", side by side between {compared.low:.2f}x and {compared.high:.2f}x of float32" if compared else ""
    return (
        f"no policy {_promise(base, criteria)} is {surely}faster than float32 "
        f"({_rate(measured(base)[1])} samples/s; "
        f"the fastest of them, {nearest.label}, does {_rate(measured(nearest)[1])}{where}{doubt}); float32 stays"
    )


def _none_within(
    others: Sequence[Point], points: Sequence[Point], base: Point, bound: float, criteria: Criteria
) -> str:
    if len(points) == 1:
        return f"nothing but float32 was tried ({criteria.figures(base)})"
    if not others:
        return f"no policy but float32 trains ({criteria.figures(base)}){_causes(points)}"
    near = Accurate().choose(others, criteria).point
    side = "at least" if criteria.direction == "maximize" else "at most"
    return (
        f"no policy stays {_promise(base, criteria)} ({side} {bound:.5g}); the nearest miss is {near.label} "
        f"with {criteria.figures(near)}"
    )
