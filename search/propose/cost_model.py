"""What a step costs by the choices made in it: ops by their precision, and casts where precision changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...policies.errors import InputError
from .arrays import Floats, Ints

FLOAT32 = "float32"

Choices = tuple[int, ...]
"""The place of each site's choice in `Site.choices`, sites in the order of the cost model; 0 is float32."""


@dataclass(frozen=True, slots=True)
class Site:
    """A part of the network with a precision of its own, and the seconds that its ops take in each.

    `choices` begins with float32; `seconds` stand in the same order.
    """

    name: str
    choices: tuple[str, ...]
    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse a site that cannot stay in float32, or lacks a figure."""
        if not self.choices or self.choices[0] != FLOAT32:
            raise InputError(f"site {self.name!r}: the first choice must be float32, but they are {self.choices}")
        if len(self.seconds) != len(self.choices):
            raise InputError(
                f"site {self.name!r}: each of its {len(self.choices)} choices needs its seconds, "
                f"but {len(self.seconds)} are given"
            )


@dataclass(frozen=True, slots=True)
class Border:
    """Two sites that pass values to each other: `seconds[a][b]` is what their casts take for a pair of choices."""

    first: int
    second: int
    seconds: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class CostModel:
    """A step's seconds: `constant_s`, and what each site and each border adds by the choices made.

    Prices worked out before the search, so a search over them knows the speed of every policy. Borders couple
    two sites each, so a cast that serves several sites is counted for each of them: the price of the compiled
    table is the one to report. `float32_s` is what a step of float32 takes where the model is not exact there.

    Raises:
        InputError: two sites share a name, or a border does not fit its sites.
    """

    constant_s: float
    sites: tuple[Site, ...]
    borders: tuple[Border, ...] = ()
    float32_s: float | None = None

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
        sites = sum(site.seconds[choice] for site, choice in zip(self.sites, choices, strict=True))
        return self.constant_s + sites + sum(b.seconds[choices[b.first]][choices[b.second]] for b in self.borders)

    def speedup(self, choices: Sequence[int]) -> float:
        """Times float32's speed."""
        return self._float32_s / self.step_time_s(choices)

    def speedups(self, choices: Ints) -> Floats:
        """The same for many: (n, sites) gives (n,)."""
        seconds = np.full(len(choices), self.constant_s)
        for site, column in zip(self.sites, choices.T, strict=True):
            seconds += np.array(site.seconds)[column]
        for border in self.borders:
            seconds += np.array(border.seconds)[choices[:, border.first], choices[:, border.second]]
        return self._float32_s / seconds

    @cached_property
    def _float32_s(self) -> float:
        return self.step_time_s(self.float32) if self.float32_s is None else self.float32_s

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
