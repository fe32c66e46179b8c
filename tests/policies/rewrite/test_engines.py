"""Both engines make the same of a policy; what the symbol tree cannot take it refuses whole, with the place."""

import ast

import numpy as np
import pytest
from fresh_process import in_fresh_process
from networks import NETWORKS

LISTS = "ops: {white_list: [MatMul, Tanh], black_list: [LayerNorm, Softmax]}"
POLICIES = [
    "{default: float16}",
    "auto",
    f"{{default: auto, {LISTS}, layers: {{'.': float32, nn.Dense: auto}}}}",
    "{default: float32, layers: {nn.Dense: float16, 'nn.Dense::BiasAdd': float32}}",
]
MIDDLE = "{default: float32, layers: {b: float16}}"
FEW = ["repeated", "normalised", "subclassed"]
OTHERS = [pytest.param(name, marks=pytest.mark.full) for name in sorted(set(NETWORKS) - set(FEW))]


@pytest.mark.parametrize("network", [*FEW, *OTHERS])
def test_both_engines_ask_the_same_of_every_op(network):
    """Under each policy the training step has the same ops with the same types, and both equal the policy."""
    for policy, both in zip(
        POLICIES, in_fresh_process("engine_jobs:compared", network=network, policies=POLICIES), strict=True
    ):
        regions, trees = both["regions"], both["symbol-tree"]
        assert "refused" not in trees, (policy, trees)
        assert trees["asked"] == regions["asked"], policy
        assert (trees["proven"], trees["matched"]) == (True, regions["matched"]), policy


def test_casts_that_the_engine_wrote_are_the_policys():
    """Of three blocks only the middle one is low, in both, and every cast counts as the policy's own."""
    (both,) = in_fresh_process("engine_jobs:compared", network="repeated", policies=[MIDDLE])
    assert both["symbol-tree"] == both["regions"]
    assert list(both["symbol-tree"]["casts"]) == ["policy"]


@pytest.mark.full
def test_known_calls_compute_what_the_tables_say():
    """Every function, operator and method that the engine knows has the ops and types that regions give it."""
    found = in_fresh_process("engine_jobs:known_calls", policy="{default: float16}")
    assert (found["only regions"], found["only trees"]) == ([], [])
    assert len(found["low"]) > 100


@pytest.mark.parametrize(
    "call", ["ops.concat((x * 2.0, ops.matmul(x, y)), 1)", "ops.tanh(x) + ops.matmul(x, y)", "x.sum() * y"]
)
def test_ops_on_no_list_follow_their_inputs(call):
    """In a layer under auto an unlisted op computes in the widest type of its inputs, as regions have it."""
    regions, trees = in_fresh_process("engine_jobs:one_call", call=call, policy="auto")
    assert trees == regions


@pytest.mark.parametrize(
    ("call", "policy", "words"),
    [
        ("x.std()", "{default: float16, layers: {'::Pow': float32}}", "Pow float32, ReduceMean float16"),
        ("x * 2.0", "{default: float16, layers: {'::Muls': float32}}", "Mul float16, Muls float32"),
        ("(x * 2.0 if True else y)", "{default: float16}", "give it a statement of its own"),
        ("abs(x)", "{default: float16}", "it is not known what is computed by `abs(x)`"),
        ("ops.hardtanh(x)", "{default: float32}", "it is not known what is computed by `ops.hardtanh(x)`"),
    ],
)
def test_a_call_that_one_cast_cannot_serve_is_refused(call, policy, words):
    """Where ops of one call are asked for different precisions, or its ops are not known, that is what is said."""
    _, trees = in_fresh_process("engine_jobs:one_call", call=call, policy=policy)
    assert trees.startswith(
        "the symbol-tree engine cannot write casts into this network, which is left as it was:"
    )
    assert "layer the network itself (Call0, made_0.py:" in trees
    assert words in trees


REFUSED = {
    "calls super": "CallsSuper, rewriting_networks.py:53: its construct calls super()",
    "eager": "rewriting_networks.py:144: MindSpore's rewriter computes both sides of its `or`",
    "by computed name": "its construct may reach any layer by getattr",
    "many statements": "`each * 2` is computed inside another expression",
    "gathers": "the index of `x[self.ids]`, which may be a tensor",
    "recursive": "is computed inside another expression",
    "writes elements": "it is not known what is computed by `x[0] = 0.0`",
    "in try too": "MindSpore's rewriter does not follow `x = x * 2.0`",
    "bprop": "it defines its own bprop",
    "lstm": "layer the network itself (LSTM, rnns.py:",
}


def test_what_cannot_be_rewritten_is_named_and_left_whole():
    """Each such construct is refused by class and line with the reason, and nothing of the network is changed."""
    said = in_fresh_process("engine_jobs:refusals", policy="{default: float16, mode: graph}")
    assert {name for name, words in said.items() if words} == set(REFUSED)
    for name, words in REFUSED.items():
        assert words in said[name]


