import pytest
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price import cast_report, price_table

SIZE = 1000


def cast(number: int, up: bool, **columns):
    """A cast of SIZE values."""
    before, after = ("float16", "float32") if up else ("float32", "float16")
    return make_row(number, "Cast", [((SIZE,), before)], ((SIZE,), after), **columns)


def a_step():
    """Layer a in float32; b and c in float16 share a cast of its value; b's gradient is cast back to a."""
    return make_table(
        make_row(0, "Add", [((SIZE,), "float32")] * 2, ((SIZE,), "float32"), layer="a"),
        cast(1, up=False, producers=(0,), layer="b"),
        make_row(2, "ReLU", [((SIZE,), "float16")], ((SIZE,), "float16"), producers=(1,), layer="b"),
        make_row(3, "Tanh", [((SIZE,), "float16")], ((SIZE,), "float16"), producers=(1,), layer="c"),
        cast(4, up=False, parameters=("d.w",), layer="d"),
        make_row(5, "MatMul", [((SIZE,), "float16")], ((SIZE,), "float16"), producers=(4,), layer="d"),
        make_row(6, "ReluGrad", [((SIZE,), "float16")], ((SIZE,), "float16"), layer="b", direction="gradient"),
        cast(7, up=True, producers=(6,), layer="b", direction="gradient"),
        make_row(
            8, "Mul", [((SIZE,), "float32")], ((SIZE,), "float32"), producers=(7,), layer="a", direction="gradient"
        ),
    )


def test_casts_stand_at_the_boundary_that_they_cross():
    """Forward and backward casts of one boundary are together, weights are a side of their own."""
    report = {(b.producer, b.consumer): b for b in cast_report(a_step(), make_device())}
    assert set(report) == {("a", "b"), ("(weights)", "d")}
    assert report["a", "b"].casts == 2
    assert report["a", "b"].seconds == pytest.approx(2 * SIZE * 6 / 1e12)


def test_the_shares_are_of_the_whole_step_and_the_dearest_comes_first():
    """Shares add up to the casts' share of the price."""
    report = cast_report(a_step(), make_device())
    assert [b.producer for b in report] == ["a", "(weights)"]
    assert sum(b.share for b in report) == pytest.approx(price_table(a_step(), make_device()).casts.share)


def test_merging_saves_nothing_of_a_cast_that_another_layer_needs():
    """The shared forward cast stays for c; only the backward one goes."""
    first, second = cast_report(a_step(), make_device())
    assert first.merging_saves_s == pytest.approx(SIZE * 6 / 1e12)
    assert second.merging_saves_s == pytest.approx(second.seconds)


def test_a_step_without_casts_has_no_boundaries():
    """Float32 alone: nothing to report."""
    assert cast_report(make_table(), make_device()) == ()


def test_only_as_many_boundaries_as_asked_for_are_told():
    """The top one of two."""
    assert len(cast_report(a_step(), make_device(), top=1)) == 1
