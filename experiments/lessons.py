"""What a search learns from an outcome beyond its figures: quality lost against float32, and who is to blame."""

from typing import Protocol

from ..evaluators.outcome import Direction, Outcome, Place
from ..search.advisors import Advisor, SiteAdvisor
from ..search.site_space import SiteSpace
from .confirmation import quality_lost
from .float32_repeats import Float32Repeats
from .records import StudyInfo


class Lessons(Protocol):
    """Reads an outcome for the advisor of the search."""

    def quality_lost(self, outcome: Outcome) -> float | None:
        """What the policy lost against float32 with the same seed; None where nobody asks."""
        ...

    def blamed(self, outcome: Outcome) -> tuple[str, ...]:
        """The sites that a diagnosis named."""
        ...


class FiguresOnly:
    """For samplers that learn from quality and speed alone."""

    def quality_lost(self, outcome: Outcome) -> float | None:
        """Nothing."""
        return None

    def blamed(self, outcome: Outcome) -> tuple[str, ...]:
        """Nobody."""
        return ()


class OfSites:
    """For searchers over sites."""

    def __init__(self, space: SiteSpace, repeats: Float32Repeats, direction: Direction) -> None:
        """`repeats` hold float32's quality by seed."""
        self._space = space
        self._repeats = repeats
        self._direction: Direction = direction

    def quality_lost(self, outcome: Outcome) -> float | None:
        """In the metric's unit, positive is worse."""
        return quality_lost(outcome.quality, self._repeats.qualities[outcome.seed], self._direction)

    def blamed(self, outcome: Outcome) -> tuple[str, ...]:
        """The sites that hold the first op that went non-finite."""
        return blamed_sites(self._space, outcome.first_non_finite)


def lessons_for(advisor: Advisor, repeats: Float32Repeats | None, info: StudyInfo) -> Lessons:
    """What this advisor learns from."""
    if isinstance(advisor, SiteAdvisor) and repeats is not None:
        return OfSites(advisor.space, repeats, info.direction)
    return FiguresOnly()


def blamed_sites(space: SiteSpace, place: Place | None) -> tuple[str, ...]:
    """The sites that hold the first op that went non-finite, if its diagnosis names a layer.

    Where the op is none of the layer's own (a gradient's, say), all sites of the layer are meant.
    """
    if place is None or place.layer is None:
        return ()
    sites = [site for site in space.groups if place.layer in site.paths]
    exact = [site for site in sites if place.op in ((site.op,) if site.op else site.ops)]
    return tuple(site.name for site in exact or sites)
