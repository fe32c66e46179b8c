import pickle
import random
from pathlib import Path

import pytest
from fresh_process import in_fresh_process
from hypothesis import given, settings
from hypothesis import strategies as st
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price import FOLLOW, LayerWants, WhatIf, differences, load_devices, price_table, wants
from halfwise.policies import (
    BUILTIN,
    CellOutline,
    InputError,
    NetworkOutline,
    Policy,
    RulePrecision,
    parse_policy,
)

F32, F16 = "float32", "float16"
SIZE = 1000
OUTLINE = NetworkOutline(tuple(CellOutline(path, (), ("nn.Dense",)) for path in ("", "first", "second", "third")))


def float32_step():
    """Layers first, second and third, one after the other, each with a weight; gradients and updates."""
    layers = ["first", "second", "third"]
    value = ((SIZE,), F32)
    rows = [
        make_row(
            n,
            "Mul",
            [value, value],
            value,
            layer=layer,
            parameters=(f"{layer}.w",),
            producers=(n - 1,) if n else (),
        )
        for n, layer in enumerate(layers)
    ]
    rows += [
        make_row(
            5 - n, "MulGrad", [value, value], value, layer=layers[n], direction="gradient", forward_id=n,
            producers=(n, 4 - n) if n < 2 else (n,),
        )
        for n in (2, 1, 0)
    ]  # fmt: skip
    rows += [
        make_row(
            6 + n, "ApplyMomentum", [value] * 3, value, layer=None, direction="update", producers=(5 - n,),
            parameters=(f"{layer}.w", f"moments.{layer}.w"),
        )
        for n, layer in enumerate(layers)
    ]  # fmt: skip
    return make_table(*rows)


def what_if(**device) -> WhatIf:
    """The prices of the three layers on the device of round figures."""
    return WhatIf(float32_step(), make_device(**device), batch_size=SIZE)


def test_float32_costs_what_the_float32_table_costs():
    """Nothing is cast, and the price is that of the table itself."""
    prediction = what_if().predict((F32, F32, F32))
    assert prediction.casts == ()
    assert prediction.step_time_s == pytest.approx(price_table(float32_step(), make_device()).step_time_s)


def test_a_low_layer_between_float32_ones_is_cast_around():
    """Its data and its weight are cast down, its value up; backwards each of them turns round."""
    casts = what_if().predict((F32, F16, F32)).casts
    forward = {(c.op_before and c.layer_before, c.layer, c.before, c.after) for c in casts if not c.backward}
    assert forward == {("first", "second", F32, F16), ("", "second", F32, F16), ("second", "third", F16, F32)}
    assert len(casts) == 2 * len(forward)


def test_a_low_layers_price_is_its_ops_at_half_width_and_its_casts():
    """12 bytes an element in float32 become 6 for the op and its gradient, beside six casts of 6 bytes."""
    whole, mixed = (what_if().price(wanted) for wanted in ((F32, F32, F32), (F32, F16, F32)))
    assert mixed - whole == pytest.approx((6 * 6 - 2 * 6) * SIZE / 1e12)


def test_an_op_that_follows_takes_the_precision_of_its_inputs():
    """Where they differ (low data, float32 weight) it is float32, and the data is cast up."""
    prediction = what_if().predict((F16, FOLLOW, F32))
    assert prediction.precisions == (F16, F32, F32)
    assert {(c.layer, c.after) for c in prediction.casts if not c.backward} == {("first", F16), ("second", F32)}


def test_a_precision_without_figures_is_refused_by_name():
    """The device of round figures knows no bfloat16."""
    with pytest.raises(InputError, match="device paper cannot be priced: its bfloat16"):
        what_if().price((F32, "bfloat16", F32))


def test_a_policys_wants_follow_its_rules():
    """A layer rule, an op rule and the black list decide what each op is told."""
    flow = what_if().flow
    asked = Policy(default="float16", layers={"second": "float32", "third::Mul": "float32"})
    assert wants(asked, OUTLINE, flow) == (F16, F32, F32)
    assert wants(BUILTIN["auto"], OUTLINE, flow) == (FOLLOW, FOLLOW, FOLLOW)


