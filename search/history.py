"""The trials of a study over sites, read back from its storage as its searcher saw them."""

from collections.abc import Mapping
from pathlib import Path

import optuna
from optuna.storages import BaseStorage

from ..policies.errors import HalfwiseError
from .longer import latest_trials
from .parts import SAMPLED, part_name
from .propose import CostModel, Tried
from .propose.optuna_sampler import tried_of
from .storage import open_storage
from .storage_address import StorageAddress
from .told import PROPOSAL


def read_history(journal: Path, costs: CostModel) -> Mapping[int, Tried]:
    """What a study's own journal says was proposed and what became of it, by trial number.

    The fixed policies have no sites and are left out.

    Raises:
        HalfwiseError: the journal is not there, or cannot be read.
        InputError: it holds other sites than the cost model.
    """
    if not journal.exists():
        raise HalfwiseError(f"there is no journal {journal}: this study was searched in another storage")
    return history_of(open_storage(StorageAddress.parse(None, journal)), "", costs)


def history_of(storage: BaseStorage, study: str, costs: CostModel) -> Mapping[int, Tried]:
    """As `read_history`, from any storage; `study` is its name there, empty in a journal.

    Raises:
        InputError: it holds other sites than the cost model.
        HalfwiseError: it holds no such study, or cannot be read.
    """
    name = part_name(study, SAMPLED)
    try:
        trials = latest_trials(optuna.load_study(study_name=name, storage=storage))
    except KeyError as error:
        raise HalfwiseError(f"the storage holds no trials of study {study!r}") from error
    found = {trial.user_attrs.get(PROPOSAL, {}).get("number"): tried_of(costs, trial) for trial in trials}
    return {number: tried for number, tried in found.items() if number is not None and tried is not None}
