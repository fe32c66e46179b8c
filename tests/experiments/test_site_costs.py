import pickle
from itertools import product

import numpy as np
import pytest
from fresh_process import in_fresh_process
from price_tables import make_device

from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.site_costs import expand, price_of
from halfwise.experiments.sites_of import sites_of
from halfwise.policies.loss_scaling import DynamicLossScaling
from halfwise.search.propose.elimination import Elimination
from halfwise.search.site_space import SiteSpace
from halfwise.search.space import LayerGroup


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The float32 table of a network of convolutions, norms, a shortcut and two branches; and its outline."""
    file = tmp_path_factory.mktemp("tables") / "tables.pickle"
    in_fresh_process("price_jobs:compile_mixed", policies=["O0"], file=str(file))
    (table,), outline = pickle.loads(file.read_bytes())
    return table, outline


@pytest.fixture(scope="module")
def space(compiled):
    """The sites of the network."""
    table, outline = compiled
    forward = table[(table["direction"] == "forward") & table["compute_precision"].notna()]
    cells = [
        SurveyedCell(
            path=cell.path,
            aliases=(),
            type_names=cell.type_names,
            ops=tuple(sorted(set(forward["op"][forward["layer"] == cell.path]))),
        )
        for cell in outline.cells
    ]
    groups = [LayerGroup(cell.path, (cell.path,)) for cell in cells if cell.ops]
    return SiteSpace(sites_of(cells, groups, ("float16",), "float16"), "float16", DynamicLossScaling(), "graph")


@pytest.fixture(scope="module")
def priced(compiled, space):
    """The price of choices, the borders, and the cost model."""
    table, outline = compiled
    price, borders = price_of(space, outline, table, make_device(launch_us=0.01), 16)
    return price, borders, expand(space, price, borders)


def test_sites_are_whole_layers_and_the_ops_of_own_layers(space):
    """MindSpore's layers are one site each; the network's own ops are one site each."""
    whole = [group.name for group in space.groups if group.op is None]
    single = {group.op for group in space.groups if group.op is not None}
    assert whole == ["conv", "bn", "relu", "conv2", "bn2", "norm", "left", "right", "head"]
    assert single == {op for group in space.groups if group.op is not None for op in group.ops}
    assert "Add" in single or "AddExt" in single


def test_borders_follow_the_data(space, priced):
    """A value's way from layer to layer is a border; layers that never pass a value on to each other have none."""
    names = [group.name for group in space.groups]
    pairs = {frozenset((names[a], names[b])) for a, b in priced[1]}
    assert {frozenset(("conv", "bn")), frozenset(("bn", "relu")), frozenset(("relu", "conv2"))} <= pairs
    assert frozenset(("left", "right")) not in pairs
    assert frozenset(("conv", "head")) not in pairs


def test_the_model_is_exact_for_one_change_and_for_two_at_a_border(space, priced):
    """Everything low, any one site back in float32, and any two that border: the model has the price."""
    price, borders, model = priced
    low = (1,) * len(space.groups)
    changes = [(), *((site,) for site in range(len(low))), *borders]
    for changed in changes:
        choices = tuple(0 if site in changed else 1 for site in range(len(low)))
        assert model.step_time_s(choices) == pytest.approx(price(choices))


def test_the_fastest_policy_of_the_model_is_among_the_fastest(space, priced):
    """The model's fastest policy costs at most 1% more than the fastest of all, found by pricing every one."""
    price, _, model = priced
    pairs = tuple((border.first, border.second) for border in model.borders)
    solver = Elimination(model.sizes, pairs)
    sites = [np.array([site.seconds]) for site in model.sites]
    found = solver.minimise(sites, [np.array([border.seconds]) for border in model.borders])[0]
    every = min(price(choices) for choices in product((0, 1), repeat=len(space.groups)))
    assert price(tuple(found.tolist())) <= 1.01 * every
