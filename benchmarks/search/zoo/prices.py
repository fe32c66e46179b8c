"""What assignments of a zoo network's groups cost, and the cheapest of those that train; free of mindspore."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isclose
from pathlib import Path

import pandas as pd

from halfwise.evaluators.price import Device, LayerWants, WhatIf, find_device, load_devices
from halfwise.policies import BUILTIN, CellOutline, HalfwiseError, NetworkOutline, Policy

from ...compiled import compile_step
from .plan import Plan, group_path
from .references import reference_of

DEVICE_FILE = Path(__file__).with_name("devices.yaml")
"""For `--device-file`; the row is called zoo."""


def zoo_device() -> Device:
    """The device that zoo networks are priced on."""
    return find_device("zoo", load_devices(DEVICE_FILE))


# By the last group so far if it is low, else None: the least seconds that all stages so far add to float32.
_Found = dict[str | None, tuple[float, frozenset[str]]]


@dataclass(frozen=True)
class BestTrainable:
    """The fastest assignment that keeps every hazard float32: priced, not measured.

    `low` are the paths of the groups in float16, all others are float32.
    """

    low: frozenset[str]
    step_time_s: float
    float32_step_time_s: float

    @property
    def speed_up(self) -> float:
        """Against all of the network in float32."""
        return self.float32_step_time_s / self.step_time_s


class ZooPrices:
    """Prices of float16 for some groups of a planned network, float32 for the rest."""

    def __init__(self, plan: Plan, float32_table: pd.DataFrame, batch_size: int, device: Device | None = None):
        """`float32_table` is the op table of the untouched network; without a device it is the zoo's own."""
        self.plan = plan
        self._what_if = WhatIf(float32_table, device or zoo_device(), batch_size)
        self._wants = LayerWants(Policy(default="float16"), outline_of(plan), self._what_if.flow)

    def step_time_s(self, low: Collection[str]) -> float:
        """A training step's time when the groups of these paths are float16."""
        return self._what_if.price(self._wants.of(dict.fromkeys(low, "float16")))

    @cached_property
    def best_trainable(self) -> BestTrainable:
        """The exact optimum over all assignments of groups that keep the hazards float32.

        By dynamic programming: ops cost what they cost in their own group, casts stand between neighbours, so
        what a stage costs hangs on its own groups and on the last one of the stage before.

        Raises:
            HalfwiseError: the network's price is not such a sum.
        """
        float32_s = self.step_time_s(())
        found: _Found = {None: (0.0, frozenset())}
        for stage in self.plan.stages:
            found = self._behind(stage, found)
        added_s, low = min(found.values(), key=lambda entry: entry[0])
        self._check(float32_s + added_s, low)
        return BestTrainable(low, float32_s + added_s, float32_s)

    def _behind(self, stage: tuple[int, ...], found: _Found) -> _Found:
        """What was found before a stage, with the best choices in it."""
        longer: _Found = {}
        last = group_path(stage[-1])
        for before, (seconds, low) in found.items():
            around = frozenset(() if before is None else (before,))
            base_s = self.step_time_s(around)
            for chosen in self._choices(stage):
                key = last if last in chosen else None
                total_s = seconds + self.step_time_s(around | chosen) - base_s
                if key not in longer or total_s < longer[key][0]:
                    longer[key] = (total_s, low | chosen)
        return longer

    def _choices(self, stage: tuple[int, ...]) -> Iterator[frozenset[str]]:
        """Every set of a stage's groups that may be low together."""
        free = [path for path in map(group_path, stage) if path not in self.plan.truth.hazards]
        for chosen in product((False, True), repeat=len(free)):
            yield frozenset(path for path, is_low in zip(free, chosen, strict=True) if is_low)

    def _check(self, expected_s: float, low: frozenset[str]) -> None:
        found_s = self.step_time_s(low)
        if not isclose(found_s, expected_s, rel_tol=1e-9):
            raise HalfwiseError(
                f"the best assignment of {self.plan.name} must cost the sum of its stages, {expected_s:.6g} s, "
                f"but it costs {found_s:.6g} s: groups that are no neighbours share a cast"
            )


def price_zoo(plan: Plan, folder: Path) -> ZooPrices:
    """Compile the planned network's step in a process of its own, which works in `folder`, and price it.

    Raises:
        HalfwiseError: it can't be compiled.
    """
    step = compile_step(folder, reference_of(plan), BUILTIN["O0"])
    return ZooPrices(plan, step.table, step.answer.batch_size)


def outline_of(plan: Plan) -> NetworkOutline:
    """The Cells of the planned network, as policies see them."""
    groups = (CellOutline(group_path(place), (), (kind,)) for place, kind in enumerate(plan.kinds))
    return NetworkOutline(
        (CellOutline("", (), ("ZooNetwork",)), CellOutline("groups", (), ("CellList",)), *groups)
    )
