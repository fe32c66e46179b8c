import pytest
from calibrated_device import calibrated
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price import price_table

F32, F16 = "float32", "float16"


def matmul(number: int = 0):
    """An 8 x 8 product in float32."""
    return make_row(number, "MatMul", [((8, 8), F32)] * 2, ((8, 8), F32), flops=1024)


def cast(number: int, *producers: int):
    """An 8 x 8 cast to float16."""
    return make_row(number, "Cast", [((8, 8), F32)], ((8, 8), F16), producers=producers)


def test_the_kernel_stage_costs_what_its_kernels_were_timed_at():
    """By hand: 50 us of product, 7 of ReLU, 11 of a cast of half zeros, 3 of a plain one, 200 beside them."""
    relu = make_row(1, "ReLU", [((8, 8), F32)], ((8, 8), F32), producers=(0,))
    price = price_table(make_table(matmul(), relu, cast(2, 1), cast(3, 0)), calibrated(200), "kernel")
    assert price.step_time_s == pytest.approx((50 + 7 + 11 + 3 + 200) * 1e-6)
    assert price.casts.count == 2
    assert price.casts.seconds == pytest.approx(14e-6)
    assert price.label == "priced on paper (kernel stage)"


def test_equal_casts_are_all_run():
    """The kernel table holds what is run: two casts of one value cost twice."""
    price = price_table(make_table(matmul(), cast(1, 0), cast(2, 0)), calibrated(), "kernel")
    assert price.step_time_s == pytest.approx((50 + 3 + 3) * 1e-6)


def test_a_kernel_of_no_timed_kind_is_priced_by_the_peaks():
    """A sum of a million elements at 1 TB/s takes 12 us and a launch."""
    add = make_row(1, "Add", [((10**6,), F32)] * 2, ((10**6,), F32))
    price = price_table(make_table(matmul(), add), calibrated(), "kernel")
    assert price.step_time_s == pytest.approx((50 + 12 + 1) * 1e-6)


def test_a_view_costs_nothing():
    """A kernel that moves nothing is not run."""
    view = make_row(0, "Reshape", [((8, 8), F32)], ((64,), F32), flops=0, bytes_read=0, bytes_written=0)
    assert price_table(make_table(view), calibrated(), "kernel").step_time_s == 0


def test_the_asked_stage_of_a_calibrated_device_goes_by_its_peaks():
    """Timings are of kernels, so an op table does not see them."""
    table = make_table(matmul())
    assert (
        price_table(table, calibrated(200)).step_time_s == price_table(table, make_device(launch_us=1)).step_time_s
    )
