"""What a group's own pass in low precision showed."""

from dataclasses import dataclass

from ..precision import LowPrecision
from .rule import LEAST, Harm, Rule, bounded, saturating
from .statistics import GroupStatistics

_LIKELY = 0.97


@dataclass(frozen=True)
class NonFiniteAloneRule:
    """One step with only this group in low precision gave NaN or infinity, at any loss scale."""

    name: str = "non-finite alone"

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """None when the group was not tried."""
        effect = group.alone_in(precision)
        if effect is None:
            return None
        if effect.finite:
            return Harm(self.name, LEAST, f"one step with only this in {precision} stayed finite")
        return Harm(self.name, _LIKELY, f"one step with only this in {precision} is not finite")


@dataclass(frozen=True)
class MovedAloneRule:
    """One step with only this group in low precision moved the loss or the gradient.

    A gradient that moves by its own length points elsewhere; one batch's differs from the next one's by about as
    much. So `even_distance` is half of that, beyond what float32 repeated moves, and `even_loss` a tenth of the
    loss.
    """

    name: str = "moved alone"
    even_distance: float = 0.5
    even_loss: float = 0.1

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """None when the group was not tried, or nothing can be compared because it was not finite."""
        effect = group.alone_in(precision)
        if effect is None or effect.gradient_distance is None or effect.loss_change is None:
            return None
        moved = max(effect.gradient_distance - effect.repeat_distance, 0.0)
        spared = (1 - saturating(moved, self.even_distance)) * (1 - saturating(effect.loss_change, self.even_loss))
        reason = (
            f"with only this in {precision} one step's gradient moved by {effect.gradient_distance:.2g} of its "
            f"length, the loss by {effect.loss_change:.2g}"
        )
        return Harm(self.name, bounded(1 - spared), reason)


@dataclass(frozen=True)
class UnlessHarmlessAlone:
    """Another rule, believed a tenth where the group's pass alone ran through the same values unharmed.

    A masked score of -1e9 becomes minus infinity, which is as good before a softmax.
    """

    rule: Rule
    believed: float = 0.1
    harmless_distance: float = 0.1

    @property
    def name(self) -> str:
        """The other rule's."""
        return self.rule.name

    def judge(self, group: GroupStatistics, precision: LowPrecision) -> Harm | None:
        """The other rule's answer where there was no pass, or it did harm."""
        harm = self.rule.judge(group, precision)
        effect = group.alone_in(precision)
        if harm is None or effect is None or effect.gradient_distance is None:
            return harm
        if effect.gradient_distance - effect.repeat_distance > self.harmless_distance:
            return harm
        reason = f"{harm.reason}; one step with only this in {precision} took no harm"
        return Harm(harm.rule, bounded(self.believed * harm.probability), reason)
