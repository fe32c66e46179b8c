"""A search that starts from an earlier study: its trials become prior knowledge, never trials of the new one."""

from dataclasses import dataclass, replace

from ..policies.errors import InputError
from ..search.propose.transfer import carried, shared_choices, transferred
from ..search.proposers import Knowledge
from ..search.site_space import SiteSpace
from .home import Home, StudyFolder
from .known_sites import KnownSites, history_of, known_sites
from .progress import Display

# So many new sites are named; of more it is said how many.
_NAMED = 5


@dataclass(frozen=True)
class Newcomer:
    """The study that is about to start: its sites, the name of its workload and of its metric."""

    space: SiteSpace
    workload: str
    metric: str

    def same_network(self, earlier: KnownSites) -> bool:
        """Whether the earlier study's trials are about the very same sites."""
        return (self.space, self.workload) == (earlier.space, earlier.survey.workload)


def earlier_study(study: str, folder: StudyFolder, newcomer: Newcomer) -> StudyFolder:
    """The folder of the earlier study of that name in the same home.

    Raises:
        InputError: there is no such study, or its trials say nothing of this one's sites; the message says why.
    """
    if study == folder.name:
        raise InputError(f"study {study} cannot be started from itself: to go on with it, leave warm_start out")
    source = Home(folder.path.parent).existing_study(study)
    _refuse_unlike(known_sites(source), study, newcomer)
    return source


def was_started(study: str, folder: StudyFolder) -> bool:
    """Whether the study in the folder has begun, with what that earlier study knew then."""
    return folder.sites_file.exists() and known_sites(folder).warm_start == study


def warm_started(
    known: Knowledge, study: str, folder: StudyFolder, newcomer: Newcomer, display: Display
) -> Knowledge:
    """What a search knows beforehand, with what the earlier study of that name has found out.

    A study that goes on keeps what it was given when it began, whatever has become of the earlier one.

    Raises:
        InputError: as `earlier_study`.
    """
    if was_started(study, folder):
        kept = known_sites(folder)
        return replace(known, prior=kept.prior, earlier=kept.earlier, warm_start=study)
    source = earlier_study(study, folder, newcomer)
    earlier = known_sites(source)
    display.note(_in_common(known, earlier, study))
    tried = history_of(source, earlier).values()
    if newcomer.same_network(earlier):
        everything = (*earlier.earlier, *tried)
        return replace(known, earlier=carried(everything, earlier.noise, known.noise), warm_start=study)
    prior = transferred(known.prior, known.costs, earlier.costs, earlier.beliefs(()), earlier.beliefs(tried))
    return replace(known, prior=prior, warm_start=study)


def _refuse_unlike(earlier: KnownSites, study: str, newcomer: Newcomer) -> None:
    """Losses of another metric cannot be compared, and what another precision did says nothing of this one."""
    if earlier.survey.metric != newcomer.metric:
        raise InputError(
            f"study {study} cannot be started from: it measured {earlier.survey.metric}, and this one measures "
            f"{newcomer.metric}"
        )
    there, here = _precisions(earlier.space), _precisions(newcomer.space)
    if there != here:
        raise InputError(
            f"study {study} cannot be started from: it searched {', '.join(there)}, and this one searches "
            f"{', '.join(here)}; give the same `precisions`"
        )


def _precisions(space: SiteSpace) -> list[str]:
    return sorted({choice for choices in space.parameters().values() for choice in choices})


def _in_common(known: Knowledge, earlier: KnownSites, study: str) -> str:
    """Such as "34 of 40 sites known from first; new: head, norm".

    Raises:
        InputError: no site is known.
    """
    shared = {site for site, _ in shared_choices(known.costs, earlier.costs)}
    names = [site.name for site in known.costs.sites]
    new = [name for name in names if name not in shared]
    if not shared:
        raise InputError(
            f"study {study} cannot be started from: none of this network's {len(names)} sites has a name that is "
            f"known there (here {', '.join(names[:_NAMED])}; there "
            f"{', '.join(site.name for site in earlier.costs.sites[:_NAMED])})"
        )
    said = f"{len(shared)} of {len(names)} sites known from {study}"
    if not new:
        return said
    more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
    return f"{said}; new: {', '.join(new[:_NAMED])}{more}"
