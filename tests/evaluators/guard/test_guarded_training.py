"""Trainings whose policy changes: by schedule, by the guard, and the same from a checkpoint."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from fresh_process import in_fresh_process

from halfwise.policies import parse_policy

LOW = "{default: float16}"
SAFE = "{default: float16, layers: {square: float32}}"
# At steps 4 and 10 the points lie so far out that `square` overflows in float16.
SIZES = [1.0] * 4 + [32.0] + [1.0] * 5 + [32.0] + [1.0] * 9


def guarded(phases: Any, sizes: Any = (), **more: Any) -> dict[str, Any]:
    """A guarded training in a process of its own."""
    return in_fresh_process("guard_jobs:guard", phases=phases, sizes=list(sizes), **more)


def by_hand(phases: Any, sizes: Any = (), **more: Any) -> dict[str, Any]:
    """The same written out."""
    return in_fresh_process("guard_jobs:by_hand", phases=phases, sizes=list(sizes), **more)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Losses, scales and every Parameter, optimizer and loss scaling included, bit for bit."""
    return one["results"] == other["results"] and one["weights"] == other["weights"]


def test_a_failing_layer_is_raised_and_later_taken_back() -> None:
    """At the overflow `square` moves to float32 from the weights and scale before it; after 3 quiet steps back.

    When it overflows again, it takes 6. All along losses, weights, optimizer and loss scale are those of a
    training in which the policies were known beforehand.
    """
    run = guarded([[None, LOW]], SIZES, settings={"quiet_steps": 3})
    assert run["log"] == [
        [4, "raised", ["square"], 4],
        [7, "taken back", ["square"], None],
        [10, "raised", ["square"], 10],
        [16, "taken back", ["square"], None],
    ]
    assert run["lines"][0] == (
        "step 4: square to float32 (the loss is nan); goes on from the weights after 4 steps"
    )
    low, safe = str(parse_policy(LOW)), str(parse_policy(SAFE))
    assert run["policies"] == [low] * 4 + [safe] * 3 + [low] * 3 + [safe] * 6 + [low] * 4
    assert {(finite, scale) for _, finite, scale in run["results"]} == {(True, 65536.0)}
    assert same(run, by_hand([[4, LOW], [3, SAFE], [3, LOW], [6, SAFE], [None, LOW]], SIZES))


def test_without_a_guard_the_same_training_skips() -> None:
    """The hazard is real: unguarded, the steps of the overflow have no finite loss and halve the scale."""
    run = guarded([[None, LOW]], SIZES, guarding=False)
    assert [step for step, (loss, *_) in enumerate(run["results"]) if not math.isfinite(float.fromhex(loss))] == [
        4,
        10,
    ]
    assert run["results"][-1][2] == 16384.0
    assert run["log"] == []


def test_pynative_mode_is_guarded_too() -> None:
    """The mode stays what it was, and the training is that by hand."""
    low, safe = ("{mode: pynative, " + text[1:] for text in (LOW, SAFE))
    run = guarded([[None, low]], SIZES[:8], settings={"quiet_steps": None})
    assert run["log"] == [[4, "raised", ["square"], 4]]
    assert run["mode"] == "pynative"
    assert same(run, by_hand([[4, low], [None, safe]], SIZES[:8]))


def test_phases_change_at_their_steps() -> None:
    """Three phases give what they give by hand; a loss scaling starts with the first phase to ask for it."""
    phases = [[3, "O0"], [4, LOW], [None, "O2"]]
    run = guarded(phases, workload="tiny", steps=12)
    assert same(run, by_hand(phases, workload="tiny", steps=12))
    assert run["log"] == [[3, "phase", [], None], [7, "phase", [], None]]
    assert run["lines"][1] == "step 7: phase 3 of 3 begins (as scheduled)"
    assert [scale for *_, scale in run["results"]] == [1.0] * 3 + [65536.0] * 9


def test_a_raised_layer_stays_raised_in_the_next_phase() -> None:
    """What failed under one float16 policy is float32 under the next, whose other layers are its own."""
    next_one = "{default: float16, layers: {second: float32}}"
    run = guarded([[6, LOW], [None, next_one]], SIZES[:9])
    both = parse_policy("{default: float16, layers: {second: float32, square: float32}}")
    assert run["policies"][-1] == str(both)
    assert same(run, by_hand([[4, LOW], [2, SAFE], [None, str(both)]], SIZES[:9]))


