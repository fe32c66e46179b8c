"""What a search learns from an outcome beyond its figures: quality lost against float32, and who is to blame."""

from collections.abc import Collection, Mapping
from typing import Protocol

from ..evaluators.outcome import Direction, Outcome, Place
from ..search.advisors import Advisor, SiteAdvisor
from ..search.site_space import SiteSpace
from .confirmation import quality_lost
from .float32_repeats import Float32Repeats
from .records import StudyInfo


class Lessons(Protocol):
    """Reads an outcome for the advisor of the search."""

    def quality_lost(self, outcome: Outcome, float32: Outcome | None) -> float | None:
        """What the policy lost against float32, whose trial is given if it has one; None where nobody asks."""
        ...

    def blamed(self, outcome: Outcome, choices: Mapping[str, str]) -> tuple[str, ...]:
        """The sites that a diagnosis named, of a policy with these choices."""
        ...


class FiguresOnly:
    """For samplers that learn from quality and speed alone."""

    def quality_lost(self, outcome: Outcome, float32: Outcome | None) -> float | None:
        """Nothing."""
        return None

    def blamed(self, outcome: Outcome, choices: Mapping[str, str]) -> tuple[str, ...]:
        """Nobody."""
        return ()


class OfSites:
    """For searchers over sites."""

    def __init__(self, space: SiteSpace, repeats: Float32Repeats, direction: Direction) -> None:
        """`repeats` hold float32's quality by seed."""
        self._space = space
        self._repeats = repeats
        self._direction: Direction = direction

    def quality_lost(self, outcome: Outcome, float32: Outcome | None) -> float | None:
        """In the metric's unit, positive is worse; against the repeat of the same seed where there is no trial."""
        paired = None if float32 is None else outcome.quality_lost(float32)
        if paired is not None:
            return paired
        return quality_lost(outcome.quality, self._repeats.qualities[outcome.seed], self._direction)

    def blamed(self, outcome: Outcome, choices: Mapping[str, str]) -> tuple[str, ...]:
        """The sites that hold the first op that went non-finite, or that left float32."""
        low = {name for name, precision in choices.items() if precision != "float32"}
        return blamed_sites(self._space, outcome.blamed_place, low)


def lessons_for(advisor: Advisor, repeats: Float32Repeats | None, info: StudyInfo) -> Lessons:
    """What this advisor learns from."""
    if isinstance(advisor, SiteAdvisor) and repeats is not None:
        return OfSites(advisor.space, repeats, info.direction)
    return FiguresOnly()


def blamed_sites(space: SiteSpace, place: Place | None, low: Collection[str]) -> tuple[str, ...]:
    """The sites that hold the first op that went non-finite, of those that were low.

    Where the op is none of the layer's own (a gradient's, say), all sites of the layer are meant. Where none of
    these was low, MindSpore may have made one op of several equal ones: those of other layers are meant.
    """
    if place is None:
        return ()
    candidates = [site for site in space.groups if site.name in low]
    in_layer = [site for site in candidates if place.layer in site.paths]
    of_op = [site for site in candidates if place.op in ((site.op,) if site.op else site.ops)]
    exact = [site for site in in_layer if site in of_op]
    return tuple(site.name for site in exact or in_layer or of_op)
