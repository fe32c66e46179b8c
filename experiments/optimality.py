"""How good a study's choice is: how much priced speed is left above it, for certain and under the beliefs.

Only where speed is priced, and of studies over sites: elsewhere nothing is known of policies that were not tried.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..policies import load_policy, save_policy
from ..search.front import Point, measured
from ..search.propose import Tried
from ..search.propose.bound import Bound, bound_of
from .home import StudyFolder
from .kept_bound import keep_bound, kept_bound
from .records import StudyInfo, StudySummary
from .study_file import BASELINE

if TYPE_CHECKING:
    # It brings in Optuna, which a study without sites never needs.
    from .known_sites import KnownSites


def with_bound(info: StudyInfo, folder: StudyFolder, summary: StudySummary) -> StudySummary:
    """The summary with the bound on its choice, where there is one: that which was kept, or worked out now.

    Raises:
        HalfwiseError: the study's journal cannot be read.
    """
    if info.priced_for is None or summary.best is None or not folder.sites_file.exists():
        return summary
    return replace(summary, bound=kept_bound(summary, folder) or _bound_now(summary.best, folder))


def _bound_now(best: Point, folder: StudyFolder) -> Bound:
    from .known_sites import failed_of, history_of, known_sites

    known = known_sites(folder)
    tried = history_of(folder, known)
    return bound_of(
        known.costs,
        known.beliefs(tried.values()),
        failed_of(folder, known, tried),
        known.max_quality_lost,
        _speedup(best, tried, known),
    )


def concluded(info: StudyInfo, folder: StudyFolder, summary: StudySummary) -> StudySummary:
    """The summary with the bound on its choice, which is kept, and written into the chosen policy's file too."""
    bounded = with_bound(info, folder, summary)
    if bounded.bound is not None:
        keep_bound(bounded.bound, bounded, folder)
    if bounded.bound is not None and bounded.best_policy is not None:
        policy = load_policy(bounded.best_policy)
        save_policy(policy.replace(results={**policy.results, **bound_fields(bounded.bound)}), bounded.best_policy)
    return bounded


def bound_words(bound: Bound, best: Point) -> str:
    """Such as "At most 1.3% of priced speed is left above trial 7: every policy beyond that was shown to fail"."""
    doubt = "" if best.confirmed or best.name == BASELINE else " (not confirmed)"
    return (
        f"At most {bound.left:.1%} of priced speed is left above {best.label}{doubt}: every policy beyond that "
        f"was shown to fail. Under the search's beliefs: {bound.left_by_belief:.1%}."
    )


def bound_fields(bound: Bound) -> dict[str, Any]:
    """For files: shares of speed, 0.013 is 1.3%."""
    return {"priced_speed_left": bound.left, "priced_speed_left_by_belief": bound.left_by_belief}


def _speedup(best: Point, tried: Mapping[int, Tried], known: "KnownSites") -> float:
    """By the cost model, as all others; of a policy that names no sites, by its own price.

    The float32 level scales no loss, where the cost model's float32 does as the experiment says.
    """
    if best.number in tried:
        return known.costs.speedup(tried[best.number].choices)
    _, samples_per_s = measured(best)
    return known.costs.float32_step_time_s * samples_per_s / known.survey.batch_size
