import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price import describe, load_devices, price_memory, price_table
from halfwise.policies import HalfwiseError, InputError

F32, F16 = "float32", "float16"


def matmul(precision: str, rows: int = 1000, inner: int = 1000, columns: int = 1000, number: int = 0) -> dict:
    """A product (rows, inner) x (inner, columns)."""
    operands = [((rows, inner), precision), ((inner, columns), precision)]
    flops = 2 * rows * inner * columns
    return make_row(number, "MatMul", operands, ((rows, columns), precision), flops=flops)


def add(precision: str, size: int, number: int = 0) -> dict:
    """A sum of two vectors."""
    return make_row(number, "Add", [((size,), precision)] * 2, ((size,), precision))


def test_a_large_product_takes_its_arithmetic_over_the_matrix_peak():
    """2 x 1000^3 operations take 2 ms at 1 TFLOP/s, and an eighth of it in float16."""
    device = make_device()
    assert price_table(make_table(matmul(F32)), device).step_time_s == pytest.approx(2e-3)
    assert price_table(make_table(matmul(F16)), device).step_time_s == pytest.approx(2e-3 / 8)


@pytest.mark.parametrize("op", ["Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"])
def test_a_convolution_and_its_gradients_run_on_the_matrix_unit(op: str):
    """Their arithmetic is divided by the matrix peak of their precision."""
    operands = [((8, 16, 32, 32), F16), ((16, 16, 3, 3), F16)]
    flops = 2 * 8 * 16 * 32 * 32 * 16 * 9
    table = make_table(make_row(0, op, operands, ((8, 16, 32, 32), F16), flops=flops))
    assert price_table(table, make_device(bandwidth=1000)).step_time_s == pytest.approx(flops / 8e12)


def test_a_sum_waits_for_memory():
    """Three vectors of a million float32 values at 1 TB/s: 12 us, half of it in float16."""
    assert price_table(make_table(add(F32, 10**6)), make_device()).step_time_s == pytest.approx(12e-6)
    assert price_table(make_table(add(F16, 10**6)), make_device()).step_time_s == pytest.approx(6e-6)


def test_element_wise_work_runs_on_the_vector_unit():
    """With memory out of the way, a million sums take 1 us at 1 TFLOP/s and half of it in float16."""
    fast = make_device(bandwidth=1e6)
    assert price_table(make_table(add(F32, 10**6)), fast).step_time_s == pytest.approx(1e-6)
    assert price_table(make_table(add(F16, 10**6)), fast).step_time_s == pytest.approx(0.5e-6)


def test_each_op_is_launched_and_views_are_not():
    """Two sums cost two launches; a Reshape between them, which moves nothing, costs nothing."""
    view = make_row(1, "Reshape", [((4,), F32)], ((2, 2), F32), flops=0, bytes_read=0, bytes_written=0)
    table = make_table(add(F32, 4), view, add(F32, 4, number=2))
    price = price_table(table, make_device(launch_us=3))
    assert price.step_time_s == pytest.approx(2 * (3e-6 + 48e-12))


def test_a_value_that_is_cast_twice_to_one_precision_is_cast_once():
    """The second cast of one producer costs nothing; a cast of another one does."""
    first = add(F32, 10**6)
    casts = [
        make_row(number, "Cast", [((10**6,), F32)], ((10**6,), F16), producers=(producer,))
        for number, producer in ((1, 0), (2, 0), (4, 3))
    ]
    table = make_table(first, *casts[:2], add(F32, 10**6, number=3), casts[2])
    price = price_table(table, make_device())
    assert price.casts.count == 2
    assert price.casts.seconds == pytest.approx(2 * 6e-6)
    assert price.casts.share == pytest.approx(12 / (12 + 24))


def test_casts_of_one_ops_several_outputs_are_different_casts():
    """The gradients of a normalisation's scale and shift have one producer and one shape, and are two values."""
    grad = make_row(0, "LayerNormGrad", [((4, 8), F32)], ((4, 8), F32), output_shapes=((4, 8), (8,), (8,)))
    casts = [make_row(n, "Cast", [((8,), F32)], ((8,), F16), producers=(0,)) for n in (1, 2)]
    assert price_table(make_table(grad, *casts), make_device()).casts.count == 2


def test_casts_of_integers_are_no_casts_between_precisions():
    """A boolean turned into an integer costs its time and is not counted."""
    cast = make_row(0, "Cast", [((100,), None)], ((100,), None))
    price = price_table(make_table(cast), make_device())
    assert price.casts.count == 0
    assert price.step_time_s > 0


def test_an_op_without_a_rule_is_priced_by_its_bytes_and_named():
    """No arithmetic is known of it; nothing is dropped in silence."""
    table = make_table(
        make_row(0, "Mystery", [((10**6,), F32)], ((10**6,), F32), flops=None), add(F32, 4, number=1)
    )
    price = price_table(table, make_device())
    assert price.by_bytes_only == ("Mystery",)
    assert price.step_time_s == pytest.approx(8e-6, rel=1e-3)


