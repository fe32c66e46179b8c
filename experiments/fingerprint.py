"""What a study must keep while it goes on, in words, and what may change where a person insists."""

import importlib.metadata
from collections.abc import Mapping, Sequence

from ..evaluators.memory_bound import size_words
from ..evaluators.price.devices import Device
from ..evaluators.survey_result import Survey
from ..policies.errors import InputError
from .experiment_file import Experiment
from .workload_source import WorkloadSource

LENGTHS, SOURCE = "lengths of training", "workload source"
# Packages whose version can change what a trial comes to, or what is asked of it.
VERSIONS = ("mindspore", "halfwise")

MAY_CHANGE = frozenset({*VERSIONS, LENGTHS, SOURCE, "sampler"})
"""Terms that a study can go on without, if a person says so: old trials and new ones can still be compared."""

# Of a term that has changed, so many parts are shown on each side.
_SHOWN = 5


def versions_here() -> dict[str, str]:
    """The versions of `VERSIONS` that are installed."""
    return {name: importlib.metadata.version(name) for name in VERSIONS}


def terms_of(
    experiment: Experiment,
    survey: Survey,
    target: str,
    row: Device | None,
    lengths: Sequence[int],
    source: WorkloadSource,
) -> dict[str, list[str]]:
    """What trials are compared by, beyond the space, the sampler and its seed; `lengths` are in steps.

    How many trials are made, how long it may take and how patient it is are not among them: a study may go on
    with more.
    """
    bound = [] if experiment.max_memory is None else [size_words(experiment.max_memory)]
    return {
        "speed": [f"priced on {row.name}" if row else "measured"],
        "memory": bound,
        "device": [target],
        "metric": [survey.metric],
        "network": [
            *(f"{cell.path or 'network'} {cell.type_names[0]}" for cell in survey.cells),
            *(f"{name} {shape}" for name, shape in survey.parameter_shapes.items()),
        ],
        "steps": [str(lengths[0])],
        LENGTHS: [", ".join(map(str, lengths))],
        **{name: [version] for name, version in versions_here().items()},
        SOURCE: source.words(),
    }


def proposer_terms(experiment: Experiment) -> dict[str, list[str]]:
    """Who proposes, as the advisor that is made later will have it among its terms."""
    return {"sampler": [experiment.sampler], "seed": [str(experiment.seed)]}


def refusal(changes: Mapping[str, tuple[Sequence[str], Sequence[str]]]) -> InputError:
    """Why a study does not go on, what is different, and the ways on; `changes` are what was and what is now."""
    said = "; ".join(_change(name, *both) for name, both in changes.items())
    anyway = (
        " Or insist with --resume-anyway: the trials that are there count as if nothing had changed."
        if set(changes) <= MAY_CHANGE
        else ""
    )
    return InputError(
        f"this study was started with other terms, and its trials could not be compared: {said}. Go on with the "
        f"old terms, or start a new study beside it with --new.{anyway}"
    )


def _change(name: str, old: Sequence[str], new: Sequence[str]) -> str:
    gone = [text for text in old if text not in new]
    added = [text for text in new if text not in old]
    if not gone and not added:
        return f"{name}: the same in another order"
    return f"{name}: was {_shown(gone)}, is now {_shown(added)}"


def _shown(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return (", ".join(texts[:_SHOWN]) or "without these") + more