def test_a_policy_for_another_network_is_refused():
    """A rule that matches nothing here has no price."""
    with pytest.raises(InputError, match="elsewhere"):
        wants(Policy(layers={"elsewhere": "float16"}), OUTLINE, what_if().flow)


@settings(deadline=None, max_examples=50)
@given(chosen=st.lists(st.sampled_from([F32, F16, "auto"]), min_size=3, max_size=3))
def test_choices_for_each_layer_want_what_the_policy_wants(chosen: list):
    """The fast way for searches and the way through the policy's rules agree."""
    flow = what_if().flow
    names: tuple[str, ...] = ("first", "second", "third")
    precisions: dict[str, RulePrecision] = dict(zip(names, chosen, strict=True))
    base = BUILTIN["auto"]
    assert LayerWants(base, OUTLINE, flow).of(precisions) == wants(base.replace(layers=precisions), OUTLINE, flow)


def test_the_loss_takes_the_networks_output_as_float32_through_one_cast():
    """Two ops of the loss read one low output: one cast there, and one back of the sum of their gradients."""
    value = ((SIZE,), F32)
    rows = float32_step().drop(columns="consumers").to_dict("records")
    rows += [make_row(n, "Exp", [value], value, layer=None, direction="loss", producers=(2,)) for n in (9, 10)]
    rows += [
        make_row(n, "Mul", [value], value, layer=None, direction="gradient", forward_id=n - 2) for n in (11, 12)
    ]
    rows.append(make_row(13, "AddN", [value, value], value, direction="gradient", producers=(11, 12)))
    prices = WhatIf(make_table(*rows), make_device(), batch_size=SIZE)
    wanted = tuple(F32 if op.layer is None else F16 for op in prices.flow.ops)
    casts = [cast for cast in prices.predict(wanted).casts if cast.layer_before == "third"]
    assert [(cast.before, cast.after, cast.backward) for cast in casts] == [(F16, F32, False), (F32, F16, True)]


@settings(deadline=None, max_examples=50)
@given(
    wanted=st.lists(st.sampled_from([F32, F16, FOLLOW]), min_size=3, max_size=3),
    bandwidth=st.floats(0.1, 10),
)
def test_a_price_is_the_sum_of_its_ops_and_casts(wanted: list, bandwidth: float):
    """Each op costs what it costs alone in its precision, each cast 6 bytes an element."""
    priced = what_if(bandwidth=bandwidth).predict(wanted)
    alone = {
        precision: what_if(bandwidth=bandwidth).predict((precision,) * 3).step_time_s
        - 6 * (precision == F16) * SIZE * 6 / (bandwidth * 1e12)
        for precision in (F32, F16)
    }
    # The input and three weights are cast, the weights' gradients back: 7 casts where all is low.
    ops = alone[F32] - sum((12 - 6) * 2 * SIZE / (bandwidth * 1e12) for p in priced.precisions if p == F16)
    assert priced.step_time_s == pytest.approx(ops + len(priced.casts) * SIZE * 6 / (bandwidth * 1e12))


def random_policy(seed: int) -> str:
    """A choice for every layer of the mixed network, and a list for most of its ops, as a search proposes them."""
    draw = random.Random(seed)
    layers = {name: draw.choice([F32, F16, "auto"]) for name in LAYERS}
    # Under auto an unlisted product gets low data with float32 weights, which MindSpore refuses.
    lists = {op: draw.choice(["white", "black"]) for op in ("Conv2D", "MatMul")}
    lists |= {
        op: draw.choice(["white", "black", "none"]) for op in ("Add", "BiasAdd", "LayerNorm", "ReLU", "Tanh")
    }
    listed = {word: [op for op, chosen in lists.items() if chosen == word] for word in ("white", "black")}
    ops = {"white_list": listed["white"], "black_list": listed["black"]}
    return str(Policy.model_validate({"default": "auto", "layers": layers, "ops": ops}))


