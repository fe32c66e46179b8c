"""Where kernels' time went, by tables made by hand."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price.op_costs import op_costs
from halfwise.evaluators.profiling.result import Float32Op
from halfwise.evaluators.profiling.shares import float32_ops, parts_of_step

SQUARE = (100, 100)
# The policy asks the second product in float16; this device computes both in float32, behind two casts.
OPS = make_table(
    make_row(0, "MatMul", [(SQUARE, "float32")] * 2, (SQUARE, "float32"), layer="a", flops=2_000_000),
    make_row(1, "Cast", [(SQUARE, "float32")], (SQUARE, "float16"), layer="b", producers=(0,)),
    make_row(
        2, "MatMul", [(SQUARE, "float16")] * 2, (SQUARE, "float16"), layer="b", flops=2_000_000, producers=(1,)
    ),
    make_row(3, "ApplyMomentum", [(SQUARE, "float32")] * 2, (SQUARE, "float32"), layer=None, direction="update"),
    make_row(4, "Gather", [(SQUARE, None)], ((1,), None), layer="c"),
)


def kernels_of(asked: list[int | None]) -> pd.DataFrame:
    """The kernels k0, k1, ...: both products in float32, casts down and up, the update, and the look-up."""
    table = make_table(
        make_row(0, "MatMul", [(SQUARE, "float32")] * 2, (SQUARE, "float32")),
        make_row(1, "Cast", [(SQUARE, "float32")], (SQUARE, "float16")),
        make_row(2, "Cast", [(SQUARE, "float16")], (SQUARE, "float32")),
        make_row(3, "MatMul", [(SQUARE, "float32")] * 2, (SQUARE, "float32")),
        make_row(4, "ApplyMomentum", [(SQUARE, "float32")] * 2, (SQUARE, "float32")),
        make_row(5, "Gather", [(SQUARE, None)], ((1,), None)),
    )
    return table.assign(
        asked_id=pd.Series(asked, index=table.index, dtype=object), name=[f"k{n}" for n in range(6)]
    )


KERNELS = kernels_of([0, None, None, 2, 3, 4])
TIMES = {"k0": 4.0, "k1": 0.5, "k2": 0.25, "k3": 3.0, "k4": 1.0, "k5": 0.125, "elsewhere": 9.0}


def test_measured_parts_are_those_of_the_kernels():
    """Both products and the update count as float32, where the kernels computed, whatever was asked."""
    parts = {part.part: part.measured_s for part in parts_of_step(KERNELS, OPS, TIMES, make_device())}
    assert parts == {"float16": 0.0, "float32": 8.0, "casts": 0.75, "no floats": 0.125}


def test_priced_parts_are_those_of_the_asked_ops():
    """Beside them each op is priced in the precision that it was asked to compute in."""
    device = make_device()
    seconds = op_costs(OPS, device).seconds
    parts = {part.part: part.priced_s for part in parts_of_step(KERNELS, OPS, TIMES, device)}
    assert parts == pytest.approx(
        {"float16": seconds[2], "float32": seconds[0] + seconds[3], "casts": seconds[1], "no floats": seconds[4]}
    )


def test_float32_ops_are_those_of_the_network_longest_first():
    """The update is no op of the network; a float32 kernel for a float16 op has no price beside it."""
    device = make_device()
    first, second = float32_ops(KERNELS, OPS, TIMES | {"k3": 5.0}, device)
    assert first == Float32Op(op="MatMul", layer="b", direction="forward", measured_s=5.0, priced_s=None)
    assert (second.layer, second.measured_s) == ("a", 4.0)
    assert second.priced_s == pytest.approx(op_costs(OPS, device).seconds[0])


def test_a_kernel_of_no_known_op_is_no_float32_op():
    """What cannot be told is left out there; its time still counts in the parts."""
    unknown = kernels_of([None, None, None, None, 3, 4])
    assert float32_ops(unknown, OPS, TIMES, make_device()) == ()
    assert parts_of_step(unknown, OPS, TIMES, make_device()) == parts_of_step(KERNELS, OPS, TIMES, make_device())


@given(st.dictionaries(st.sampled_from([f"k{n}" for n in range(6)]), st.floats(0, 1e3)))
def test_every_second_of_a_kernel_is_in_one_part(times: dict[str, float]):
    """Whatever ran: the parts add up to the time of the kernels that the graph holds."""
    parts = parts_of_step(KERNELS, OPS, times, make_device())
    assert sum(part.measured_s for part in parts) == pytest.approx(sum(times.values()))
