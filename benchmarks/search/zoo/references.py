"""Zoo networks by reference, so that a trial's process and an experiment file can name one; free of mindspore."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

from .kinds import Shape
from .plan import Plan, plan_zoo, planted

ROOT = Path(__file__).resolve().parents[3]
"""The folder in which references are looked for."""

_REGISTRY = "benchmarks.search.zoo.registry"
_DRAWN = re.compile(r"([a-z]+)_(\d+)_groups_(\d+)_hazards_seed_(\d+)")
_PLANTED = re.compile(r"planted_([a-z_]+)_seed_(\d+)")


def reference_of(plan: Plan) -> str:
    """How a trial's process finds the planned network."""
    return f"{_REGISTRY}:{plan.name}"


def read_name(name: str) -> Callable[[], Plan] | None:
    """What plans the network of that name; None if no plan has such a name."""
    if drawn := _DRAWN.fullmatch(name):
        shape, groups, hazards, seed = drawn.groups()
        return partial(plan_zoo, int(seed), int(groups), int(hazards), cast("Shape", shape))
    if alone := _PLANTED.fullmatch(name):
        return partial(planted, alone[1], int(alone[2]))
    return None
