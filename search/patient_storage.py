"""A database as Optuna's storage that outlasts lost connections for a while, and then says so once, clearly."""

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from optuna.distributions import BaseDistribution
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from ..policies.errors import HalfwiseError
from .storage_address import StorageAddress

PATIENCE_S = 60
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0
# Drivers give a refused login no code of its own; what PostgreSQL and MySQL say in English is not waited for.
_FINAL = (
    "authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "Access denied",
    "Unknown database",
)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Patience:
    """How long to go on trying in all, from the first refusal on, and what to call the storage meanwhile."""

    address: StorageAddress
    seconds: float = PATIENCE_S

    def call(self, work: Callable[[], Result]) -> Result:
        """Do something with the database, again and again while the connection is lost.

        What was under way when it was lost may have been done: `work` must be such that twice does no harm.

        Raises:
            HalfwiseError: the database stayed away, or it refused the work.
        """
        deadline, pause_s = None, _FIRST_PAUSE_S
        while True:
            try:
                return work()
            except (StorageInternalError, SQLAlchemyError) as error:
                cause = _cause(error)
                if not _may_pass(cause):
                    raise self._refused(cause) from error
                deadline = time.monotonic() + self.seconds if deadline is None else deadline
                if time.monotonic() + pause_s > deadline:
                    raise self._away(cause) from error
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _away(self, cause: BaseException) -> HalfwiseError:
        return HalfwiseError(
            f"the storage {self.address} has not answered for {self.seconds:g} s: {self._words(cause)}. "
            "Nothing that finished is lost: see to the server, then start the same command again"
        )

    def _refused(self, cause: BaseException) -> HalfwiseError:
        return HalfwiseError(f"the storage {self.address} refused what halfwise asked of it: {self._words(cause)}")

    def _words(self, cause: BaseException) -> str:
        """The driver's first line: what follows may be a whole statement."""
        said = str(cause.orig if isinstance(cause, DBAPIError) else cause).strip() or type(cause).__name__
        return self.address.hide(said.splitlines()[0]).rstrip(".")


class PatientStorage(BaseStorage):
    """Any storage, each call of which is made with patience."""

    def __init__(self, inner: BaseStorage, patience: Patience) -> None:
        self._inner = inner
        self._patience = patience

    def create_new_study(self, directions: Sequence[StudyDirection], study_name: str | None = None) -> int:
        return self._patience.call(lambda: self._inner.create_new_study(directions, study_name))

    def delete_study(self, study_id: int) -> None:
        self._patience.call(lambda: self._inner.delete_study(study_id))

    def set_study_user_attr(self, study_id: int, key: str, value: Any) -> None:
        self._patience.call(lambda: self._inner.set_study_user_attr(study_id, key, value))

    def set_study_system_attr(self, study_id: int, key: str, value: Any) -> None:
        self._patience.call(lambda: self._inner.set_study_system_attr(study_id, key, value))

    def get_study_id_from_name(self, study_name: str) -> int:
        return self._patience.call(lambda: self._inner.get_study_id_from_name(study_name))

    def get_study_name_from_id(self, study_id: int) -> str:
        return self._patience.call(lambda: self._inner.get_study_name_from_id(study_id))

    def get_study_directions(self, study_id: int) -> list[StudyDirection]:
        return self._patience.call(lambda: self._inner.get_study_directions(study_id))

    def get_study_user_attrs(self, study_id: int) -> dict[str, Any]:
        return self._patience.call(lambda: self._inner.get_study_user_attrs(study_id))

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        return self._patience.call(lambda: self._inner.get_study_system_attrs(study_id))

    def get_all_studies(self) -> list[Any]:
        return self._patience.call(self._inner.get_all_studies)

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        return self._patience.call(lambda: self._inner.create_new_trial(study_id, template_trial))

    def set_trial_param(
        self, trial_id: int, param_name: str, param_value_internal: float, distribution: BaseDistribution
    ) -> None:
        self._patience.call(
            lambda: self._inner.set_trial_param(trial_id, param_name, param_value_internal, distribution)
        )

    def get_trial_id_from_study_id_trial_number(self, study_id: int, trial_number: int) -> int:
        return self._patience.call(
            lambda: self._inner.get_trial_id_from_study_id_trial_number(study_id, trial_number)
        )

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        return self._patience.call(lambda: self._inner.set_trial_state_values(trial_id, state, values))

    def set_trial_intermediate_value(self, trial_id: int, step: int, intermediate_value: float) -> None:
        self._patience.call(lambda: self._inner.set_trial_intermediate_value(trial_id, step, intermediate_value))

    def set_trial_user_attr(self, trial_id: int, key: str, value: Any) -> None:
        self._patience.call(lambda: self._inner.set_trial_user_attr(trial_id, key, value))

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        self._patience.call(lambda: self._inner.set_trial_system_attr(trial_id, key, value))

    def get_trial(self, trial_id: int) -> FrozenTrial:
        return self._patience.call(lambda: self._inner.get_trial(trial_id))

    def get_all_trials(
        self, study_id: int, deepcopy: bool = True, states: Container[TrialState] | None = None
    ) -> list[FrozenTrial]:
        return self._patience.call(lambda: self._inner.get_all_trials(study_id, deepcopy, states))

    def remove_session(self) -> None:
        self._inner.remove_session()


def _cause(error: Exception) -> BaseException:
    """What the driver said: Optuna wraps it."""
    return error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error


def _may_pass(cause: BaseException) -> bool:
    """Whether it is a matter of the connection or of the moment, not of what was asked."""
    lost = isinstance(cause, DBAPIError) and cause.connection_invalidated
    passing = lost or isinstance(cause, (OperationalError, InterfaceError, NoConnection))
    return passing and not any(words in str(cause) for words in _FINAL)
