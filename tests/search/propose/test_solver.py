from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from halfwise.search.propose.cost_model import CostModel, Site
from halfwise.search.propose.elimination import Elimination
from halfwise.search.propose.integer_program import IntegerProgram
from halfwise.search.propose.solver import Graph

from .models import LOW, cost_models


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("solver", [Elimination, IntegerProgram])
@given(cost_models(regions=True))
def test_the_fastest_keeps_to_one_low_precision_in_each_region(solver, model: CostModel):
    """With the variables of regions, solvers find the fastest of the policies that MindSpore can hold."""
    graph = Graph(model)
    sites = graph.site_costs([np.array([site.seconds]) for site in model.sites])
    pairs = graph.pair_costs([np.array([border.seconds]) for border in model.borders], 1)
    found = solver(graph.sizes, graph.pairs).minimise(sites, pairs)[:, : len(model.sites)]
    every = np.array(list(product(*map(range, model.sizes))))
    fastest = model.step_times_s(every[model.allowed(every)]).min()
    assert model.allowed(found).all()
    assert model.step_times_s(found)[0] == pytest.approx(fastest)


def test_a_region_with_one_low_precision_needs_no_variable():
    """Where the sites of a region offer one low precision between them, nothing is added."""
    sites = tuple(Site(f"s{n}", LOW[:2], (1.0, 0.5)) for n in range(3))
    assert Graph(CostModel(1.0, sites, regions=((0, 1, 2),))).sizes == (2, 2, 2)
    three = Site("t", LOW, (1.0, 0.5, 0.5))
    graph = Graph(CostModel(1.0, (*sites, three), regions=((0, 1, 3),)))
    assert graph.sizes == (2, 2, 2, 3, 2)
    assert graph.pairs == ((0, 4), (1, 4), (3, 4))
