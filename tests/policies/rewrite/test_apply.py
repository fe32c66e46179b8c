"""Policies on real networks: what computes in what, and what is left when the policy is gone."""

import numpy as np
import pytest
from fresh_process import in_fresh_process
from networks import NETWORKS

LOW_NETWORKS = sorted(NETWORKS)


@pytest.mark.parametrize("mode", ["graph", "pynative"])
@pytest.mark.parametrize("network", ["repeated", "normalised", "shared"])
def test_all_float32_is_bit_identical(network, mode):
    """Under an all-float32 policy, losses and Parameters after 20 steps are those of the untouched network."""
    plain = in_fresh_process("rewrite_jobs:train", network=network, policies=[], mode=mode)
    float32 = in_fresh_process("rewrite_jobs:train", network=network, policies=["O0"], mode=mode)
    assert float32 == plain


@pytest.mark.parametrize("network", LOW_NETWORKS)
def test_every_network_trains_low_with_float32_weights(network):
    """All-float16 trains each awkward network; losses differ from float32's a little, weights stay float32."""
    low = in_fresh_process("rewrite_jobs:train", network=network, policies=["O3"], steps=8)
    plain = in_fresh_process("rewrite_jobs:train", network=network, policies=["O0"], steps=8)
    assert low["losses"] != plain["losses"]
    assert low["types"] == ["Float32"]
    reached = [[float.fromhex(loss) for loss in run["losses"]] for run in (low, plain)]
    np.testing.assert_allclose(reached[0], reached[1], rtol=0.02)


@pytest.mark.parametrize("network", LOW_NETWORKS)
def test_graph_and_pynative_mode_agree(network):
    """One policy gives the same output type in both modes, and values that differ by rounding at most."""
    graph, pynative = (
        in_fresh_process("rewrite_jobs:outputs", network=network, policy="O3", mode=mode)
        for mode in ("graph", "pynative")
    )
    assert graph["type"] == pynative["type"] == "Float16"
    np.testing.assert_allclose(graph["values"], pynative["values"], rtol=0, atol=2e-2)


def test_two_classes_of_one_name_stay_apart():
    """Two classes of one name compute what they compute without a policy, bit for bit in float32."""
    plain, float32 = (
        in_fresh_process("rewrite_jobs:outputs", network="same names", policy=policy) for policy in (None, "O0")
    )
    assert float32 == plain


def test_only_the_middle_block_is_low():
    """Of three blocks of one class only the one that the policy names computes low."""
    seen = in_fresh_process(
        "rewrite_jobs:precision_by_layer", network="repeated", policy="{default: float32, layers: {b: float16}}"
    )
    assert (seen["a.dense"], seen["b.dense"], seen["c.dense"]) == ("Float32", "Float16", "Float32")
    assert (seen["a"], seen["c"]) == ("Float32", "Float32")


def test_a_norm_between_stays_float32():
    """Only the first of Dense, LayerNorm, Dense is low."""
    seen = in_fresh_process(
        "rewrite_jobs:precision_by_layer",
        network="sandwich",
        policy="{default: float32, layers: {first: float16}}",
    )
    assert (seen["first"], seen["norm"], seen["second"]) == ("Float16", "Float32", "Float32")


@pytest.mark.parametrize("network", ["normalised"])
def test_batch_norm_takes_low_data_behind_a_float32_layer(network):
    """A low BatchNorm after a float32 layer computes on low data, though its op cannot be white-listed."""
    seen = in_fresh_process(
        "rewrite_jobs:precision_by_layer", network=network, policy="{default: float32, layers: {norm: float16}}"
    )
    assert (seen["dense"], seen["norm"]) == ("Float32", "Float16")