def test_in_place_additions_are_refused_where_the_modes_differ():
    """Under a policy for PyNative mode `x += y` is refused; under one for graph mode both engines ask the same."""
    said = in_fresh_process("engine_jobs:statements", name="in place", policy="{default: float16, mode: pynative}")
    assert "write `x = x + y`" in said[1]
    regions, trees = in_fresh_process("engine_jobs:statements", name="in place", policy="{default: float16}")
    assert trees == regions


def test_tuples_are_joined_and_not_cast():
    """A `+` that joins two tuples in a low layer leaves the tensors in them in float32, as regions do."""
    regions, trees = in_fresh_process("engine_jobs:statements", name="joins", policy="{default: float16}")
    assert trees == regions
    assert any("'Reshape'" in row and "('float32',)" in row for row in trees)


def test_a_low_norm_gets_low_data_at_its_border():
    """A BatchNorm that is low behind a float32 layer takes low data, by either engine."""
    rules = "{default: float32, layers: {nn.BatchNorm1d: float16}}"
    (both,) = in_fresh_process("engine_jobs:compared", network="normalised", policies=[rules])
    assert both["symbol-tree"]["proven"]
    assert both["symbol-tree"]["asked"] == both["regions"]["asked"]


def test_generated_networks_ask_the_same():
    """Random policies on generated networks: the asked ops of both engines are equal, or the place is named."""
    found = in_fresh_process("engine_jobs:generated_networks", examples=6, seed_number=0)
    assert found["converted"] > found["refused"]


def test_generated_networks_compute_the_same():
    """All in float32 nothing changes by a bit, both engines give the same values, and removing gives all back."""
    found = in_fresh_process("engine_jobs:generated_values", examples=6, seed_number=0)
    assert found["converted"] > found["refused"]


@pytest.mark.full
@pytest.mark.parametrize("number", range(1, 5))
def test_many_generated_networks(number):
    """The same for a hundred and twenty more networks, half of them in each mode."""
    for job in ("generated_networks", "generated_values"):
        found = in_fresh_process(f"engine_jobs:{job}", examples=15, seed_number=number)
        assert found["converted"] > found["refused"], job


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_both_engines_train_the_same(mode):
    """Losses and weights agree bit for bit: in float32 with the untouched network's, in float16 with regions'."""
    runs = [([], "regions"), (["O0"], "symbol-tree"), (["O3"], "regions"), (["O3"], "symbol-tree")]
    plain, float32, regions, trees = (
        in_fresh_process(
            "rewrite_jobs:train", network="normalised", policies=policies, mode=mode, steps=5, engine=engine
        )
        for policies, engine in runs
    )
    assert float32 == plain
    assert trees == regions
    assert trees["losses"] != plain["losses"]


def test_a_loss_scale_changes_no_update_in_float32():
    """Under casts written for float32, scaled by 1 and by 1024 the updates are equal."""
    once, scaled = (
        in_fresh_process(
            "rewrite_jobs:train", network="sandwich", policies=["O0"], steps=5, engine="symbol-tree", scale=scale
        )
        for scale in (1, 1024)
    )
    assert scaled == once


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_the_last_policy_and_engine_alone_decide(mode):
    """After policies through both engines the last one computes as it does alone, and nothing is left of any."""
    last = [MIDDLE, "symbol-tree"]
    before = [["{default: float16}", "symbol-tree"], ["{default: float16}", "regions"]]
    alone, after = (
        in_fresh_process("engine_jobs:applied_in_turn", network="repeated", steps=steps, mode=mode)
        for steps in ([last], [*before, last])
    )
    assert after == alone
    assert (alone["same_parameters"], alone["restored"], alone["plain again"]) == (True, True, True)


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_regions_after_casts_are_regions(mode):
    """Regions take the place of casts that were written, and give the values of regions alone."""
    steps = [["{default: float16}", "symbol-tree"], ["{default: float16}", "regions"]]
    alone, after = (
        in_fresh_process("engine_jobs:applied_in_turn", network="normalised", steps=each, mode=mode)
        for each in (steps[1:], steps)
    )
    assert after == alone
    assert alone["type"] == "Float16"
    assert np.isfinite(alone["values"]).all()


def test_casts_stand_in_the_source():
    """The new construct of a layer casts its input and its Parameters in front of each op that needs it."""
    found = in_fresh_process("engine_jobs:source", network="repeated", policy=MIDDLE)
    assert set(found) == {path for block in "abc" for path in (block, f"{block}.dense")}
    assert "weight_float16 = cast_floats(float16, self.weight)" in found["b.dense"]
    assert "self.matmul(x_float16, weight_float16)" in found["b.dense"]
    assert "float16" not in found["a.dense"]
    for text in found.values():
        ast.parse(text)


def test_an_unknown_engine_is_refused():
    """A name that is none of the engines' is an error that lists them."""
    said = in_fresh_process("engine_jobs:unknown_engine")
    assert said == "there is no engine 'autocast': give one of regions, symbol-tree"
