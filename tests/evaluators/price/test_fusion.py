import pandas as pd
import pytest
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price import price_table

SHAPE = (8, 16, 32, 32)
ELEMENTS = 8 * 16 * 32 * 32
STATISTICS = [((16,), "float32")] * 4


def norm_between_casts(taker: str = "Cast") -> pd.DataFrame:
    """Convolution in float16, cast up, BatchNorm in float32, and a cast down (or another taker) behind it."""
    conv = make_row(0, "Conv2D", [(SHAPE, "float16")], (SHAPE, "float16"))
    up = make_row(1, "Cast", [(SHAPE, "float16")], (SHAPE, "float32"), producers=(0,))
    norm = make_row(2, "BatchNorm", [(SHAPE, "float32"), *STATISTICS], (SHAPE, "float32"), producers=(1,))
    down = make_row(3, taker, [(SHAPE, "float32")], (SHAPE, "float16"), producers=(2,))
    return make_table(conv, up, norm, down)


def test_a_device_that_fuses_takes_both_casts_into_the_normalisation():
    """Both casts go, and the op moves half the data: 12 bytes less for casts, 4 less for itself, an element."""
    plain = price_table(norm_between_casts(), make_device())
    fused = price_table(norm_between_casts(), make_device(fused=("BatchNorm",)))
    assert (plain.casts.count, fused.casts.count) == (2, 0)
    assert plain.step_time_s - fused.step_time_s == pytest.approx(ELEMENTS * (12 + 4) / 1e12)


def test_nothing_is_fused_when_somebody_takes_the_float32_value():
    """With a float32 op behind the normalisation both price the same."""
    table = norm_between_casts(taker="Add")
    plain = price_table(table, make_device())
    assert price_table(table, make_device(fused=("BatchNorm",))).step_time_s == plain.step_time_s


def test_a_cast_that_another_op_takes_too_stays():
    """The normalisation reads the low value itself, and the other taker still needs the cast."""
    other = make_row(4, "Add", [(SHAPE, "float32")] * 2, (SHAPE, "float32"), producers=(1,))
    rows = [*norm_between_casts().drop(columns="consumers").to_dict("records"), other]
    fused = price_table(make_table(*rows), make_device(fused=("BatchNorm",)))
    assert fused.casts.count == 1


def test_only_the_ops_of_the_rule_are_fused():
    """A device that fuses casts around another op leaves these alone."""
    price = price_table(norm_between_casts(), make_device(fused=("LayerNorm",)))
    assert price.casts.count == 2
