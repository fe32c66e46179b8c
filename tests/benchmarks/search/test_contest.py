from itertools import product

import numpy as np
import pytest

from benchmarks.search.chains import Chains, draw_chain
from benchmarks.search.contest import Standing, Step, best_peer, hold, score, search
from benchmarks.search.curves import curves_figure
from benchmarks.search.peers import PEERS
from benchmarks.search.problems import Observation, Places
from benchmarks.search.table import standings_table
from halfwise.search.hypervolume import hypervolume, staircase
from halfwise.search.propose.cost_model import Choices
from halfwise.search.propose.proposer import Tried

REFERENCES = ((1.0, 1.0), (1.0, 0.5))


class Ruinous:
    """A short chain in which site 0 ruins training, and finding that out counts half a trial."""

    def __init__(self) -> None:
        self._chain = draw_chain(6, 1)
        self.costs, self.noise, self.references = self._chain.costs, self._chain.noise, self._chain.references
        self.prior = self._chain.prior

    def speedup(self, choices: Choices) -> float:
        """The chain's."""
        return self._chain.speedup(choices)

    def quality_lost(self, choices: Choices) -> float | None:
        """The chain's, or None."""
        return None if choices[0] else self._chain.quality_lost(choices)

    def observe(self, choices: Choices, rng: np.random.Generator) -> Observation:
        """A trial of the chain, or a failure that blames site 0."""
        if choices[0]:
            return Observation(Tried(choices, None, frozenset({0})), 1.5)
        return self._chain.observe(choices, rng)

    def exact_front(self) -> Places:
        """The front of the 32 policies that train."""
        every = (c for c in product((0, 1), repeat=6) if not c[0])
        return staircase((self.speedup(c), self._chain.quality_lost(c)) for c in every)


def test_a_score_is_the_share_of_the_exact_area_by_true_figures():
    """Shares follow from true losses alone; what is recommended follows from the observed ones."""
    steps = (
        Step(1, 1.5, 0.4, 0.6),
        Step(2.5, 2.0, None, None),
        Step(3.5, 1.2, 0.1, 0.7),
        Step(4.5, 1.1, 0.2, 0.05),
    )
    found = score(steps, REFERENCES, (0.5, 0.25), 6)
    # 0.5 x 0.6; then 0.2 x 0.3 more; the last is beaten by the one before it.
    assert found.anytime == pytest.approx([0.6, 0.6, 0.6, 0.72, 0.72, 0.72])
    assert found.anytime_low_loss == pytest.approx([0.2, 0.2, 0.2, 0.44, 0.44, 0.44])
    # By what was observed the second one that trained is beaten: it seemed to lose 0.7.
    assert found.recommended == pytest.approx((0.5 * 0.6 + 0.1 * 0.2) / 0.5)


def test_nothing_found_scores_nothing():
    """A search without a trial has a share of 0 throughout."""
    found = score((), REFERENCES, (0.5, 0.25), 3)
    assert (found.anytime, found.anytime_low_loss, found.recommended) == ((0, 0, 0), (0, 0, 0), 0)


@pytest.mark.parametrize("peer", PEERS)
def test_every_peer_searches_what_may_fail_within_its_budget(peer: str):
    """Each peer copes with failures, is the same for the same seed, and spends no more than it has."""
    steps = search(Ruinous(), PEERS[peer], 2, 12)
    assert steps == search(Ruinous(), PEERS[peer], 2, 12)
    assert 2 <= len(steps) <= 12
    counts = np.diff([0, *(step.counted for step in steps)])
    assert counts.tolist() == [1.0 if step.quality_lost is not None else 1.5 for step in steps]
    assert steps[-1].counted <= 12


def test_aimet_is_told_what_it_needs_to_rank():
    """AIMET's trials are all low, each site alone, then prefixes; the site that fails alone comes last."""
    steps = search(Ruinous(), PEERS["aimet"], 0, 100)
    assert [step.quality_lost is None for step in steps] == [True, True, *[False] * (len(steps) - 2)]
    best = max(step.speedup for step in steps if step.quality_lost is not None)
    assert best == pytest.approx(Ruinous().speedup((0, 1, 1, 1, 1, 1)))


@pytest.mark.full
def test_a_contest_over_processes_gives_each_search_its_own_score():
    """Held in processes, every search has the score that it has by itself."""
    family, peers = Chains(8), ("ladder", "random", "levels")
    standings = hold(family, peers, (3, 4), 9)
    for peer in peers:
        for place, seed in enumerate((3, 4)):
            problem = family.problem(seed)
            exact = [hypervolume(problem.exact_front(), reference) for reference in problem.references]
            alone = score(search(problem, PEERS[peer], seed, 9), problem.references, exact, 9)
            assert standings[peer].anytime[place].tolist() == list(alone.anytime)
            assert standings[peer].anytime_low_loss[place].tolist() == list(alone.anytime_low_loss)
            assert standings[peer].recommended[place] == alone.recommended


def _standings() -> dict[str, Standing]:
    first = np.array([[0.1, 0.5], [0.2, 0.7], [0.3, 0.9]])
    return {
        "ladder": Standing(first, first / 2, np.array([0.4, 0.6, 0.8])),
        "other": Standing(first[::-1] / 10, first / 5, np.array([0.1, 0.2, 0.3])),
        "third": Standing(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros(3)),
    }


def test_the_table_shows_median_and_worst_of_each_peer():
    """Each line has the figures worked out by hand, and names the columns."""
    lines = standings_table(_standings(), (1, 2)).splitlines()
    assert lines[0].split("  ")[-1].strip() == "recommended"
    assert lines[1].split() == ["ladder", "0.200", "0.100", "0.700", "0.500", "0.350", "0.600"]
    assert lines[2].split() == ["other", "0.020", "0.010", "0.070", "0.050", "0.140", "0.200"]


def test_the_best_peer_is_not_ourselves():
    """Of the others, the one with the best median stands beside the ladder's figure."""
    assert best_peer(_standings(), "ladder", 2) == ("other", pytest.approx(0.07))


def test_the_curves_show_the_median_and_the_worst_seed_of_each_peer():
    """One panel has the medians, the other the worst, with one line a peer and looks that differ."""
    figure = curves_figure(_standings(), "chain-20")
    median, worst = figure.axes
    assert [line.get_label() for line in median.get_lines()] == ["ladder", "other", "third"]
    assert np.asarray(median.get_lines()[0].get_xydata()).tolist() == [[1, 0.2], [2, 0.7]]
    assert np.asarray(worst.get_lines()[0].get_xydata()).tolist() == [[1, 0.1], [2, 0.5]]
    looks = {(line.get_color(), line.get_linestyle()) for line in median.get_lines()}
    assert len(looks) == 3


def test_there_is_a_look_for_every_peer():
    """No peer is missing from the curves."""
    standing = next(iter(_standings().values()))
    figure = curves_figure(dict.fromkeys(PEERS, standing), "all")
    assert len(figure.axes[0].get_lines()) == len(PEERS)