def test_type_rules_cover_subclasses():
    """A rule for nn.LayerNorm covers MyNorm(nn.LayerNorm); O2 keeps both in float32 but lowers GroupNorm."""
    rules = {
        path: (precision, rule)
        for path, _, precision, rule in in_fresh_process(
            "rewrite_jobs:assignments", network="subclassed", policy="O2"
        )
    }
    assert rules["mine"] == ("float32", "nn.LayerNorm")
    assert rules["group"] == ("float16", "default")
    assert rules["dense"] == ("float16", "default")


def test_a_shared_cell_is_one_layer_with_both_names():
    """A Cell under two names is reported once with both, and a rule for the second name reaches it."""
    found = in_fresh_process(
        "rewrite_jobs:assignments", network="shared", policy="{default: float16, layers: {ln2: float32}}"
    )
    assert ["ln", ["ln2"], "float32", "ln2"] in found
    assert len(found) == 3


def test_conflicting_rules_for_a_shared_cell_are_refused():
    """Two answers through two names of one Cell are an error that names both, and nothing is set."""
    kind, message, *marks = in_fresh_process(
        "rewrite_jobs:refusal", network="shared", policy="{default: float16, layers: {ln: float16, ln2: float32}}"
    )
    assert kind == "InputError"
    assert "'ln'" in message
    assert "'ln2'" in message
    assert marks == []


@pytest.mark.parametrize(
    ("foreign", "words"),
    [("to_float", "layer first already has its precision set by to_float()"), ("amp", "auto")],
)
def test_precision_that_somebody_else_set_is_refused(foreign, words):
    """A network under to_float or auto_mixed_precision is refused by the layer's name, and stays as it is."""
    kind, message, *marks = in_fresh_process(
        "rewrite_jobs:refusal", network="sandwich", policy="O3", foreign=foreign
    )
    assert kind == "InputError"
    assert words in message
    assert marks == []


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_policy_b_after_policy_a_is_policy_b(mode):
    """Applying B after A gives the losses of B alone."""
    middle = "{default: float32, layers: {b: float16}}"
    alone = in_fresh_process("rewrite_jobs:train", network="repeated", policies=[middle], mode=mode, steps=6)
    after = in_fresh_process("rewrite_jobs:train", network="repeated", policies=["O3", middle], mode=mode, steps=6)
    assert after == alone


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_remove_gives_the_original_back(mode):
    """A policy shows in a network that was compiled before, and after `remove` nothing of it is left."""
    found = in_fresh_process("rewrite_jobs:apply_and_remove", network="normalised", policy="O3", mode=mode)
    assert found == {"types": ["Float32", "Float16", "Float32"], "restored": True, "left": []}


@pytest.mark.parametrize(("policy", "under"), [("O0", True), ("{default: float32, layers: {b: float16}}", False)])
def test_removing_a_policy_gives_the_parser_its_own_function_back(policy, under):
    """Only a network with regions of several kinds stands in for a function of MindSpore's, until `remove`."""
    found = in_fresh_process("rewrite_jobs:parser_functions", network="repeated", policy=policy)
    assert found == [under, True]


def test_an_exception_leaks_no_precision():
    """After an exception inside a low Cell, unrelated ops of the process compute in float32."""
    assert in_fresh_process("rewrite_jobs:exception_leaks", policy="O3") == "Float32"


def test_layers_with_odd_names_are_addressable():
    """Layers called `on`, `no` and `steps.0` get the precision that their rules give them."""
    seen = in_fresh_process(
        "rewrite_jobs:precision_by_layer",
        network="odd names",
        policy="{default: float32, layers: {on: float16, steps.0: float16}}",
    )
    assert (seen["on"], seen["no"], seen["steps.0"]) == ("Float16", "Float32", "Float16")


def test_only_functions_that_compute_in_a_region_are_compiled_apart():
    """Functions whose ops are in no region's lists are shared, but a user's own of the same name is not."""
    separated = in_fresh_process("rewrite_jobs:separated_functions")
    assert separated == {"gelu": True, "isfinite": False, "zeros_like": False, "user's": True}
