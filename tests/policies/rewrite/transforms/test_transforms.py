"""The shipped transforms, each held against its closed form."""

import numpy as np
import pytest
from fresh_process import in_fresh_process

from halfwise.policies.errors import InputError
from halfwise.policies.rewrite.transforms import clip_gradients_by_norm, clip_gradients_by_value

MODES = ("graph", "pynative")


@pytest.mark.parametrize(("group", "has_bias"), [(1, False), (2, True)])
def test_folding_is_the_formula(group, has_bias):
    """Weight and bias are s * W and s * (b - mean) + beta; in training it is declined and says what to do."""
    found = in_fresh_process("transform_jobs:folded", group=group, has_bias=has_bias)
    before = {name: np.asarray(value, np.float64) for name, value in found["before"].items()}
    scale = before["gamma"] / np.sqrt(before["moving_variance"] + 1e-3)
    np.testing.assert_allclose(found["weight"], before["weight"] * scale.reshape(-1, 1, 1, 1), rtol=1e-6)
    np.testing.assert_allclose(
        found["bias"], scale * (before["bias"] - before["moving_mean"]) + before["beta"], rtol=1e-6, atol=1e-6
    )
    assert found["layers"] == ["Conv2d"]
    assert found["names"] == ["0.weight", "0.bias"]
    assert 0 <= found["difference"] <= 1e-5
    assert [("set_train(False)" in reason) for reason in found["in training"]] == [True]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["value", "norm"])
def test_clips_change_the_gradient_and_nothing_forward(mode, kind):
    """The output is bit for bit the same; the weight's gradient is that of the clipped gradient of the output."""
    limit = 0.5 if kind == "value" else 1.5
    found = in_fresh_process("transform_jobs:clipped", mode=mode, kind=kind, limit=limit)
    come_in, x = np.asarray(found["come in"], np.float64), np.asarray(found["x"], np.float64)
    assert found["outputs"][0] == found["outputs"][1]
    length = np.linalg.norm(come_in)
    assert length > 1.5
    clipped = np.clip(come_in, -0.5, 0.5) if kind == "value" else come_in * (1.5 / length)
    np.testing.assert_allclose(found["plain"], come_in.T @ x, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["clipped"], clipped.T @ x, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_a_short_gradient_is_not_clipped(mode):
    """Below the limit a gradient keeps its length."""
    found = in_fresh_process("transform_jobs:clipped", mode=mode, kind="norm", limit=1e6)
    np.testing.assert_allclose(found["clipped"], found["plain"], rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_the_norm_of_a_float16_gradient_does_not_overflow(mode):
    """Float16 gradients of 300 are scaled to a norm of 10 though their squares overflow; the type stays."""
    found = in_fresh_process("transform_jobs:clipped_in_float16", mode=mode)
    assert found["norm"] == pytest.approx(10.0, rel=2e-3)
    assert found["type"] == "Float16"


@pytest.mark.parametrize("mode", MODES)
def test_the_first_layer_to_go_non_finite_is_named(mode):
    """A watch names the first Dense layer in the order of running, and keeps it until it is reset."""
    assert in_fresh_process("transform_jobs:first_non_finite", mode=mode) == {
        "at rest": None,
        "all finite": None,
        "last broken": "rest.2",
        "an earlier one later": "rest.2",
        "in training": "rest.0",
        "reset": None,
    }


def test_precision_groups_are_a_dense_and_its_activation():
    """Each Dense comes with the activation layer that alone reads its output; one before a softmax is alone."""
    assert in_fresh_process("transform_jobs:groups") == [["first", "relu"], ["rest.0", "rest.1"]]


@pytest.mark.parametrize("limit", [0.0, -1.0, float("inf"), float("nan")])
@pytest.mark.parametrize("rule", [clip_gradients_by_value, clip_gradients_by_norm])
def test_a_limit_must_be_positive(rule, limit):
    """A limit that is no positive number is refused."""
    with pytest.raises(InputError, match="positive"):
        rule(limit, object)
