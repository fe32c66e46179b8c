"""The Optuna studies that make up one study: its levels, its sampler's trials, its turns and its documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import optuna
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from ..policies.errors import InputError
from ..policies.near_miss import hint
from .documents import Documents
from .front import Direction

LEVELS, SAMPLED = "levels", "search"
_TURNS, _DOCUMENTS = "turns", "documents"
# So many of a storage's studies are named to somebody who asked for another one.
_SHOWN = 10
_ONE: tuple[Direction, ...] = ("minimize",)


@dataclass(frozen=True)
class Part:
    """One Optuna study."""

    storage: BaseStorage
    study: optuna.Study
    study_id: int

    @classmethod
    def create(cls, storage: BaseStorage, name: str, directions: Sequence[Direction]) -> Self:
        """The study of that name, made if it is not there."""
        # Optuna announces each study on stderr, which is the progress display's place.
        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            # The stock sampler that Optuna would set draws from its own clock; `ask` sets the real one.
            sampler = optuna.samplers.RandomSampler(0)
            study = optuna.create_study(
                storage=storage, study_name=name, directions=directions, sampler=sampler, load_if_exists=True
            )
        finally:
            optuna.logging.set_verbosity(verbosity)
        return cls(storage, study, storage.get_study_id_from_name(name))

    def trials(self) -> list[FrozenTrial]:
        """All trials, in their order."""
        return self.study.get_trials(deepcopy=False)

    def running(self) -> list[FrozenTrial]:
        """Those that are not over."""
        return self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))

    def trial_id(self, place: int) -> int:
        """What the storage calls the trial of that number in the Optuna study."""
        return self.storage.get_trial_id_from_study_id_trial_number(self.study_id, place)

    def latest(self, place: int) -> FrozenTrial:
        """The trial as it is now."""
        return self.storage.get_trial(self.trial_id(place))


@dataclass(frozen=True)
class Parts:
    """All parts of a study."""

    levels: Part
    sampled: Part
    turns: Part
    documents: Part

    @classmethod
    def create(cls, storage: BaseStorage, study: str, quality_direction: Direction) -> Self:
        """Those of the study, made if they are not there.

        Raises:
            HalfwiseError: the storage cannot be written.
        """
        trials: tuple[Direction, ...] = (quality_direction, "maximize")
        return cls(
            Part.create(storage, part_name(study, LEVELS), trials),
            Part.create(storage, part_name(study, SAMPLED), trials),
            Part.create(storage, part_name(study, _TURNS), _ONE),
            Part.create(storage, part_name(study, _DOCUMENTS), _ONE),
        )

    @property
    def of_trials(self) -> tuple[Part, Part]:
        """The two that hold trials."""
        return self.levels, self.sampled


def part_name(study: str, part: str) -> str:
    """What a part is called in the storage; `study` is empty where the storage holds one study only."""
    return f"{study}/{part}" if study else part


def stored_documents(storage: BaseStorage, study: str) -> Documents:
    """The documents of a study that is there already.

    Raises:
        InputError: the storage has no such study; the message lists those that it has.
    """
    name, names = part_name(study, _DOCUMENTS), [each.study_name for each in storage.get_all_studies()]
    if name not in names:
        raise unknown_study("the storage", study, studies_among(names))
    return Documents(storage, storage.get_study_id_from_name(name))


def unknown_study(storage: object, study: str, there: Sequence[str]) -> InputError:
    """The refusal of a study that a storage does not hold: what comes near, or else the first that it holds."""
    rest = ", …" if len(there) > _SHOWN else ""
    known = hint(study, there) or f"; it holds {', '.join(there[:_SHOWN]) or 'none'}{rest}"
    return InputError(f"there is no study {study!r} in {storage}{known}")


def studies_among(names: Sequence[str]) -> tuple[str, ...]:
    """The studies that are whole among the Optuna studies of a storage, which may hold others' too."""
    end = f"/{_DOCUMENTS}"
    return tuple(sorted(name.removesuffix(end) for name in names if name.endswith(end)))
