"""Trials on tiny real networks: what trains, what does not, and why."""

import math
import re

import pandas as pd
import pytest

from halfwise.policies import parse_policy

SHARED = {"Softmax", "LogSoftmax", "ReLU"}
LOW_BUT_FOR_THE_PRODUCT = "{default: float16, layers: {'square::Mul': float32}}"


@pytest.mark.parametrize("policy", ["O0", "O3", "{default: float16, mode: pynative}"])
def test_a_harmless_network_trains_in_every_precision_and_mode(run_trial, policy):
    """A network without hazards trains to its quality, and every figure of the outcome is there."""
    outcome = run_trial("make_tiny", policy)
    assert outcome.status == "trained", outcome.message
    assert outcome.quality > 0.85
    assert len(outcome.losses) == 30
    assert outcome.losses[-1] < outcome.losses[0]
    assert outcome.updates_applied + outcome.updates_skipped == 30
    assert outcome.step_time.steps_timed == 27
    assert outcome.step_time.wall_s > 0
    assert outcome.peak_memory_bytes > 50 << 20
    assert (outcome.compile_time_s is None) == ("pynative" in policy)
    expected = 32 * outcome.updates_applied / 30 / outcome.step_time.wall_s
    assert outcome.throughput_samples_per_s == pytest.approx(expected)


def test_the_same_trial_twice_is_the_same_bit_for_bit(run_trial):
    """Two processes with one policy and one seed give equal losses and equal quality; another seed others."""
    first, second, other = (run_trial("make_tiny", "O3", seed=seed) for seed in (1, 1, 2))
    assert first.losses == second.losses
    assert first.quality == second.quality
    assert first.losses != other.losses


def test_an_overflowing_product_is_named_with_layer_and_op(run_trial):
    """A product beyond 65,504 makes the trial infeasible, and the outcome names its layer, op and direction."""
    outcome = run_trial("make_overflowing", "O3")
    assert outcome.status == "infeasible"
    assert outcome.cause == "non-finite at step 0"
    place = outcome.first_non_finite
    assert (place.step, place.layer, place.op, place.direction) == (0, "square", "Mul", "forward")
    assert outcome.losses == (None,)


def test_only_that_product_in_float32_cures_it(run_trial):
    """With that one op in float32 and all else low, the network trains as float32 does."""
    cured, reference = run_trial("make_overflowing", LOW_BUT_FOR_THE_PRODUCT), run_trial("make_overflowing")
    assert cured.status == "trained"
    assert cured.quality == pytest.approx(reference.quality, abs=0.05)
    assert cured.low_precision_layers == cured.layers == 4


def test_outputs_and_labels_reach_loss_and_metric_in_float32(run_trial):
    """Under an all-float16 policy, a dict of outputs and float labels (4097) arrive in float32."""
    outcome = run_trial("make_tuple_and_dict", "O3")
    assert outcome.status == "trained", outcome.message
    assert outcome.losses[-1] < outcome.losses[0]
    assert outcome.quality > 0.7


def test_a_loss_that_never_moves_is_a_cause(run_trial):
    """A loss that is the same at every step is named as such."""
    outcome = run_trial("make_constant_loss")
    assert (outcome.status, outcome.cause) == ("infeasible", "loss never moved")
    assert outcome.quality is None


def test_a_loss_scale_that_never_works_ends_the_trial(run_trial):
    """After 20 skipped steps in a row the trial stops: no working loss scale, and no update counts."""
    outcome = run_trial("make_huge_gradient", "O3", steps=60)
    assert (outcome.status, outcome.cause) == ("infeasible", "no working loss scale")
    assert (outcome.updates_applied, outcome.updates_skipped) == (0, 20)
    assert outcome.loss_scales[:3] == (65536.0, 32768.0, 16384.0)
    assert outcome.loss_scales[-1] == 1.0
    assert outcome.throughput_samples_per_s == 0


def test_scaling_trains_what_vanishes_without(run_trial):
    """Gradients that float16 flushes to zero leave the weights alone; dynamic loss scaling brings them back."""
    without = run_trial("make_faint", "{default: float16, loss_scaling: {kind: none}}")
    scaled = run_trial("make_faint", "{default: float16}")
    reference = run_trial("make_faint", "{default: float32, loss_scaling: {kind: none}}")
    assert reference.quality > 0.85
    assert scaled.quality == pytest.approx(reference.quality, abs=0.05)
    assert without.quality < reference.quality - 0.1


@pytest.mark.parametrize(("workload", "words"), [("make_nan_quality", "nan"), ("make_infinite_quality", "inf")])
def test_a_quality_that_is_no_number_is_infeasible(run_trial, workload, words):
    """NaN and infinity as quality make a trial infeasible, with the value as the cause."""
    outcome = run_trial(workload)
    assert (outcome.status, outcome.cause) == ("infeasible", f"accuracy is {words}")


@pytest.mark.parametrize("scaling", ["{kind: dynamic, initial: 1024}", "{kind: static, scale: 1024}"])
def test_a_loss_scale_changes_no_update_in_float32(run_trial, scaling):
    """A power of two as loss scale gives the same losses as none, bit for bit, in float32."""
    plain = run_trial("make_tiny", "{default: float32, loss_scaling: {kind: none}}")
    scaled = run_trial("make_tiny", f"{{default: float32, loss_scaling: {scaling}}}")
    assert scaled.losses == plain.losses
    assert plain.loss_scales == (1.0,) * 30
    assert scaled.loss_scales == (1024.0,) * 30


