"""The cost model of a workload's sites, read off the what-if price: one site changed, then two at a border.

The price of a policy is not a sum: casts are shared, and some are taken into normalisations. It is expanded
around the policy with every site in its first low choice, near which a search spends its trials (a cut expansion
of second order; Rabitz and Alis, 1999). It is exact there, and for changes of one site or of two neighbours.
Another loss scaling takes so much more or less in any policy.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import pandas as pd

from ..evaluators.price import Device, PolicyWants, WhatIf, price_table
from ..evaluators.price.flow import Flow
from ..policies import NetworkOutline
from ..search.propose import Border, CostModel, Site
from ..search.site_space import LOSS_SCALING, SiteSpace

Choices = tuple[int, ...]
PriceOf = Callable[[Choices], float]


def price_of(
    space: SiteSpace,
    outline: NetworkOutline,
    float32_table: pd.DataFrame,
    device: Device,
    batch_size: int,
    scaled_tables: Mapping[str, pd.DataFrame] = MappingProxyType({}),
) -> tuple[PriceOf, tuple[tuple[int, int], ...]]:
    """The seconds of a step by the choices made, without compiling, and the pairs of sites that border.

    `float32_table` is the op table of the untouched network with the loss scaling of float32, compiled at
    `batch_size`; `scaled_tables` are those with each loss scaling that the space offers, by their labels.
    Where the ops of a layer are low in different precisions, which no policy can ask for, each is priced in its
    own all the same: so one op can be changed after the other.

    Raises:
        InputError: the device lacks a figure that a choice needs.
    """
    what_if = WhatIf(float32_table, device, batch_size)
    wanted = PolicyWants(outline, what_if.flow)
    parameters = list(space.parameters().items())
    names = float32_table["op"].to_list()
    site_of = sites_of_ops(space, what_if.flow, [names[op.row] for op in what_if.flow.ops])
    scaling_s = _scaling_seconds(float32_table, scaled_tables, device)

    def price(choices: Choices) -> float:
        named = {name: allowed[choice] for (name, allowed), choice in zip(parameters, choices, strict=True)}
        legal, low = _one_low(space, named)
        wants = [
            named[space.groups[site].name] if site in low and want == low[site] else want
            for site, want in zip(site_of, wanted.of(space.policy(legal)), strict=True)
        ]
        return what_if.price(wants) + scaling_s.get(named.get(LOSS_SCALING, ""), 0.0)

    return price, borders_of(site_of, what_if.flow)


def _one_low(space: SiteSpace, named: Mapping[str, str]) -> tuple[dict[str, str], dict[int, str]]:
    """Choices that a policy can ask for; and by site that was changed for it, the low precision it got."""
    legal = dict(named)
    changed: dict[int, str] = {}
    for region in space.regions:
        low = [site for site in region if named[space.groups[site].name] != "float32"]
        for site in low:
            own, first = named[space.groups[site].name], named[space.groups[low[0]].name]
            if own != first:
                legal[space.groups[site].name] = changed[site] = first
    return legal, changed


def _scaling_seconds(
    float32_table: pd.DataFrame, scaled_tables: Mapping[str, pd.DataFrame], device: Device
) -> dict[str, float]:
    """What a step takes more with another loss scaling: its ops are the same in all precisions."""
    if not scaled_tables:
        return {}
    base = price_table(float32_table, device).step_time_s
    return {label: price_table(table, device).step_time_s - base for label, table in scaled_tables.items()}


def expand(space: SiteSpace, price: PriceOf, borders: tuple[tuple[int, int], ...]) -> CostModel:
    """The cost model with that price around "everything low"; asks for one price a change and pair of changes."""
    parameters = list(space.parameters().items())
    centre = tuple(int(len(allowed) > 1 and name != LOSS_SCALING) for name, allowed in parameters)
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
        regions=space.regions,
    )


def sites_of_ops(space: SiteSpace, flow: Flow, names: Sequence[str]) -> tuple[int | None, ...]:
    """The site of each op of the flow, None for ops of no site; `names` are the ops as policies name them."""
    site_of: dict[tuple[str | None, str], int] = {}
    for site, group in enumerate(space.groups):
        for path in group.paths:
            site_of.update(((path, op), site) for op in (group.ops if group.op is None else (group.op,)))
    return tuple(site_of.get((op.layer, name)) for op, name in zip(flow.ops, names, strict=True))


def borders_of(site_of: Sequence[int | None], flow: Flow) -> tuple[tuple[int, int], ...]:
    """The pairs of sites between which a value passes, directly or through ops that belong to no site."""
    behind: list[frozenset[int]] = []
    pairs: set[tuple[int, int]] = set()
    for op, site in zip(flow.ops, site_of, strict=True):
        sources = frozenset().union(*(behind[edge.source] for edge in op.edges if edge.source >= 0))
        pairs |= {(min(site, s), max(site, s)) for s in sources if site is not None and s != site}
        behind.append(sources if site is None else frozenset({site}))
    return tuple(sorted(pairs))


def _with(choices: Choices, *changes: tuple[int, int]) -> Choices:
    changed = list(choices)
    for site, choice in changes:
        changed[site] = choice
    return tuple(changed)
