"""What a step costs by the choices made in it: ops by their precision, and casts where precision changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...policies.errors import InputError
from ...policies.precision import LOW_PRECISIONS
from .arrays import Bools, Floats, Ints

FLOAT32 = "float32"

Choices = tuple[int, ...]
"""The place of each site's choice in `Site.choices`, sites in the order of the cost model; 0 is float32's."""


@dataclass(frozen=True, slots=True)
class Site:
    """A part of the network with a precision of its own, and the seconds that its ops take in each.

    `choices` begins with what a float32 step has; `seconds` stand in the same order. Mostly choices are
    precisions, float32 first; a site of others (loss scalings) begins with the safest of them.
    """

    name: str
    choices: tuple[str, ...]
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse a site that cannot stay in float32, or lacks a figure."""
        if not self.choices or (self.low_places and self.choices[0] != FLOAT32):
            raise InputError(f"site {self.name!r}: the first choice must be float32, but they are {self.choices}")
        if len(self.seconds) != len(self.choices):
            raise InputError(
                f"site {self.name!r}: each of its {len(self.choices)} choices needs its seconds, "
                f"but {len(self.seconds)} are given"
            )

    @property
    def low_places(self) -> tuple[int, ...]:
        """The places of its low precisions; none for a site of other choices."""
        return tuple(place for place, choice in enumerate(self.choices) if choice in LOW_PRECISIONS)


@dataclass(frozen=True, slots=True)
class Border:
    """Two sites that pass values to each other: `seconds[a][b]` is what their casts take for a pair of choices."""

    first: int
    second: int
    seconds: tuple[tuple[float, ...], ...]


class Tables(NamedTuple):
    """The seconds of `sites` (sites, most choices) and `borders` (borders, most, most), 0 where a choice is not.

    `ends` (borders, 2) are the two sites of each border.
    """

    sites: Floats
    borders: Floats
    ends: Ints


@dataclass(frozen=True)
class CostModel:
    """A step's seconds: `constant_s`, and what each site and each border adds by the choices made.

    Prices worked out before the search, so a search over them knows the speed of every policy. Borders couple
    two sites each, so a cast that serves several sites is counted for each of them: the price of the compiled
    table is the one to report. `float32_s` is what a step of float32 takes where the model is not exact there.
    Each of `regions` is the sites of one layer whose ops have sites of their own: MindSpore gives such a layer one
    low precision, so those of its sites that are low must be low in the same.

    Raises:
        InputError: two sites share a name, or a border does not fit its sites.
    """

    constant_s: float
    sites: tuple[Site, ...]
    borders: tuple[Border, ...] = ()
    float32_s: float | None = None
    regions: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse borders that don't fit."""
        names = [site.name for site in self.sites]
        if len(set(names)) < len(names):
            raise InputError(f"each site may occur once, but {_twice(names)!r} occurs twice")
        for border in self.borders:
            shape = (len(self.sites[border.first].choices), len(self.sites[border.second].choices))
            if border.first == border.second or np.shape(border.seconds) != shape:
                raise InputError(
                    f"the border of {names[border.first]!r} and {names[border.second]!r} must give "
                    f"{shape[0]} x {shape[1]} figures for two different sites"
                )

    @property
    def float32(self) -> Choices:
        """All sites in float32."""
        return (0,) * len(self.sites)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many choices each site has."""
        return tuple(len(site.choices) for site in self.sites)

    def step_time_s(self, choices: Sequence[int]) -> float:
        """Seconds of one step."""
        return float(self.step_times_s(np.array([choices], dtype=np.int64))[0])

    def speedup(self, choices: Sequence[int]) -> float:
        """Times float32's speed."""
        return self.float32_step_time_s / self.step_time_s(choices)

    def speedups(self, choices: Ints) -> Floats:
        """The same for many: (n, sites) gives (n,)."""
        return self.float32_step_time_s / self.step_times_s(choices)

    def step_times_s(self, choices: Ints) -> Floats:
        """Seconds of a step of each of many: (n, sites) gives (n,)."""
        tables, borders = self.tables, np.arange(len(self.borders))
        seconds = self.constant_s + tables.sites[np.arange(len(self.sites)), choices].sum(axis=1)
        first, second = choices[:, tables.ends[:, 0]], choices[:, tables.ends[:, 1]]
        return seconds + tables.borders[borders, first, second].sum(axis=1)

    def allowed(self, choices: Ints) -> Bools:
        """Which of many keep to one low precision in each region: (n, sites) gives (n,)."""
        fine = np.ones(len(choices), dtype=bool)
        for region in self.regions:
            found = [
                np.any([choices[:, site] == place for site, place in self._low_in(region, precision)], axis=0)
                for precision in LOW_PRECISIONS
                if self._low_in(region, precision)
            ]
            fine &= np.sum(found, axis=0) <= 1
        return fine

    def one_low(self, choices: Sequence[int]) -> Choices:
        """The choices, brought to one low precision in each region: the one that most of its sites have.

        Sites that don't offer it become float32; of equally many precisions the first one stays.
        """
        changed = list(choices)
        for region in self.regions:
            low = [self.sites[site].choices[choices[site]] for site in region if choices[site]]
            if len(set(low)) > 1:
                kept = max(LOW_PRECISIONS, key=low.count)
                places = dict(self._low_in(region, kept))
                for site in region:
                    changed[site] = places.get(site, 0) if changed[site] else 0
        return tuple(changed)

    def _low_in(self, region: Sequence[int], precision: str) -> list[tuple[int, int]]:
        """The sites of a region that offer a precision, and its place among their choices."""
        offers = [(site, self.sites[site].choices) for site in region]
        return [(site, choices.index(precision)) for site, choices in offers if precision in choices]

    @cached_property
    def tables(self) -> "Tables":
        """All its seconds as arrays."""
        most = max(self.sizes, default=1)
        sites = np.zeros((len(self.sites), most))
        for row, site in zip(sites, self.sites, strict=True):
            row[: len(site.seconds)] = site.seconds
        borders = np.zeros((len(self.borders), most, most))
        for table, border in zip(borders, self.borders, strict=True):
            seconds = np.array(border.seconds)
            table[: seconds.shape[0], : seconds.shape[1]] = seconds
        ends = np.array([(border.first, border.second) for border in self.borders], dtype=np.int64).reshape(-1, 2)
        return Tables(sites, borders, ends)

    @cached_property
    def float32_step_time_s(self) -> float:
        """Seconds of a step of float32."""
        if self.float32_s is not None:
            return self.float32_s
        return self.step_time_s(self.float32)

    def named(self, choices: Sequence[int]) -> dict[str, str]:
        """The choices by the names of sites and precisions."""
        return {site.name: site.choices[choice] for site, choice in zip(self.sites, choices, strict=True)}

    def placed(self, named: Mapping[str, str]) -> Choices:
        """The reverse of `named`.

        Raises:
            InputError: a site is missing, or its choice is not one of its own.
        """
        return tuple(_place(site, named) for site in self.sites)


def _place(site: Site, named: Mapping[str, str]) -> int:
    choice = named.get(site.name)
    if choice not in site.choices:
        raise InputError(f"site {site.name!r} must be one of {', '.join(site.choices)}, but got {choice!r}")
    return site.choices.index(choice)


def _twice(names: Sequence[str]) -> str:
    return next(name for name in names if names.count(name) > 1)
