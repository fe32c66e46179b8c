"""What training a trial longer came to, kept beside the trial: Optuna lets no finished trial change."""

import copy
from collections.abc import Mapping
from typing import Any

import optuna
from optuna.trial import FrozenTrial

_KEY = "longer"
# What a trial that did not train at its new length must no longer say.
_FIGURES = ("quality", "quality_lost")


def keep_longer(study: optuna.Study, number: int, found: Mapping[str, Any]) -> None:
    """Keep what an Optuna trial's attributes are now; `number` is its place in the study. The latest stay."""
    study.set_user_attr(f"{_KEY} {number}", dict(found))


def latest_trials(study: optuna.Study) -> list[FrozenTrial]:
    """The study's trials with the attributes of their longest training; values are those of the first length."""
    known = study.user_attrs
    return [_latest(trial, known.get(f"{_KEY} {trial.number}")) for trial in study.get_trials(deepcopy=False)]


def _latest(trial: FrozenTrial, found: Mapping[str, Any] | None) -> FrozenTrial:
    if found is None:
        return trial
    latest = copy.copy(trial)
    kept = {key: value for key, value in trial.user_attrs.items() if key not in _FIGURES}
    latest.user_attrs = {**kept, **found}
    return latest