def test_too_many_skips_raise_the_layers_whose_gradients_overflow() -> None:
    """With a fixed scale beyond float16, layer by layer from the output on; then every step trains."""
    fixed = "{default: float16, loss_scaling: {kind: static, scale: 16777216}}"
    settings = {"most_skips": 2, "window": 10, "quiet_steps": None}
    run = guarded([[None, fixed]], settings=settings, workload="tiny", steps=14)
    assert [(step, layers) for step, _, layers, _ in run["log"]] == [
        (2, ["second"]),
        (4, ["norm"]),
        (6, ["first"]),
        (8, [""]),
    ]
    assert {kind for _, kind, *_ in run["log"]} == {"raised"}
    assert run["lines"][0].startswith("step 2: second to float32 (3 of the last 10 steps were skipped)")
    assert [finite for _, finite, _ in run["results"]] == [False] * 8 + [True] * 6


def test_a_layer_is_looked_for_at_the_scale_that_failed() -> None:
    """At 2**19 the last layer's gradient overflows, at half of it nothing does; one skip is too many here."""
    low = json.dumps({"default": "float16", "loss_scaling": {"kind": "dynamic", "initial": 2.0**19}})
    settings = {"most_skips": 0, "window": 1}
    run = guarded([[None, low]], settings=settings, workload="tiny", steps=1)
    assert run["log"] == [[0, "raised", ["second"], 0]]


def test_a_phase_may_fail_in_its_first_step() -> None:
    """The weights are those of the phase before, the loss scaling is the new phase's own."""
    run = guarded([[4, "O0"], [None, LOW]], SIZES[:6])
    assert run["log"] == [[4, "phase", [], None], [4, "raised", ["square"], 4]]
    assert same(run, by_hand([[4, "O0"], [None, SAFE]], SIZES[:6]))


@pytest.mark.full
def test_fewer_copies_go_back_further() -> None:
    """With a copy every third step the training goes on from the weights after 3 steps, not 4."""
    run = guarded([[None, LOW]], SIZES[:6], settings={"keep_every": 3})
    assert run["log"] == [[4, "raised", ["square"], 3]]
    assert run["weights"] == by_hand([[3, LOW], [None, SAFE]], SIZES[:6], without=3)["weights"]
    assert [finite for _, finite, _ in run["results"]] == [True] * 6


def test_a_batch_that_is_not_finite_changes_no_policy() -> None:
    """NaN in the data is passed over as a skipped step, and said."""
    run = guarded([[None, LOW]], [1.0] * 5, dirty_at=2)
    assert run["log"] == [[2, "kept", [], None]]
    assert run["lines"] == ["step 2: the policy stays (the batch is not finite, and the loss is nan)"]
    assert [finite for _, finite, _ in run["results"]] == [True, True, False, True, True]
    assert set(run["policies"]) == {str(parse_policy(LOW))}


def test_what_float32_cannot_train_is_said() -> None:
    """One sentence, when the loss is not finite with all layers in float32; the weights are the last good ones."""
    words, weights_as_before, log = in_fresh_process("guard_jobs:hopeless")
    assert words == (
        "step 1: the loss is nan with every layer in float32, so it is not the precision: "
        "look at the learning rate and the data"
    )
    assert weights_as_before
    assert sorted(layer for *_, layers, _ in log for layer in layers) == ["", "first", "norm", "second", "square"]


@pytest.mark.parametrize(
    "save_at", [5, pytest.param(9, marks=pytest.mark.full), pytest.param(12, marks=pytest.mark.full)]
)
def test_a_resumed_training_goes_on_bit_for_bit(save_at: int, tmp_path: Path) -> None:
    """Saved while a layer is raised, taken back, raised again: log, weights, scale are those without a break."""
    file = str(tmp_path / "training.ckpt")
    settings = {"quiet_steps": 3}
    phases = [[14, LOW], [None, "{default: float16, layers: {second: float32}}"]]
    whole = guarded(phases, SIZES, settings=settings, save_at=save_at, file=file)
    rest = guarded(phases, SIZES, settings=settings, file=file)
    assert rest["results"] == whole["results"][save_at:]
    assert rest["policies"] == whole["policies"][save_at:]
    assert rest["weights"] == whole["weights"]
    assert rest["log"] == whole["log"]


