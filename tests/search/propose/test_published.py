"""Published procedures, followed by hand."""

import math

import numpy as np
from hypothesis import given

from halfwise.search.propose.aimet import Aimet
from halfwise.search.propose.bisect import Bisect
from halfwise.search.propose.cost_model import CostModel, Site
from halfwise.search.propose.levels import Levels, all_low

from .models import LOW, additive, choices_of, cost_models, history, row


def test_aimet_ranks_sites_one_by_one_and_lowers_prefixes():
    """All low, each site alone, then prefixes of the ranking; of equal losses the greater gain leads."""
    tried = history(Aimet(row(0.1, 0.5, 0.4, 0.3)), additive(0.2, 0.1, math.inf, 0.2), 100)
    # The ranking is site 1, then 3 before 0, and last the one that ruins training.
    assert choices_of(tried) == ["1111", "1000", "0100", "0010", "0001", "0101", "1101"]


def test_aimet_searches_the_longest_prefix_within_the_bound_by_halving():
    """With an allowed loss, phase 2 begins in the middle of the ranking and closes in on the last good prefix."""
    lost = [0.01 * (site + 1) for site in range(8)]
    tried = history(Aimet(row(*[0.1] * 8), 0.1), additive(*lost), 100)
    # 0.01 + ... + 0.04 is within 0.1, with 0.05 it is not: prefixes of 4, 6, 5.
    assert choices_of(tried)[9:12] == ["11110000", "11111100", "11111000"]


def test_aimet_changes_a_low_site_only_to_something_faster():
    """Of a site's two low precisions the one that loses less comes first, and stays unless the other is faster."""
    slower = CostModel(1.0, (Site("s", LOW, (1.0, 0.5, 0.6)), Site("t", LOW[:2], (1.0, 0.5))))
    faster = CostModel(1.0, (Site("s", LOW, (1.0, 0.5, 0.4)), Site("t", LOW[:2], (1.0, 0.5))))
    rank = {(1, 0): 0.1, (2, 0): 0.2, (0, 1): 0.3}

    def outcome(choices):
        return additive(9, 9)(choices) if choices not in rank else additive(rank[choices], rank[choices])(choices)

    assert choices_of(history(Aimet(slower), outcome, 100)) == ["11", "10", "20", "01"]
    assert choices_of(history(Aimet(faster), outcome, 100)) == ["21", "10", "20", "01"]


def test_bisection_marks_the_fewest_first_or_last_sites():
    """All low fails for site 2 of 8: three first sites must be float32, or six last ones; then it counts up."""
    lost = [0.0] * 8
    lost[2] = math.inf
    tried = choices_of(history(Bisect(row(*[0.1] * 8)), additive(*lost), 100))
    assert tried[:4] == ["11111111", "00001111", "00111111", "00011111"]
    assert tried[4:7] == ["11110000", "11000000", "11100000"]
    # What is left of 1 to 7 sites, first from the input and then from the output.
    assert tried[7:11] == ["01111111", "00000111", "00000011", "00000001"]
    assert tried[11:] == ["11111110", "11111100", "11111000", "10000000"]


def test_bisection_takes_a_bound_on_quality():
    """With an allowed loss, good enough is what loses no more."""
    tried = choices_of(history(Bisect(row(*[0.1] * 4), 0.25), additive(0.1, 0.1, 0.1, 0.1), 100))
    # Of four equal sites two may be low: 2 first float32 is good, 1 is not.
    assert tried[:3] == ["1111", "0011", "0111"]


def test_bisection_of_what_trains_counts_up_at_once():
    """Where all low trains there is nothing to halve."""
    assert choices_of(history(Bisect(row(0.1, 0.1, 0.1)), additive(1, 1, 1), 100)) == [
        "111",
        "011",
        "001",
        "110",
        "100",
    ]


def test_levels_are_float32_and_each_low_precision_where_it_is_offered():
    """A site that lacks a precision stays float32 in that level."""
    model = CostModel(1.0, (Site("a", LOW, (1, 1, 1)), Site("b", LOW[:2], (1, 1)), Site("c", LOW[:1], (1,))))
    assert choices_of(history(Levels(model), additive(0, 0, 0), 100)) == ["000", "110", "200"]


@given(cost_models())
def test_all_low_is_the_fastest_low_choice_of_each_site(model: CostModel):
    """A site with low choices takes the one with the least seconds; a site without stays float32."""
    for site, choice in zip(model.sites, all_low(model), strict=True):
        low = site.seconds[1:]
        assert site.seconds[choice] == (np.min(low) if low else site.seconds[0])
        assert (choice > 0) == bool(low)