def test_a_short_trial_is_refused(run_trial):
    """Fewer steps than can be timed are an input error that names the least number."""
    outcome = run_trial("make_tiny", steps=7)
    assert outcome.status == "failed"
    assert "at least 8 steps" in outcome.message


def test_bfloat16_on_a_cpu_does_not_compile_and_harms_nothing(run_trial):
    """A policy in a precision without kernels is infeasible with MindSpore's words; the next trial is fine."""
    outcome = run_trial("make_tiny", "{default: bfloat16}")
    assert outcome.status == "infeasible"
    assert outcome.cause == "does not compile"
    assert re.fullmatch(
        r"TypeError: Select CPU operator\[MatMul\] fail! Unsupported data type! \(.*/tiny_workloads\.py:\d+\)",
        outcome.message,
    )
    assert run_trial("make_tiny").status == "trained"


def test_every_trial_is_proven(run_trial, tmp_path):
    """The outcome says what the compiled step made of the policy, and its op table lies beside it."""
    outcome = run_trial("make_tiny", "{default: float16, layers: {norm: float32}}")
    assert outcome.evidence.mismatches == ()
    assert outcome.evidence.summary.startswith("asked: 5 of 6 ops float16, 1 kept float32 by their layers")
    table = pd.read_csv(tmp_path / "trial-0" / "ops.csv.gz")
    norms = table[table["op"].isin(["LayerNorm", "LayerNormGrad"])]
    assert list(norms["compute_precision"]) == ["float32"] * len(norms)
    assert set(norms["layer"]) == {"norm"}
    # Behind float16 data a float32 LayerNorm must not round its scale and shift on the way.
    casts = table[table["is_cast"] & table["parameters"].str.contains(r"norm\.(?:gamma|beta)")]
    assert list(casts["op"]) == []


@pytest.mark.parametrize("low", ["first", "second"])
def test_regions_hold_for_functions_that_layers_share(run_trial, tmp_path, low):
    """Of two layers that call one function with the same types, each computes in what is asked of it."""
    outcome = run_trial("make_functions", f"{{default: float32, layers: {{{low}: float16}}}}")
    assert outcome.evidence.mismatches == ()
    table = pd.read_csv(tmp_path / "trial-0" / "ops.csv.gz")
    for layer in ("first", "second"):
        rows = table[(table["layer"] == layer) & (table["direction"] == "forward") & table["op"].isin(SHARED)]
        assert set(rows["op"]) == SHARED
        assert set(rows["compute_precision"]) == {"float16" if layer == low else "float32"}


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_policies_that_ask_for_the_same_step_share_its_outcome(run_trial, mode):
    """A policy whose asked table is known is not trained again; loss scaling and mode tell trainings apart."""
    first = run_trial("make_tiny", f"{{default: float16, mode: {mode}}}")
    key = first.evidence.training_key(parse_policy(first.policy))
    by_layer = f"{{layers: {{first: float16, norm: float16, second: float16, .: float16}}, mode: {mode}}}"
    second = run_trial("make_tiny", by_layer, trained={key: first})
    assert second.losses == first.losses
    assert second.policy != first.policy
    assert second.trial_time_s == first.trial_time_s
    other = run_trial(
        "make_tiny", f"{{default: float16, mode: {mode}, loss_scaling: {{kind: none}}}}", trained={key: first}
    )
    assert other.trial_time_s != first.trial_time_s


def test_losses_are_finite_or_none(run_trial):
    """No outcome holds NaN or infinity, whatever happened."""
    for workload in ("make_overflowing", "make_huge_gradient"):
        outcome = run_trial(workload, "O3")
        assert all(loss is None or math.isfinite(loss) for loss in outcome.losses)


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_an_overflow_behind_wide_kernels_and_a_harmless_mask_is_named(run_trial, mode):
    """Layers that a CPU computes in float32, and a masked score of minus infinity, are not taken for the fault."""
    outcome = run_trial("localize_workloads:make_late_overflow", f"{{default: float16, mode: {mode}}}")
    place = outcome.first_non_finite
    assert (place.layer, place.op, place.direction) == ("squares", "Mul", "forward")


def test_a_loss_that_never_moves_names_the_first_op_to_leave_float32(run_trial):
    """Where nothing is non-finite, the step is held against float32: the gradient that vanished is named."""
    outcome = run_trial("localize_workloads:make_frozen", "{default: float16, loss_scaling: {kind: none}}")
    assert outcome.cause == "loss never moved"
    assert outcome.first_non_finite is None
    assert (outcome.left_float32.layer, outcome.left_float32.direction) == ("second", "gradient")
    assert outcome.blamed_place == outcome.left_float32
    assert outcome.notes == (f"the first op to leave float32: {outcome.left_float32}",)


def test_where_only_pynative_runs_the_layer_is_named(run_trial):
    """Of a network that graph mode cannot compile, the first layer to give what is not finite is named."""
    outcome = run_trial("localize_workloads:make_eager_overflow", "{default: float16, mode: pynative}")
    place = outcome.first_non_finite
    assert (place.layer, place.op, place.direction) == ("squares", None, "forward")
    assert str(place) == "step 0, in squares (forward)"