LAYERS = (".", "conv", "bn", "relu", "conv2", "bn2", "norm", "left", "right", "head")
RANDOM = [random_policy(seed) for seed in (11, 12, 13)]
POLICIES = [
    "{}",
    "{default: float16}",
    "{default: float16, layers: {nn.BatchNorm2d: float32, nn.LayerNorm: float32}}",
    "{layers: {conv: float16, bn2: float16, left: float16, '**::BiasAdd': float16, head: float16}}",
    "{default: float16, layers: {'**::MatMul': float32, bn: float32}}",
    "{default: float16, layers: {norm: auto}}",
    *RANDOM,
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """Tables of a network that MindSpore compiled under each policy, and its outline."""
    file = tmp_path_factory.mktemp("tables") / "tables.pickle"
    in_fresh_process("price_jobs:compile_mixed", policies=POLICIES, file=str(file))
    return pickle.loads(Path(file).read_bytes())


@pytest.mark.parametrize("number", range(len(POLICIES)))
@pytest.mark.parametrize("fuses", [False, True])
def test_the_prediction_is_what_mindspore_compiles(compiled: tuple, number: int, fuses: bool):
    """Every op and cast of the compiled step is predicted, and the price is the same."""
    tables, outline = compiled
    device = load_devices()["a100-tf32"]
    device = device if fuses else device.model_copy(update={"fused_casts": None})
    prices = WhatIf(tables[0], device, batch_size=16)
    wanted = wants(parse_policy(POLICIES[number]), outline, prices.flow)
    prediction = prices.predict(wanted)
    if not fuses:
        assert differences(prediction, wanted, prices.flow, tables[number]) == ()
    assert prediction.step_time_s == pytest.approx(price_table(tables[number], device).step_time_s, rel=1e-4)


def shared_step():
    """Two layers take Exp(Sqrt(input)); float32 has made one of what stood in each of them."""
    value = ((SIZE,), F32)
    rows = [
        make_row(n, op, [value], value, layer="first", layer_certain=False, producers=(n - 1,) if n else ())
        for n, op in enumerate(("Sqrt", "Exp"))
    ]
    rows += [
        make_row(2 + n, "Neg", [value], value, layer=layer, producers=(1,))
        for n, layer in enumerate(("first", "second"))
    ]
    return make_table(*rows)


@pytest.mark.parametrize(
    ("second", "ops", "casts"),
    [((F32, F32), 4, 0), ((F16, F16), 6, 2), ((F16, F32), 6, 2)],
    ids=["equal", "both ops differ", "only what goes in differs"],
)
def test_ops_that_float32_made_one_are_one_while_precision_and_inputs_agree(second: tuple, ops: int, casts: int):
    """8 bytes an element for each float32 op, 4 for a low one, 6 for a cast: one for the input, one back up."""
    prices = WhatIf(shared_step(), make_device(), batch_size=SIZE)
    sqrt, exp = second
    of_layer = {"first": {"Sqrt": F32, "Exp": F32}, "second": {"Sqrt": sqrt, "Exp": exp}}
    wanted = tuple(of_layer[op.layer or ""].get(op.op, F32) for op in prices.flow.ops)
    low = second.count(F16)
    moved = 8 * (ops - low) + 4 * low + 6 * casts
    found = prices.predict(wanted)
    assert len(found.casts) == casts
    assert found.step_time_s == pytest.approx(moved * SIZE / 1e12)


def test_a_difference_is_told_with_its_cause(compiled: tuple):
    """Held against the table of another policy, ops and casts differ, and the ops did not do as told."""
    tables, outline = compiled
    prices = WhatIf(tables[0], load_devices()["v100"], batch_size=16)
    wanted = wants(parse_policy("{layers: {left: float16}}"), outline, prices.flow)
    found = differences(prices.predict(wanted), wanted, prices.flow, tables[0])
    told = {(d.what, d.surplus): d.cause for d in found}
    assert told["MatMul of left in float32", 1] == "MindSpore did not apply the policy to this op"
    assert told["MatMul of left in float16", -1] == "MindSpore did not apply the policy to this op"
    casts = [d for d in found if "cast of" in d.what]
    assert {d.cause for d in casts} == {"follows from another op that differs"}
    assert all(d.surplus < 0 for d in casts)
