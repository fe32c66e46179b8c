"""The sites of a network priced on one device: as a cost model to search by, and each policy by itself."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ..evaluators.price import Device
from ..evaluators.survey_result import Survey
from ..search.propose import CostModel
from ..search.site_space import SiteSpace
from .site_costs import PriceOf, expand, price_of


@dataclass(frozen=True)
class SitePrices:
    """`costs` is exact near the policy with everything low, `step_time_s` the what-if price of any choices."""

    costs: CostModel
    step_time_s: PriceOf


def site_prices(
    space: SiteSpace,
    survey: Survey,
    tables: Mapping[str, pd.DataFrame],
    device: Device,
    costs: CostModel | None = None,
) -> SitePrices:
    """Prices on a device, from the op tables of the untouched network; `costs` where they are known already.

    `tables` has one for each loss scaling that the space offers, by its label.

    Raises:
        InputError: the device lacks a figure that a choice needs.
    """
    base = tables[space.loss_scaling.label]
    price, borders = price_of(space, survey.outline, base, device, survey.batch_size, tables)
    return SitePrices(costs or expand(space, price, borders), price)
