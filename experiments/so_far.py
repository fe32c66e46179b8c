"""What a study has come to, worked out from its folder alone: as its search said at the end, or would say now."""

from dataclasses import replace

from .conclusion import findings
from .cost import cost_of
from .home import StudyFolder
from .optimality import with_bound
from .records import StudyInfo, StudySummary
from .study_file import read_records


def so_far(info: StudyInfo, folder: StudyFolder) -> StudySummary:
    """Front, choice, bound and cost; nothing is trained or written.

    Raises:
        HalfwiseError: a file of the study cannot be read.
    """
    found = with_bound(info, folder, findings(info, folder, read_records(folder)))
    return replace(found, cost=cost_of(folder))
