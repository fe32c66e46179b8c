"""The sites of a workload: MindSpore's own layers as wholes, and each op of the layers that users write."""

from collections.abc import Sequence

from ..evaluators.survey_result import SurveyedCell
from ..policies import LowPrecision
from ..policies.layer_types import LAYER_TYPES
from ..search.site_space import SiteGroup
from ..search.space import LayerGroup


def sites_of(
    cells: Sequence[SurveyedCell],
    groups: Sequence[LayerGroup],
    low_precisions: Sequence[LowPrecision],
    low_precision: LowPrecision,
) -> tuple[SiteGroup, ...]:
    """A site for every group of MindSpore's own layers, and one for each op of a group of the user's own.

    Whole layers may take each of `low_precisions`; the ops of one layer share a region, which knows a single low
    precision: they may take `low_precision` alone. Layers whose ops are not known are wholes.
    """
    by_path = {cell.path: cell for cell in cells}
    sites: list[SiteGroup] = []
    for group in groups:
        cell = by_path[group.paths[0]]
        if cell.type_names[0] in LAYER_TYPES or len(cell.ops) < 2:
            choices = ("float32", *low_precisions)
            sites.append(SiteGroup(group.name or ".", group.paths, None, cell.ops, choices))
        else:
            sites += (
                SiteGroup(f"{group.name}::{op}", group.paths, op, cell.ops, ("float32", low_precision))
                for op in cell.ops
            )
    return tuple(sites)
