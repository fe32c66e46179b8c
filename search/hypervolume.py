"""How much a set of policies covers in speed and quality lost: the area up to a reference, as one number."""

import math
from collections.abc import Iterable, Sequence

from ..policies.errors import HalfwiseError

Place = tuple[float, float]
"""Speed (more is better) and quality lost (less is better), in any units."""


def staircase(places: Iterable[Place]) -> tuple[Place, ...]:
    """The places that no other one beats, fastest first; of equal ones one is left.

    Figures are finite.
    """
    kept: list[Place] = []
    least = math.inf
    for speed, lost in sorted(places, key=lambda place: (-place[0], place[1])):
        if lost < least:
            kept.append((speed, lost))
            least = lost
    return tuple(kept)


def hypervolume(places: Iterable[Place], reference: Place) -> float:
    """The area that the places cover between themselves and the reference; places not better in both add nothing.

    Its unit is that of speed times quality lost. No places give 0.

    Raises:
        HalfwiseError: the reference is not finite.
    """
    if not all(map(math.isfinite, reference)):
        raise HalfwiseError(f"the reference must be two finite numbers (speed, quality lost), but got {reference}")
    slowest, floor = reference
    area = 0.0
    # Fastest first, the loss only falls: each place adds the strip below the ones before it.
    for speed, lost in staircase(places):
        if speed > slowest and lost < floor:
            area += (speed - slowest) * (floor - lost)
            floor = lost
    return area


def anytime_hypervolume(places: Sequence[Place | None], reference: Place) -> tuple[float, ...]:
    """The hypervolume after each trial; None is a trial whose policy did not train, which adds nothing.

    Raises:
        HalfwiseError: the reference is not finite.
    """
    front: tuple[Place, ...] = ()
    areas: list[float] = []
    for place in places:
        front = staircase((*front, place)) if place is not None else front
        areas.append(hypervolume(front, reference))
    return tuple(areas)
