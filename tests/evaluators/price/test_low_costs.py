import numpy as np
import pytest
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price.low_costs import row_costs

F32 = "float32"


def low_bytes(row: dict) -> float:
    """Bytes that a float32 row would move in float16: at 1 TB/s, with no arithmetic and no launch."""
    costs = row_costs(make_table(row | {"flops": 0}), make_device())
    return float(costs.low_s["float16"][0] * 1e12)


def test_an_op_of_floats_moves_half():
    """Two operands and an output of 100 values: 600 bytes."""
    assert low_bytes(make_row(0, "Add", [((100,), F32)] * 2, ((100,), F32))) == pytest.approx(600)


def test_integers_keep_their_width():
    """A comparison's integers are read as before."""
    row = make_row(0, "Select", [((100,), None), ((100,), F32)], ((100,), F32))
    assert low_bytes(row) == pytest.approx(800 + 200 + 200)


def test_a_value_that_is_given_twice_is_read_once_in_any_width():
    """The square of 100 values reads 200 bytes and writes 200."""
    row = make_row(0, "Mul", [((100,), F32)] * 2, ((100,), F32), bytes_read=400)
    assert low_bytes(row) == pytest.approx(400)


@pytest.mark.parametrize("table", [10, 10_000])
def test_a_look_up_reads_what_it_writes_and_its_indices(table: int):
    """100 rows of 8 from a small or a large table: 1,600 bytes each way, and 400 of indices."""
    row = make_row(0, "Gather", [((table, 8), F32), ((100,), None)], ((100, 8), F32), bytes_read=400 + 3200)
    assert low_bytes(row) == pytest.approx(400 + 1600 + 1600)


def test_of_an_in_place_normalisation_only_the_data_is_low():
    """Scale, shift and statistics stay float32, going in and coming out."""
    data, vector = (4, 8, 2, 2), (8,)
    row = make_row(
        0, "BatchNorm", [(data, F32), *[(vector, F32)] * 4], (data, F32), output_shapes=(data, vector),
        bytes_written=512 + 32,
    )  # fmt: skip
    assert low_bytes(row) == pytest.approx(256 + 4 * 32 + 256 + 32)


def test_of_a_layer_norm_the_scale_is_low_too_and_the_statistics_are_not():
    """Backwards: data and its gradient, scale, and what comes out are low; mean and variance are not."""
    data, statistic, scale = (4, 8), (4, 1), (8,)
    inputs = [(data, F32), (data, F32), (statistic, F32), (statistic, F32), (scale, F32)]
    row = make_row(
        0, "LayerNormGrad", inputs, (data, F32), output_shapes=(data, scale, scale), bytes_written=128 + 64
    )
    assert low_bytes(row) == pytest.approx(64 + 64 + 16 + 16 + 16 + 64 + 32)


def test_a_precision_without_figures_has_no_costs():
    """The device on paper knows float16 alone; float32 is what the table costs."""
    costs = row_costs(make_table(make_row(0, "Add", [((100,), F32)], ((100,), F32))), make_device())
    assert costs.precisions == (F32, "float16")
    assert np.allclose(costs.seconds(F32), 800e-12)
