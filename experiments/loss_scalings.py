"""What training without a loss scale risks, where a search may choose it."""

from ..evaluators.sensitivity.result import Sensitivity
from ..policies import NoLossScaling
from ..policies.rules import UnscaledUnderflowRule, noisy_or
from ..search.site_space import LOSS_SCALING, SiteSpace


def scaling_chances(space: SiteSpace, found: Sensitivity) -> dict[tuple[str, str], float]:
    """The chance that training without loss scaling does harm: that gradients of some site vanish in float16.

    It is that of everything that may be float16 in float16. Nothing is known of a static scale.
    """
    narrow = {group.name for group in space.groups if "float16" in group.choices}
    rule = UnscaledUnderflowRule()
    harms = [rule.judge(group, "float16") for group in found.groups if group.name in narrow]
    chance = noisy_or(harm.probability for harm in harms if harm is not None)
    without = (scaling for scaling in space.other_loss_scalings if isinstance(scaling, NoLossScaling))
    return {(LOSS_SCALING, scaling.label): chance for scaling in without}
