"""Which kind of group stands where in a zoo network, and what is true of it; free of mindspore."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from halfwise.policies.errors import InputError
from halfwise.policies.near_miss import hint

from .kinds import BENIGN, COARSE_TARGET, HAZARDS, HEAD, JOIN, SHAPES, SLOWER_LOW, STEM, Hazard, Shape

FEWEST_GROUPS, MOST_GROUPS = 4, 60
# Two branches, each of one group, and the group that joins them, between stem and head.
_FEWEST_BRANCHED = 5
# One group in so many is slower low than float32.
_GROUPS_A_SLOWER_ONE = 10


@dataclass(frozen=True)
class Truth:
    """What a search should find out about a network: its groups by path, and which must or should stay float32.

    `slower_low` holds groups that lose no quality in float16 and are slower there.
    """

    groups: tuple[str, ...]
    hazards: Mapping[str, Hazard]
    slower_low: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """A zoo network before it is built.

    `name` says how it was planned; networks of one name are one network. `kinds` has the kind of each group by its
    place. `stages` are the places in the order of the data: (a,) is one
    group behind the other, (a, b, c) two groups side by side and the one that joins them.
    """

    name: str
    seed: int
    shape: Shape
    kinds: tuple[str, ...]
    stages: tuple[tuple[int, ...], ...]

    @cached_property
    def truth(self) -> Truth:
        """The ground truth; paths are those of the network's Cells."""
        kinds = {group_path(place): kind for place, kind in enumerate(self.kinds)}
        hazards = {path: HAZARDS[kind] for path, kind in kinds.items() if kind in HAZARDS}
        slower = tuple(path for path, kind in kinds.items() if kind in SLOWER_LOW)
        return Truth(tuple(kinds), MappingProxyType(hazards), slower)


def group_path(place: int) -> str:
    """The path of the Cell at a place."""
    return f"groups.{place}"


def plan_zoo(seed: int, groups: int = 20, hazards: int = 3, shape: Shape = "residual") -> Plan:
    """Draw a network: `hazards` of its `groups` must stay float32, and one in ten is slower low.

    The first group is the stem and the last the head. A coarse target is a fault of the head; all other hazards
    get random places between. No kind of hazard comes twice before all have come once.

    Raises:
        InputError: an unknown shape, or more hazards than there are places for them.
    """
    _check(seed, groups, hazards, shape)
    random = np.random.default_rng([seed, groups, hazards, SHAPES.index(shape)])
    stages = _stages(groups, shape, random)
    joins = [stage[2] for stage in stages if len(stage) == 3]
    free = [place for place in range(1, groups - 1) if place not in joins]
    special = _hazard_kinds(hazards, random)
    kinds: dict[int, str] = {0: STEM, groups - 1: HEAD, **dict.fromkeys(joins, JOIN)}
    if COARSE_TARGET in special:
        special.remove(COARSE_TARGET)
        kinds[groups - 1] = COARSE_TARGET
    special += _slower_kinds(groups // _GROUPS_A_SLOWER_ONE, random)
    places = [int(place) for place in random.permutation(free)]
    kinds |= dict(zip(places, special, strict=False))
    benign = [str(kind) for kind in random.choice(BENIGN[shape], groups)]
    name = f"{shape}_{groups}_groups_{hazards}_hazards_seed_{seed}"
    return Plan(name, seed, shape, tuple(kinds.get(place, benign[place]) for place in range(groups)), stages)


def planted(kind: str, seed: int = 0) -> Plan:
    """The smallest network with one hazard of this kind, to look at it alone.

    Raises:
        InputError: there is no such hazard.
    """
    if kind not in HAZARDS:
        raise InputError(f"unknown kind of hazard {kind!r}{hint(kind, HAZARDS)}; known are {', '.join(HAZARDS)}")
    benign = BENIGN["residual"][0]
    kinds = (STEM, benign, benign, kind) if kind == COARSE_TARGET else (STEM, kind, benign, HEAD)
    return Plan(f"planted_{kind}_seed_{seed}", seed, "residual", kinds, ((0,), (1,), (2,), (3,)))


def _check(seed: int, groups: int, hazards: int, shape: str) -> None:
    if shape not in SHAPES:
        raise InputError(f"the shape of a zoo network is one of {', '.join(SHAPES)}, but got {shape!r}")
    fewest = _FEWEST_BRANCHED if shape == "branched" else FEWEST_GROUPS
    if not fewest <= groups <= MOST_GROUPS:
        raise InputError(f"a {shape} zoo network has {fewest} to {MOST_GROUPS} groups, but got {groups}")
    if seed < 0:
        raise InputError(f"the seed of a zoo network must be 0 or more, but got {seed}")
    most = most_hazards(groups, shape)
    if not 0 <= hazards <= most:
        raise InputError(
            f"a {shape} zoo network of {groups} groups has room for 0 to {most} hazards, but got {hazards}"
        )


def most_hazards(groups: int, shape: Shape) -> int:
    """How many hazards such a network has room for, beside its stem, head, joins and slower groups."""
    joins = _branches(groups) if shape == "branched" else 0
    return groups - 2 - joins - groups // _GROUPS_A_SLOWER_ONE


def _branches(groups: int) -> int:
    """How many places a branched network of that size divides at: about half of its groups stand side by side."""
    return max(1, (groups - 2) // 5)


def _stages(groups: int, shape: Shape, random: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    if shape != "branched":
        return tuple((place,) for place in range(groups))
    branches = _branches(groups)
    straight = groups - 2 - 3 * branches
    widths = [1, *(int(width) for width in random.permutation([3] * branches + [1] * straight)), 1]
    starts = np.cumsum([0, *widths])
    return tuple(
        tuple(range(int(start), int(start) + width)) for start, width in zip(starts, widths, strict=False)
    )


def _hazard_kinds(count: int, random: np.random.Generator) -> list[str]:
    """So many kinds, all different as far as they go; a coarse target at most once, since there is one head."""
    kinds: list[str] = []
    while len(kinds) < count:
        left = [kind for kind in HAZARDS if kind != COARSE_TARGET or kind not in kinds]
        kinds += [str(kind) for kind in random.permutation(left)][: count - len(kinds)]
    return kinds


def _slower_kinds(count: int, random: np.random.Generator) -> list[str]:
    order: Sequence[str] = [str(kind) for kind in random.permutation(SLOWER_LOW)]
    return [order[number % len(order)] for number in range(count)]
