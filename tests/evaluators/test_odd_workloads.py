"""Workloads that are odd in ways that people have run into: tied weights, batches that change, dynamic shapes."""

import pytest
from fresh_process import in_fresh_process


@pytest.mark.parametrize("layer", ["embedding", "head"])
def test_tied_weights_of_two_precisions_train_and_count_once(layer):
    """One Parameter in two layers, of which one is low: it trains in float32, and memory counts it once."""
    policy = f"{{default: float32, layers: {{{layer}: float16}}}}"
    trained = in_fresh_process("rewrite_jobs:train", network="tied", policies=[policy], steps=8)
    losses = [float.fromhex(loss) for loss in trained["losses"]]
    assert len(set(losses)) == 8
    assert trained["types"] == ["Float32"]
    found = in_fresh_process("eager_jobs:memory_of_tied", policy=policy)
    # The optimizer's step counter, one number, is counted among the weights.
    assert found["weights"] == found["gradients"] == found["parameter"] + 4
    # Adam's two moments.
    assert found["optimizer"] == 2 * found["parameter"]


def test_batches_of_changing_shape_end_the_trial(run_trial):
    """A second batch of another shape is an error with both shapes, not a second compilation in what is timed."""
    outcome = run_trial("awkward_workloads:make_shrinking", "O3")
    assert (outcome.status, outcome.cause) == ("failed", "raised")
    assert outcome.message == (
        "batches must keep one shape, but after [(32, 2), (32,)] came [(16, 2), (16,)]; drop or pad the last one"
    )


def test_shapes_that_depend_on_the_data_train(run_trial):
    """An op whose output's shape is known only when it runs has no price, and trains all the same."""
    outcome = run_trial("awkward_workloads:make_dynamic", "O3")
    assert outcome.status == "trained", outcome.message
    assert outcome.priced is None


def test_a_function_of_network_and_loss_is_told_apart(run_trial):
    """Where both call `ops.mean`, the network's goes low and the loss's stays float32: that is as asked."""
    outcome = run_trial("awkward_workloads:make_mean_in_loss", "{default: float16}")
    assert outcome.evidence.mismatches == ()
    assert outcome.status == "trained", outcome.message
