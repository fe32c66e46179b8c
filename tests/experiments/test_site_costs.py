import pickle
from itertools import product

import numpy as np
import pytest
from fresh_process import in_fresh_process
from price_tables import make_device

from halfwise.evaluators.price import price_table
from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.site_costs import expand, price_of
from halfwise.experiments.sites_of import sites_of
from halfwise.policies import DynamicLossScaling, NoLossScaling, Policy
from halfwise.search.propose.elimination import Elimination
from halfwise.search.site_space import SiteSpace
from halfwise.search.space import LayerGroup

DYNAMIC, NONE = DynamicLossScaling(), NoLossScaling()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The float32 tables of a network of convolutions, norms, a shortcut and two branches; and its outline.

    The first table has dynamic loss scaling, the second none.
    """
    file = tmp_path_factory.mktemp("tables") / "tables.pickle"
    policies = [str(Policy(loss_scaling=scaling)) for scaling in (DYNAMIC, NONE)]
    in_fresh_process("price_jobs:compile_mixed", policies=policies, file=str(file))
    tables, outline = pickle.loads(file.read_bytes())
    return *tables, outline


def sites(compiled, low, others=()):
    """The space of the network with some low precisions and loss scalings."""
    table, _, outline = compiled
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
    return SiteSpace(sites_of(cells, groups, low), "float16", DYNAMIC, "graph", others)


@pytest.fixture(scope="module")
def space(compiled):
    """The sites of the network, float32 or float16."""
    return sites(compiled, ("float16",))


@pytest.fixture(scope="module")
def priced(compiled, space):
    """The price of choices, the borders, and the cost model."""
    table, _, outline = compiled
    price, borders = price_of(space, outline, table, make_device(launch_us=0.01), 16)
    return price, borders, expand(space, price, borders)


@pytest.fixture(scope="module")
def three(compiled):
    """The space with both low precisions and a choice of loss scaling, its price, and its cost model."""
    device = make_device(launch_us=0.01)
    # Half way between the two others, so that all three precisions differ.
    bfloat16 = device.vector["float16"].model_copy(update={"value": 1.5})
    matrix, vector = ({**unit, "bfloat16": bfloat16} for unit in (device.matrix, device.vector))
    device = device.model_copy(update={"matrix": matrix, "vector": vector})
    table, unscaled, outline = compiled
    space = sites(compiled, ("float16", "bfloat16"), (NONE,))
    tables = {"dynamic": table, "none": unscaled}
    price, borders = price_of(space, outline, table, device, 16, tables)
    return space, price, expand(space, price, borders)


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


def test_the_ops_of_a_layer_share_a_region(three):
    """The network's own ops offer both low precisions, and are one region; whole layers are in none."""
    space, _, model = three
    (region,) = space.regions
    assert all(space.groups[site].op is not None for site in region)
    assert {space.groups[site].choices for site in region} == {("float32", "float16", "bfloat16")}
    assert model.regions == space.regions
    assert sum(group.op is not None for group in space.groups) == len(region)


def test_another_low_precision_is_priced_exactly_for_one_site_and_for_two(three):
    """Everything float16, with one site or two bordering ones in float32 or bfloat16: the model has the price."""
    space, price, model = three
    low = (*(1,) * len(space.groups), 0)
    changes = [{site: choice} for site in range(len(space.groups)) for choice in (0, 2)]
    changes += [
        {border.first: a, border.second: b} for border in model.borders for a, b in ((0, 2), (2, 0), (2, 2))
    ]
    for changed in changes:
        choices = tuple(changed.get(site, choice) for site, choice in enumerate(low))
        assert model.step_time_s(choices) == pytest.approx(price(choices))


def test_each_op_of_a_layer_has_a_price_of_its_own_in_each_precision(three):
    """One op of a layer in bfloat16 beside others in float16 has a price, though no policy can ask for it."""
    space, price, _ = three
    (region,) = space.regions
    low = (*(1,) * len(space.groups), 0)
    for site in region:
        assert price((*low[:site], 2, *low[site + 1 :])) > price(low)


def test_a_layer_of_ops_in_the_other_precision_is_priced_nearly(three):
    """All ops of the region in bfloat16, the rest in float16, is far from the expansion's centre: within 2%."""
    space, price, model = three
    (region,) = space.regions
    choices = tuple(2 if site in region else 1 for site in range(len(space.groups)))
    for scaling in (0, 1):
        assert model.step_time_s((*choices, scaling)) == pytest.approx(price((*choices, scaling)), rel=0.02)


def test_another_loss_scaling_takes_the_difference_of_the_compiled_steps(compiled, three):
    """Without loss scaling a step saves what the compiled step saves, whatever the sites are."""
    space, price, model = three
    table, unscaled, _ = compiled
    device = make_device(launch_us=0.01)
    saved = price_table(table, device).step_time_s - price_table(unscaled, device).step_time_s
    assert saved > 0
    for choice in (0, 1, 2):
        choices = (choice,) * len(space.groups)
        assert price((*choices, 0)) - price((*choices, 1)) == pytest.approx(saved)
        assert model.step_time_s((*choices, 0)) - model.step_time_s((*choices, 1)) == pytest.approx(saved)
    assert space.policy(model.named((*choices, 1))).loss_scaling == NONE
