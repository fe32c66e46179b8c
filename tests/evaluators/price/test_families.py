import numpy as np
import pytest
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price.families import family_seconds, fit_multipliers
from halfwise.evaluators.price.op_costs import op_costs

F32, F16 = "float32", "float16"


def test_every_kernel_is_of_one_family():
    """A product, a float32 and a float16 sum, a cast and an integer op: each in its place."""
    table = make_table(
        make_row(0, "MatMul", [((8, 8), F32)] * 2, ((8, 8), F32)),
        make_row(1, "Add", [((8,), F32)] * 2, ((8,), F32)),
        make_row(2, "Add", [((8,), F16)] * 2, ((8,), F16)),
        make_row(3, "Cast", [((8,), F32)], ((8,), F16)),
        make_row(4, "Add", [((8,), None)] * 2, ((8,), None)),
    )
    costs = op_costs(table, make_device())
    seconds = costs.seconds
    expected = [seconds[0], seconds[1] + seconds[4], seconds[3], seconds[2]]
    assert family_seconds(table, costs) == pytest.approx(expected)
    assert min(expected) > 0


def test_the_factors_that_made_the_measurements_are_found_again():
    """Steps whose times are exactly factors times parts, plus what stands beside, give those factors back."""
    factors = np.array([0.5, 2.0, 1.25, 3.0])
    parts = np.random.default_rng(0).uniform(1, 2, (8, 4))
    assert fit_multipliers(list(parts), 0.7, list(parts @ factors + 0.7)) == pytest.approx(factors)


def test_the_fit_is_the_least_squares_of_the_relative_error():
    """With one family there, the closed form: sum(p (1 - b/m) / m) / sum(p^2 / m^2)."""
    parts, measured, beside = np.array([1.0, 2.0, 4.0]), np.array([3.0, 4.0, 9.0]), 0.5
    rows = [np.array([part, 0, 0, 0]) for part in parts]
    relative = parts / measured
    closed = relative @ (1 - beside / measured) / (relative @ relative)
    assert fit_multipliers(rows, beside, list(measured)) == pytest.approx([closed, 1, 1, 1])


def test_no_factor_is_negative():
    """A family that would have to be paid back counts nothing instead."""
    rows = [np.array([1.0, 0, 1.0, 0]), np.array([1.0, 0, 2.0, 0])]
    found = fit_multipliers(rows, 0, [2.0, 1.0])
    assert found[2] == 0
    assert found[0] > 0
