"""How a trial ends: told by its worker, given up by another, or dropped before anybody had it."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial, TrialState

from ..policies.errors import HalfwiseError
from .lease import LeaseLost, Owner
from .parts import Part
from .told import GIVEN_UP, PROPOSAL, STATUS, WITHDRAWN, is_interrupted, owner_of

Found = Mapping[str, float | str | list[str]]

# Optuna completes no trial without values, and NSGA-II learns from complete trials only. TPE sorts the
# infeasible out, and NSGA-II ranks them, by the constraint alone: these values decide nothing and stay here.
_STAND_INS = (0.0, 0.0)
_CONSTRAINT = "trains"


def tell(part: Part, place: int, owner: Owner, found: Found) -> None:
    """Store what an owner's trial came to, the status last: from then on another process can close it too.

    Raises:
        LeaseLost: the trial is another's, or over.
    """
    before = part.latest(place)
    number = before.user_attrs[PROPOSAL]["number"]
    if before.state != TrialState.RUNNING or owner_of(before) != owner:
        raise _lost(number)
    trial_id = part.trial_id(place)
    try:
        if found[STATUS] != "failed" and not before.constraints:
            Trial(part.study, trial_id).set_constraint(_CONSTRAINT, 0.0 if found[STATUS] == "trained" else 1.0)
        for key, value in found.items():
            part.storage.set_trial_user_attr(trial_id, key, value)
    except UpdateFinishedTrialError as error:
        raise _lost(number) from error
    close(part, place, found)
    if is_interrupted(part.latest(place)):
        raise _lost(number)


def close(part: Part, place: int, attributes: Mapping[str, Any]) -> None:
    """Close a trial as its attributes say; without a status it fails. Nothing happens to one that is over."""
    status = attributes.get(STATUS)
    try:
        if status == "trained":
            part.study.tell(place, (attributes["quality"], attributes["speed"]))
        elif status == "infeasible":
            part.study.tell(place, _STAND_INS)
        else:
            part.study.tell(place, state=TrialState.FAIL)
    except (UpdateFinishedTrialError, ValueError):
        if not part.latest(place).state.is_finished():
            raise


def give_up(part: Part, place: int) -> None:
    """Close a trial as interrupted, unless it is told or over by now."""
    if STATUS in (known := part.latest(place).user_attrs):
        close(part, place, known)
    else:
        _fail_as(part, place, GIVEN_UP)


def withdraw(part: Part, place: int) -> None:
    """Close a trial as one that was never proposed."""
    _fail_as(part, place, WITHDRAWN)


def drop_unproposed(part: Part) -> list[FrozenTrial]:
    """Close what processes left that were ended while they proposed, and give all other trials. Needs the turn."""
    trials = part.trials()
    for trial in trials:
        if PROPOSAL not in trial.user_attrs and trial.state == TrialState.RUNNING:
            close(part, trial.number, {})
    return [trial for trial in trials if PROPOSAL in trial.user_attrs]


def finite(number: int, what: str, value: object) -> float:
    """A figure of a trial as a float.

    Raises:
        HalfwiseError: it is no finite number.
    """
    # bool counts as a number in Python, and no outcome is one.
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise HalfwiseError(f"trial {number}: {what} must be a finite number, but got {value!r}")
    return float(value)


def _fail_as(part: Part, place: int, mark: str) -> None:
    try:
        part.storage.set_trial_user_attr(part.trial_id(place), mark, True)
    except UpdateFinishedTrialError:
        return
    close(part, place, {})


def _lost(number: int) -> LeaseLost:
    return LeaseLost(
        f"trial {number} was taken for abandoned and given to another worker: what was found here is not counted"
    )
