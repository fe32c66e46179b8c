"""What a study knows of how much its layers mind low precision."""

from dataclasses import dataclass

from ...evaluators.json_file import read_json
from ...evaluators.sensitivity.result import Sensitivity
from ..home import StudyFolder
from ..sensitivity_words import largest, rows

# The likeliest harm comes first; nobody reads further.
_MOST = 40


@dataclass(frozen=True)
class Sensitive:
    """A group or an op of it: chances of harm, the largest value, and the reason."""

    name: str
    float16: float
    bfloat16: float
    largest: float
    reason: str


def sensitivities(folder: StudyFolder) -> tuple[Sensitive, ...]:
    """The likeliest harm in float16 first; none of a study that has not looked.

    Raises:
        HalfwiseError: the file cannot be read.
    """
    if not folder.sensitivity_file.exists():
        return ()
    found = rows(read_json(Sensitivity, folder.sensitivity_file))[:_MOST]
    return tuple(
        Sensitive(
            name=row.name,
            float16=row.beliefs["float16"].probability,
            bfloat16=row.beliefs["bfloat16"].probability,
            largest=largest(row.group),
            reason=row.beliefs["float16"].reason,
        )
        for row in found
    )
