"""Who is to blame for a failure, and why a policy's rules keep float32."""

from pathlib import Path
from typing import Any

import pytest

from halfwise.evaluators.outcome import Outcome, Place
from halfwise.experiments.confirmation import Confirmation, quality_lost
from halfwise.experiments.float32_repeats import Float32Repeats
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.lessons import blamed_sites
from halfwise.experiments.reasons import reasons_of
from halfwise.experiments.records import TrialRecord
from halfwise.policies import NoLossScaling, Policy
from halfwise.search.site_space import SiteGroup, SiteSpace

LOW = ("float32", "float16")
OPS = ("Mul", "Softmax")
LENGTH: dict[str, Any] = {"allowed": 0.02, "steps": 40, "steps_trained": 120}
SPACE = SiteSpace(
    (
        *(SiteGroup(f"{block}::{op}", (block,), op, OPS, LOW) for block in ("a", "b") for op in OPS),
        SiteGroup("head", ("head",), None, ("BiasAdd", "MatMul"), LOW),
    ),
    "float16",
    NoLossScaling(),
    "graph",
)


@pytest.mark.parametrize(
    ("place", "low", "blamed"),
    [
        pytest.param(Place(step=0, layer="a", op="Mul"), {"a::Mul", "a::Softmax", "b::Mul"}, ("a::Mul",), id="op"),
        pytest.param(Place(step=0, layer="head", op="MatMul"), {"head", "a::Mul"}, ("head",), id="layer"),
        pytest.param(
            Place(step=0, layer="a", op="SoftmaxGrad"),
            {"a::Mul", "a::Softmax"},
            ("a::Mul", "a::Softmax"),
            id="other",
        ),
        pytest.param(Place(step=0, layer="a", op="Mul"), {"b::Mul", "head"}, ("b::Mul",), id="merged"),
        pytest.param(Place(step=3), {"a::Mul"}, (), id="no-place"),
        pytest.param(None, {"a::Mul"}, (), id="no-diagnosis"),
    ],
)
def test_blame_falls_on_what_was_low(place, low, blamed):
    """The named op of the named layer is blamed if it was low, else the layer's sites, else that op elsewhere."""
    assert blamed_sites(SPACE, place, low) == blamed


@pytest.mark.parametrize(("direction", "lost"), [("maximize", 0.1), ("minimize", -0.1)])
def test_a_loss_is_positive_where_quality_is_worse(direction, lost):
    """Quality lost against float32 is positive for what is worse, whichever way the metric runs."""
    assert quality_lost(0.8, 0.9, direction) == pytest.approx(lost)
    assert quality_lost(None, 0.9, direction) is None


def test_noise_is_the_spread_of_float32_and_never_nothing():
    """The noise is the standard deviation over seeds, at least a thousandth of the quality."""
    assert Float32Repeats(qualities={1: 0.9, 2: 1.0, 3: 1.1}).noise == pytest.approx(0.1)
    assert Float32Repeats(qualities={1: 0.5, 2: 0.5, 3: 0.5}).noise == pytest.approx(0.0005)
    assert Float32Repeats(qualities={1: -0.9, 2: -1.0, 3: -1.1}).relative_noise == pytest.approx(0.1)


def test_a_confirmation_holds_where_the_mean_loss_is_allowed():
    """The mean over seeds decides, every seed must have trained, and the words give a 95% interval."""
    kept = Confirmation(quality_lost={2: 0.01, 3: 0.03, 4: -0.01}, **LENGTH)
    assert kept.holds
    # Student's t for two degrees of freedom, 4.303, times 0.02 / sqrt(3).
    words = "loses 0.01 (95% interval -0.04 to 0.06, 3 fresh seeds), 40 steps each"
    assert str(kept) == f"{words}; allowed are 0.02"
    lost = Confirmation(quality_lost={2: 0.01, 3: 0.06, 4: 0.02}, **LENGTH)
    assert not lost.holds
    assert str(lost).endswith("; too much: allowed are 0.02")
    broken = Confirmation(quality_lost={2: 0.0, 3: None}, causes={3: "non-finite at step 31"}, **LENGTH)
    assert not broken.holds
    assert str(broken) == "does not train for 40 steps with seed 3: non-finite at step 31"


def test_a_rule_is_explained_by_the_trial_that_failed_there(tmp_path: Path):
    """A rule that keeps float32, or a glob, names the first trial that went non-finite there; others have none."""
    failed = Outcome(
        policy="",
        digest="d",
        seed=1,
        device="CPU",
        mindspore_version="2.10.0",
        status="infeasible",
        cause="non-finite at step 0",
        first_non_finite=Place(step=0, layer="a", op="Mul", direction="forward"),
        metric="accuracy",
        direction="maximize",
    )
    records = [TrialRecord(number, None, Policy(), failed, tmp_path) for number in (4, 7)]
    rules = {"a::Mul": "float32", "*": "float32", "*::Add": "float32", "b": "float32", "head": "float16"}
    why = "trial 4 went non-finite at step 0, op Mul of a (forward)"
    policy = Policy.model_validate({"default": "float16", "layers": rules})
    found = reasons_of(policy, StudyFolder(tmp_path), records)
    assert found == {"a::Mul": why, "*": why}
