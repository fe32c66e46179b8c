"""The sites of a workload: MindSpore's own layers as wholes, and each op of the layers that users write."""

from collections.abc import Sequence

from ..evaluators.survey_result import SurveyedCell
from ..policies import LowPrecision
from ..policies.layer_types import LAYER_TYPES
from ..search.site_space import SiteGroup
from ..search.space import LayerGroup


def sites_of(
    cells: Sequence[SurveyedCell], groups: Sequence[LayerGroup], low_precisions: Sequence[LowPrecision]
) -> tuple[SiteGroup, ...]:
    """A site for every group of MindSpore's own layers, and one for each op of a group of the user's own.

    Each may take any of `low_precisions`; which of them the ops of one layer take together, `SiteSpace.regions`
    says. Layers whose ops are not known are wholes.
    """
    by_path = {cell.path: cell for cell in cells}
    choices = ("float32", *low_precisions)
    sites: list[SiteGroup] = []
    for group in groups:
        cell = by_path[group.paths[0]]
        if cell.type_names[0] in LAYER_TYPES or len(cell.ops) < 2:
            sites.append(SiteGroup(group.name or ".", group.paths, None, cell.ops, choices))
        else:
            ops = cell.ops
            sites += (SiteGroup(f"{group.name}::{op}", group.paths, op, ops, choices) for op in ops)
    return tuple(sites)
