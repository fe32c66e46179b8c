import numpy as np
from optuna import Study
from optuna.samplers import RandomSampler
from optuna.trial import FrozenTrial

from benchmarks.search.chains import draw_chain
from benchmarks.search.peers import PEERS, StudySearch
from halfwise.search.propose.proposer import Tried

CHAIN = draw_chain(5, 0)


class Watched(RandomSampler):
    """Keeps the study that it samples for."""

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Called before each trial."""
        self.study = study


def test_a_sampler_learns_loss_speed_and_what_does_not_train():
    """Optuna's samplers see a trial's loss and speed-up as values, and a failure as a broken constraint."""
    sampler = Watched(0)
    search = StudySearch(sampler, CHAIN.costs)
    trained, ruined = search.ask(), None
    search.tell(Tried(trained, 0.3))
    while ruined is None or ruined == trained:
        ruined = search.ask()
        search.tell(Tried(ruined, None))
    first, *others = sampler.study.trials
    assert first.values == [0.3, CHAIN.speedup(trained)]
    assert first.params == CHAIN.costs.named(trained)
    # A failure has stand-in values that would beat the first trial, and is yet not among the best.
    assert all(trial.values == [0.0, 0.0] for trial in others)
    assert sampler.study.best_trials == [first]


def test_peers_differ_in_what_they_try():
    """No two names stand for the same search."""
    tried: dict[str, tuple[tuple[int, ...], ...]] = {}
    for name, peer in PEERS.items():
        search, noise = peer(CHAIN, 0), np.random.default_rng(0)
        asked = []
        while len(asked) < 25 and (choices := search.ask()) is not None:
            search.tell(CHAIN.observe(choices, noise).tried)
            asked.append(choices)
        tried[name] = tuple(asked)
    # TPE begins with random draws, so it takes more than its first ten trials to tell them apart.
    assert len(set(tried.values())) == len(PEERS)
