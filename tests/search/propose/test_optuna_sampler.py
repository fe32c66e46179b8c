"""Proposers in real Optuna studies, and Optuna's own conformance cases.

Left out of Optuna's cases: `RelativeSamplerTestCase` but for `test_trial_relative_params`, because its relative
spaces have numbers where this sampler has its sites; `SingleOnlySamplerTestCase`, because several objectives are
welcome.
"""

from collections.abc import Callable

import numpy as np
import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)
from optuna.trial import TrialState

from halfwise.search.propose.aimet import Aimet
from halfwise.search.propose.exhaustive import Exhaustive
from halfwise.search.propose.optuna_sampler import History, ProposerSampler, attributes, tried_of
from halfwise.search.propose.proposer import Proposer, Tried
from halfwise.search.propose.reinforce import Reinforce

from .models import additive, choices_of, cost_models, history, row

MODEL = row(0.5, 0.1, 0.4, 0.3)
OUTCOME = additive(0.1, 0.2, float("inf"), 0.05)


def _sampler() -> Callable[[], BaseSampler]:
    return lambda: ProposerSampler(Reinforce(MODEL), MODEL, seed=0)


class TestOptunaBasic(BasicSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        """What the cases are run with."""
        return _sampler()


class TestOptunaMultiObjective(MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        """What the cases are run with."""
        return _sampler()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_optuna_relative_params(n_jobs: int):
    """Optuna's case of relative parameters that are sampled when the first one is suggested."""
    RelativeSamplerTestCase().test_trial_relative_params(n_jobs, _sampler())


def _study(proposer: Proposer, seed: int = 0) -> optuna.Study:
    sampler = ProposerSampler(proposer, MODEL, seed)
    return optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)


def _suggest(trial: optuna.Trial) -> tuple[int, ...]:
    return MODEL.placed({site.name: trial.suggest_categorical(site.name, site.choices) for site in MODEL.sites})


def _objective(trial: optuna.Trial) -> tuple[float, float]:
    choices = _suggest(trial)
    for key, value in attributes(MODEL, OUTCOME(choices)).items():
        trial.set_user_attr(key, value)
    return 0.0, MODEL.speedup(choices)


def _tried(study: optuna.Study) -> list[Tried]:
    return [tried for trial in study.trials if (tried := tried_of(MODEL, trial)) is not None]


@pytest.mark.parametrize("proposer", [Aimet(MODEL), Exhaustive(MODEL)])
def test_a_study_tries_what_the_proposer_proposes(proposer: Proposer):
    """Through Optuna a proposer gets the same history, failures included, and so proposes the same."""
    study = _study(proposer)
    study.optimize(_objective, n_trials=7)
    assert _tried(study) == history(proposer, OUTCOME, 7)


def test_a_study_with_nothing_left_draws_at_random():
    """When the proposer is through, the study goes on with random choices of the sites."""
    study = _study(Aimet(MODEL))
    study.optimize(_objective, n_trials=40)
    alone = history(Aimet(MODEL), OUTCOME, 100)
    assert len(alone) < 20
    assert _tried(study)[: len(alone)] == alone
    assert len(set(choices_of(_tried(study)))) > len(alone)


def test_a_resumed_study_goes_on_as_if_it_had_never_stopped():
    """A fresh sampler on the trials of another one proposes what that one would have, draws at random too."""
    whole, first = _study(Reinforce(MODEL), seed=4), _study(Reinforce(MODEL), seed=4)
    whole.optimize(_objective, n_trials=12)
    first.optimize(_objective, n_trials=5)
    interrupted = first.ask()
    _suggest(interrupted)
    first.tell(interrupted, state=TrialState.FAIL)
    second = _study(Reinforce(MODEL), seed=4)
    second.add_trials(first.trials)
    second.optimize(_objective, n_trials=7)
    assert _tried(second) == _tried(whole)


def test_running_trials_are_pending_and_not_proposed_again():
    """Several trials in flight get different policies."""
    study = _study(Exhaustive(MODEL))
    asked = [_suggest(study.ask()) for _ in range(5)]
    assert len(set(asked)) == 5
    assert _tried(study) == [Tried(choices, None, pending=True) for choices in asked]


def test_a_trial_that_failed_for_a_reason_is_not_asked_for_again():
    """With a cause, a failed trial says nothing of its policy but is not repeated; without one it is."""
    proposals = []
    for cause in (None, "ran out of memory"):
        study = _study(Exhaustive(MODEL))
        trial = study.ask()
        first = _suggest(trial)
        if cause:
            trial.set_user_attr("cause", cause)
        study.tell(trial, state=TrialState.FAIL)
        proposals.append(_suggest(study.ask()) == first)
    assert proposals == [True, False]


def test_fixed_parameters_are_left_alone():
    """Where a user fixes a site, the others are still the proposer's."""
    study = _study(Exhaustive(MODEL))
    study.enqueue_trial({"s0": "float32"})
    assert _suggest(study.ask()) == (0, 1, 1, 1)


def test_a_trial_is_no_history_of_itself():
    """A trial that is tried anew, its choices already on it, may get these choices again."""
    study = _study(Exhaustive(MODEL))
    study.enqueue_trial({}, user_attrs=attributes(MODEL, Tried((1, 1, 1, 1), None)))
    assert _suggest(study.ask()) == (1, 1, 1, 1)


@given(cost_models(), st.data())
def test_what_is_recorded_is_read_back(model, data):
    """A trial written as attributes is the same trial when read, whatever its choices, loss and blame."""
    choices = tuple(data.draw(st.integers(0, size - 1)) for size in model.sizes)
    lost = data.draw(st.none() | st.floats(-10, 10))
    blamed = data.draw(st.frozensets(st.integers(0, len(model.sites) - 1)))
    written = Tried(choices, lost, blamed)
    trial = optuna.create_trial(value=0.0, user_attrs=attributes(model, written))
    assert tried_of(model, trial) == written


def test_a_finished_trial_is_read_once_and_a_changed_one_anew():
    """What is known of a finished trial is kept; new attributes, or another state, are read again."""
    study, reader = _study(Exhaustive(MODEL)), History(MODEL)
    running = study.ask()
    choices = _suggest(running)
    assert reader.of(study.get_trials(deepcopy=False)) == [Tried(choices, None, pending=True)]
    running.set_user_attr("quality_lost", 0.25)
    study.tell(running, (0.0, 1.0))
    first = reader.of(study.get_trials(deepcopy=False))
    assert first == [Tried(choices, 0.25)]
    assert reader.of(study.get_trials(deepcopy=False))[0] is first[0]
    longer = study.get_trials()[0]
    longer.user_attrs = {**longer.user_attrs, "quality_lost": 0.5}
    assert reader.of([longer]) == [Tried(choices, 0.5)]


def test_trials_of_something_else_are_not_seen():
    """A trial without choices for all sites, such as a fixed policy, is no history of these sites."""
    assert tried_of(MODEL, optuna.create_trial(value=0.0)) is None
    assert tried_of(MODEL, optuna.create_trial(value=0.0, user_attrs={"choices": {"s0": "float16"}})) is None


def test_seeds_differ_and_equal_seeds_agree():
    """The seed alone decides the draws."""
    draws = []
    for seed in (1, 1, 2):
        study = _study(Reinforce(MODEL), seed)
        study.optimize(_objective, n_trials=8)
        draws.append(choices_of(_tried(study)))
    assert draws[0] == draws[1] != draws[2]
    assert len(np.unique(draws[0])) > 1
