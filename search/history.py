"""The trials of a study over sites, read back from its journal as its searcher saw them."""

from collections.abc import Mapping
from pathlib import Path

import optuna

from .journal import journal_errors, open_journal
from .longer import latest_trials
from .propose import CostModel, Tried
from .propose.optuna_sampler import tried_of


def read_history(journal: Path, costs: CostModel) -> Mapping[int, Tried]:
    """What was proposed and what became of it, by trial number; the fixed policies have no sites and are left out.

    Raises:
        HalfwiseError: the journal cannot be read.
        InputError: it holds other sites than the cost model.
    """
    with journal_errors(journal):
        study = optuna.load_study(study_name="search", storage=open_journal(journal))
        trials = latest_trials(study)
    found = {trial.user_attrs.get("number"): tried_of(costs, trial) for trial in trials}
    return {number: tried for number, tried in found.items() if number is not None and tried is not None}