def test_the_shares_of_arithmetic_go_by_precision():
    """Of three equal products, one in float16, a third is float16."""
    table = make_table(matmul(F32), matmul(F16, number=1), matmul(F32, number=2))
    assert price_table(table, make_device()).flops_share == pytest.approx({F16: 1 / 3, F32: 2 / 3})


def test_the_costliest_float32_ops_of_the_network_are_named_dearest_first():
    """Float16 ops and ops outside the network are not among them."""
    table = make_table(
        add(F32, 10**6) | {"layer": "a"},
        matmul(F32, number=1) | {"layer": "b", "direction": "gradient"},
        matmul(F16, number=2),
        matmul(F32, number=3) | {"layer": None},
    )
    costs = price_table(table, make_device()).costliest_float32
    assert [(cost.op, cost.layer, cost.direction) for cost in costs] == [
        ("MatMul", "b", "gradient"),
        ("Add", "a", "forward"),
    ]


def test_an_empty_table_costs_nothing():
    """No op, no time, no shares."""
    price = price_table(make_table(), make_device())
    assert (price.step_time_s, dict(price.flops_share), price.casts.share) == (0.0, {}, 0.0)


def test_a_shape_that_is_not_known_has_no_price():
    """The error names the ops and says what to do."""
    table = make_table(add(F32, 4) | {"flops": None, "bytes_read": None, "bytes_written": None})
    with pytest.raises(HalfwiseError, match=r"1 ops have shapes that are not known .*\(Add\).*fixed shape"):
        price_table(table, make_device())


def test_a_device_without_the_figure_that_a_step_needs_is_refused():
    """A bfloat16 product on a V100, and any step on an Ascend 910A."""
    devices = load_devices()
    with pytest.raises(InputError, match=r"v100 .* bfloat16 matrix rate"):
        price_table(make_table(matmul(F32) | {"compute_precision": "bfloat16"}), devices["v100"])
    with pytest.raises(InputError, match="ascend-910a"):
        price_table(make_table(add(F32, 4)), devices["ascend-910a"])


def test_a_kernel_table_is_priced_as_the_kernel_stage():
    """It has neither layers nor graph names, and its price says which stage it is of."""
    columns = ["layer", "graph_op", "direction", "parameters", "consumers"]
    table = make_table(matmul(F32)).drop(columns=columns)
    price = price_table(table, make_device(), stage="kernel")
    assert price.step_time_s == pytest.approx(2e-3)
    assert price.label == "priced on paper (kernel stage)"
    assert price.costliest_float32 == ()


def test_every_figure_in_words_says_the_device_that_it_is_priced_on():
    """Assumptions are printed as such, and lines with figures of time name the device."""
    device = make_device(launch_us=3)
    table = make_table(matmul(F32), matmul(F16, number=1))
    lines = describe(price_table(table, device), 32, price_table(make_table(matmul(F32)), device))
    for line in lines:
        assert "priced on paper" in line or line.startswith("assumed: "), line
    assert any(line.startswith("throughput: ") and "batch size 32" in line for line in lines)
    assert any("launch cost an op 3 us (assumed)" in line for line in lines)


def test_memory_in_words_says_what_is_counted():
    """The sum, its parts, and the largest batch."""
    forward = add(F32, 2**20)
    gradient = make_row(1, "AddGrad", [((2**20,), F32)], ((2**20,), F32), producers=(0,), direction="gradient")
    table = make_table(forward, gradient)
    lines = describe(price_table(table, make_device()), 8, memory=price_memory(table), device=make_device())
    assert any(line.startswith("memory: 4 MiB at least") and "4 MiB float32" in line for line in lines)
    assert any(line.startswith("largest batch that fits: 1907 at most") for line in lines)


ops = st.one_of(
    st.builds(add, st.sampled_from([F32, F16]), st.integers(1, 10**7)),
    st.builds(matmul, st.sampled_from([F32, F16]), *[st.integers(1, 2000)] * 3),
)


def numbered(rows: list[dict]) -> pd.DataFrame:
    """The rows as a table with numbers of their own."""
    return make_table(*(row | {"id": number} for number, row in enumerate(rows)))


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(ops, min_size=1, max_size=6), bandwidth=st.floats(0.1, 10), factor=st.floats(1, 10))
def test_more_bandwidth_is_never_slower(rows: list[dict], bandwidth: float, factor: float):
    """A step on a device with a faster memory takes as long or less."""
    slow, fast = make_device(bandwidth), make_device(bandwidth * factor)
    table = numbered(rows)
    assert price_table(table, fast).step_time_s <= price_table(table, slow).step_time_s


@settings(deadline=None, max_examples=50)
@given(first=st.lists(ops, max_size=5), second=st.lists(ops, max_size=5))
def test_a_price_is_the_sum_over_its_ops(first: list[dict], second: list[dict]):
    """Two steps in one table cost what they cost apart, and a step costs at least its launches."""
    device = make_device(launch_us=1)
    together = price_table(numbered(first + second), device).step_time_s
    apart = sum(price_table(numbered(rows), device).step_time_s for rows in (first, second))
    assert together == pytest.approx(apart)
    assert together >= len(first + second) * 1e-6
