"""Trials that go on from where they stood."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.request import END_FILE
from halfwise.policies import parse_policy

MakeEvaluator = Callable[..., Evaluator]
SCALED = "{default: float16, loss_scaling: {kind: dynamic, initial: 65536, window: 7}}"


def same_training(outcome: Outcome) -> dict[str, Any]:
    """What must be equal between two trainings that are one and the same."""
    names = ("losses", "loss_scales", "updates_applied", "updates_skipped", "quality", "status")
    return {name: getattr(outcome, name) for name in names}


@pytest.mark.parametrize("policy", [SCALED, "O0"])
def test_going_on_is_one_training_bit_for_bit(make_evaluator: MakeEvaluator, tmp_path: Path, policy: str) -> None:
    """Weights, statistics, moments, learning rate, loss scale and data go on as if nothing had stopped them."""
    asked = parse_policy(policy)
    short = make_evaluator("lasting_workloads:make_stateful", steps=18, keep_state=True)
    long = replace(short, steps=40, keep_state=False)
    first = short.evaluate(asked, "name", tmp_path / "in-two")
    assert first.status == "trained", first.message
    whole = long.evaluate(asked, "name", tmp_path / "in-one")
    gone_on = long.go_on(asked, tmp_path / "in-two", first)
    assert same_training(gone_on) == same_training(whole)
    assert gone_on.losses[:18] == first.losses
    assert len(set(whole.loss_scales)) > (1 if policy == SCALED else 0)
    assert gone_on.quality_by_steps == {18: first.quality, 40: whole.quality}
    assert (gone_on.steps_run, whole.steps_run) == (40, 40)
    assert gone_on.policy_name == "name"
    assert (gone_on.step_time, gone_on.throughput_samples_per_s) == (
        first.step_time,
        first.throughput_samples_per_s,
    )
    assert not (tmp_path / "in-two" / END_FILE).exists()


def test_without_its_state_a_trial_starts_over_and_comes_to_the_same(
    make_evaluator: MakeEvaluator, tmp_path: Path
) -> None:
    """Where the saved state is gone the trial is trained from the first step on, which costs all steps again."""
    evaluator = make_evaluator("make_tiny", steps=18)
    policy = parse_policy("O3")
    first = evaluator.evaluate(policy, None, tmp_path / "trial")
    longer = replace(evaluator, steps=30)
    gone_on = longer.go_on(policy, tmp_path / "trial", first)
    assert same_training(gone_on) == same_training(longer.evaluate(policy, None, tmp_path / "whole"))
    assert gone_on.quality_by_steps == {18: first.quality, 30: gone_on.quality}
    assert gone_on.steps_run == 18 + 30


def test_a_saved_state_is_plain_data(make_evaluator: MakeEvaluator, tmp_path: Path) -> None:
    """The file holds arrays only: nothing has to be unpickled to read it; another or a torn file is refused."""
    evaluator = make_evaluator("make_tiny", steps=10, keep_state=True)
    policy = parse_policy("O3")
    first = evaluator.evaluate(policy, None, tmp_path)
    with np.load(tmp_path / END_FILE, allow_pickle=False) as arrays:
        assert {"network 0 first.weight", "scaler scale_value", "scaler counter"} <= set(arrays)
        assert all(arrays[name].dtype != object for name in arrays)
    np.savez(tmp_path / END_FILE, **{"network 0 first.weight": np.array([{}], dtype=object)})
    refused = replace(evaluator, steps=20).go_on(policy, tmp_path, first)
    assert refused.status == "failed"
    assert "cannot go on from the training saved in" in (refused.message or "")
    assert "allow_pickle=False" in (refused.message or "")
    (tmp_path / END_FILE).write_bytes((tmp_path / END_FILE).read_bytes()[:-30])
    refused = replace(evaluator, steps=20).go_on(policy, tmp_path, first)
    assert "cannot go on from the training saved in" in (refused.message or "")


def test_what_fails_later_is_found_out_by_going_on(make_evaluator: MakeEvaluator, tmp_path: Path) -> None:
    """Finite for a whole short trial, non-finite later (case 20): the step is counted from the very first one."""
    policy = parse_policy("O3")
    short = make_evaluator("lasting_workloads:make_growing", steps=20, keep_state=True)
    first = short.evaluate(policy, None, tmp_path)
    assert first.status == "trained", first.message
    later = replace(short, steps=60).go_on(policy, tmp_path, first)
    assert later.status == "infeasible"
    assert later.first_non_finite is not None
    assert 36 <= later.first_non_finite.step <= 46
    assert (later.first_non_finite.layer, later.first_non_finite.op) == ("grow", "Mul")
    assert later.quality_by_steps == {20: first.quality}
    assert not (tmp_path / END_FILE).exists()


def test_a_loss_that_leaves_float32s_band_ends_the_trial(make_evaluator: MakeEvaluator, tmp_path: Path) -> None:
    """Gradients that vanish (case 17) leave the loss where it was: it is given up; scaled they train."""
    evaluator = make_evaluator("make_faint", steps=60)
    float32 = parse_policy("{default: float32, loss_scaling: {kind: none}}")
    curves = []
    for seed in (1, 2, 3):
        outcome = replace(evaluator, seed=seed).evaluate(float32, None, tmp_path / f"float32-{seed}")
        curves.append(tuple(loss for loss in outcome.losses if loss is not None))
    watched = replace(evaluator, float32_losses=tuple(curves))
    vanishing = watched.evaluate(
        parse_policy("{default: float16, loss_scaling: {kind: none}}"), None, tmp_path / "low"
    )
    assert vanishing.status == "infeasible"
    assert vanishing.cause == f"loss left float32's band at step {vanishing.steps - 1}"
    assert 15 + 14 <= vanishing.steps < 60
    assert vanishing.updates_applied == vanishing.steps_run == vanishing.steps
    assert vanishing.step_time is not None
    assert vanishing.first_non_finite is None
    scaled = watched.evaluate(parse_policy("{default: float16}"), None, tmp_path / "scaled")
    assert scaled.status == "trained"
    other_seed = replace(watched, seed=4).evaluate(parse_policy("{default: float16}"), None, tmp_path / "other")
    assert other_seed.status == "trained"