@pytest.mark.full
def test_a_state_beside_a_checkpoint_of_mindspores_own_is_enough(tmp_path: Path) -> None:
    """Plain JSON and MindSpore's checkpoint of the step go on bit for bit, with a loss scale that has moved."""
    file = str(tmp_path / "state.json")
    low = json.dumps({"default": "float16", "loss_scaling": {"kind": "dynamic", "window": 3}})
    whole = guarded([[None, low]], SIZES[:8], save_at=6, file=file)
    rest = guarded([[None, low]], SIZES[:8], file=file)
    assert [scale for *_, scale in rest["results"]] != [65536.0] * 2
    assert rest["results"] == whole["results"][6:]
    assert (rest["weights"], rest["log"]) == (whole["weights"], whole["log"])


def test_skips_and_good_weights_survive_a_checkpoint(tmp_path: Path) -> None:
    """Saved in the middle of skipped steps, the next training knows of them and of the weights before them."""
    file = str(tmp_path / "training.ckpt")
    overflowing = json.dumps({"default": "float16", "loss_scaling": {"kind": "dynamic", "initial": 2.0**40}})
    settings = {"most_skips": 4, "window": 10, "quiet_steps": None}
    common = {"settings": settings, "workload": "tiny", "steps": 8, "file": file}
    whole = guarded([[None, overflowing]], save_at=3, **common)
    rest = guarded([[None, overflowing]], **common)
    assert whole["log"][0][:2] == [4, "raised"]
    assert whole["results"][2][2] == 2.0**38
    assert rest["results"] == whole["results"][3:]
    assert (rest["log"], rest["weights"]) == (whole["log"], whole["weights"])


def test_a_model_trains_the_same() -> None:
    """MindSpore's Model with the callback comes to the same weights and log as the loop."""
    settings = {"quiet_steps": 3}
    loop = guarded([[2, "O0"], [None, LOW]], SIZES[:9], settings=settings)
    model = in_fresh_process(
        "guard_jobs:by_model", phases=[[2, "O0"], [None, LOW]], sizes=SIZES[:9], settings=settings
    )
    assert [line[:2] for line in model["log"]] == [[2, "phase"], [4, "raised"], [7, "taken back"]]
    assert model == {"weights": loop["weights"], "log": loop["log"], "steps": 9}


def test_a_model_that_is_set_up_wrongly_is_told() -> None:
    """It must train the guarded step, and step by step."""
    other, sink = in_fresh_process("guard_jobs:model_refusals")
    assert other == "the Model must train the guarded training's own step: Model(guarded.train_step)"
    assert "call train with dataset_sink_mode=False" in sink


def test_files_that_are_no_such_training_are_refused(tmp_path: Path) -> None:
    """Each with its reason; the network's own weights can be read from a checkpoint by MindSpore alone."""
    name, missing, plain, torn, another, narrow, state = in_fresh_process(
        "guard_jobs:file_refusals", folder=str(tmp_path)
    )
    assert name.startswith("InputError: a checkpoint's name ends in .ckpt; got")
    assert "HalfwiseError: cannot go on from the training saved in" in missing
    assert plain.endswith("plain.ckpt is a checkpoint, but not one that a guarded training saved")
    assert "torn.ckpt" in torn
    assert "HalfwiseError" in torn
    assert another.startswith("InputError: the training was saved under another schedule")
    assert narrow.endswith("here.ckpt is of another network or optimizer: it lacks weight")
    assert state.startswith("InputError: this is no state of a guarded training")


@pytest.mark.full
def test_a_transformer_forced_all_float16_recovers_by_itself() -> None:
    """Unguarded it never trains; guarded it raises both attentions at step 0 and ends within 2% of float32."""
    float32, low, saved = (
        in_fresh_process("guard_jobs:transformer", policy=policy, steps=100, guarding=guarding)
        for policy, guarding in (("O0", False), ("O3", False), ("O3", True))
    )
    assert low == {"quality": None, "log": []}
    assert saved["log"] == [
        [0, "raised", ["blocks.0.attention"], 0],
        [0, "raised", ["blocks.1.attention"], 0],
    ]
    assert saved["quality"] == pytest.approx(float32["quality"], rel=0.02)
