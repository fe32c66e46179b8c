"""The cost model of a workload's sites, read off the what-if price: one site changed, then two at a border.

The price of a policy is not a sum: casts are shared, and some are taken into normalisations. It is expanded
around the policy with every site in its first low choice, near which a search spends its trials (a cut expansion
of second order; Rabitz and Alis, 1999). It is exact there, and for changes of one site or of two neighbours.
"""

from collections.abc import Callable
from functools import cache

import pandas as pd

from ..evaluators.price import Device, PolicyWants, WhatIf
from ..evaluators.price.flow import Flow
from ..policies import NetworkOutline
from ..search.propose import Border, CostModel, Site
from ..search.site_space import SiteSpace

Choices = tuple[int, ...]
PriceOf = Callable[[Choices], float]


def price_of(
    space: SiteSpace, outline: NetworkOutline, float32_table: pd.DataFrame, device: Device, batch_size: int
) -> tuple[PriceOf, tuple[tuple[int, int], ...]]:
    """The seconds of a step by the choices made, without compiling, and the pairs of sites that border.

    `float32_table` is the op table of the untouched network, compiled at `batch_size`.

    Raises:
        InputError: the device lacks a figure that a choice needs.
    """
    what_if = WhatIf(float32_table, device, batch_size)
    wanted = PolicyWants(outline, what_if.flow)
    parameters = list(space.parameters().items())

    def price(choices: Choices) -> float:
        named = {name: allowed[choice] for (name, allowed), choice in zip(parameters, choices, strict=True)}
        return what_if.price(wanted.of(space.policy(named)))

    names = float32_table["op"].to_list()
    return price, borders_of(space, what_if.flow, [names[op.row] for op in what_if.flow.ops])


def expand(space: SiteSpace, price: PriceOf, borders: tuple[tuple[int, int], ...]) -> CostModel:
    """The cost model with that price around "everything low"; asks for one price a change and pair of changes."""
    parameters = list(space.parameters().items())
    centre = tuple(min(1, len(allowed) - 1) for _, allowed in parameters)
    base = price(centre)

    @cache
    def alone(site: int, choice: int) -> float:
        return price(_with(centre, (site, choice))) - base

    def together(first: int, a: int, second: int, b: int) -> float:
        if a == centre[first] or b == centre[second]:
            return 0.0
        both = price(_with(centre, (first, a), (second, b))) - base
        return both - alone(first, a) - alone(second, b)

    sizes = [len(allowed) for _, allowed in parameters]
    return CostModel(
        constant_s=base,
        sites=tuple(
            Site(name, tuple(allowed), tuple(alone(site, choice) for choice in range(len(allowed))))
            for site, (name, allowed) in enumerate(parameters)
        ),
        borders=tuple(
            Border(
                first,
                second,
                tuple(
                    tuple(together(first, a, second, b) for b in range(sizes[second])) for a in range(sizes[first])
                ),
            )
            for first, second in borders
        ),
        float32_s=price((0,) * len(parameters)),
    )


def borders_of(space: SiteSpace, flow: Flow, names: list[str]) -> tuple[tuple[int, int], ...]:
    """The pairs of sites between which a value passes, directly or through ops that belong to no site.

    `names` are the ops of the flow by the names that policies use.
    """
    site_of: dict[tuple[str, str], int] = {}
    for site, group in enumerate(space.groups):
        for path in group.paths:
            site_of.update(((path, op), site) for op in (group.ops if group.op is None else (group.op,)))
    behind: list[frozenset[int]] = []
    pairs: set[tuple[int, int]] = set()
    for op, name in zip(flow.ops, names, strict=True):
        sources = frozenset().union(*(behind[edge.source] for edge in op.edges if edge.source >= 0))
        site = site_of.get((op.layer, name)) if op.layer is not None else None
        pairs |= {(min(site, s), max(site, s)) for s in sources if site is not None and s != site}
        behind.append(sources if site is None else frozenset({site}))
    return tuple(sorted(pairs))


def _with(choices: Choices, *changes: tuple[int, int]) -> Choices:
    changed = list(choices)
    for site, choice in changes:
        changed[site] = choice
    return tuple(changed)
