import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

from halfwise.policies import BUILTIN, NoLossScaling
from halfwise.policies.errors import HalfwiseError, InputError
from halfwise.search.front import pareto_front
from halfwise.search.told import INTERRUPTED, Status, Told

from .fake_search import LEVELS, asked, run, small_space, start


def test_the_fixed_policies_come_first_in_their_order(tmp_path: Path) -> None:
    """O0, O1, O2, O3 and auto are proposed by name before the sampler has its turn."""
    proposals = run(start(tmp_path, fixed=LEVELS), 7)
    assert [(p.number, p.name) for p in proposals] == [
        (0, "O0"), (1, "O1"), (2, "O2"), (3, "O3"), (4, "auto"), (5, None), (6, None),
    ]  # fmt: skip
    assert [p.policy for p in proposals[:5]] == [policy for _, policy in LEVELS]
    assert set(proposals[5].policy.layers) == {"body.0", "body.1", "body.2", "body.3"}


def test_finished_trials_are_read_back(tmp_path: Path) -> None:
    """What was told is what a later process reads: figures, causes, policies, and no stand-in values."""
    search = start(tmp_path)
    proposals = [asked(search) for _ in range(3)]
    # What MindSpore and NumPy hand out is no Python float.
    search.tell(0, np.float32(0.5), 120)  # pyright: ignore[reportArgumentType]
    search.tell_infeasible(1, "non-finite at step 0, op Mul of body.3")
    search.tell_failed(2, "killed")
    found: list[tuple[Status, float | None, float | None, str | None]] = [
        ("trained", 0.5, 120.0, None),
        ("infeasible", None, None, "non-finite at step 0, op Mul of body.3"),
        ("failed", None, None, "killed"),
    ]
    expected = tuple(
        Told(p.number, p.name, str(p.policy), p.policy.digest, *what)
        for p, what in zip(proposals, found, strict=True)
    )
    assert search.finished() == expected
    assert start(tmp_path).finished() == expected
    assert [p.number for p in pareto_front([told.point for told in expected], "maximize")] == [0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, None, "0.9", (1.0,), 1j])
@pytest.mark.parametrize("figure", ["quality", "speed"])
def test_odd_figures_are_refused_and_the_trial_can_still_be_told(
    tmp_path: Path, figure: str, value: object
) -> None:
    """NaN, infinity and what is no number never reach Optuna; the trial ends as infeasible (case 23)."""
    search = start(tmp_path)
    number = asked(search).number
    told = {"quality": 1.0, "speed": 1.0, figure: value}
    with pytest.raises(HalfwiseError, match=f"trial 0: {figure} must be a finite number, but got"):
        search.tell(number, **told)
    assert search.finished() == ()
    search.tell_infeasible(number, f"{figure} was {value}")
    assert search.finished()[0].point.feasible is False


def test_a_trial_is_told_once(tmp_path: Path) -> None:
    """An unknown trial, or one that is told already, is refused by number."""
    search = start(tmp_path)
    asked(search)
    with pytest.raises(HalfwiseError, match="trial 7 is not running, so nothing can be told of it; running: 0"):
        search.tell(7, 1.0, 1.0)
    search.tell(0, 1.0, 1.0)
    for tell in (lambda: search.tell(0, 1.0, 1.0), lambda: search.tell_failed(0, "again")):
        with pytest.raises(HalfwiseError, match=r"trial 0 is not running.*running: none"):
            tell()


def test_trials_may_overlap(tmp_path: Path) -> None:
    """Two trials in flight are different proposals, and may be told in any order."""
    search = start(tmp_path)
    first, second, third = (asked(search) for _ in range(3))
    assert [p.number for p in (first, second, third)] == [0, 1, 2]
    assert second.policy != third.policy
    search.tell(2, 0.2, 2.0)
    search.tell(0, 0.1, 1.0)
    assert [(t.number, t.quality) for t in search.finished()] == [(0, 0.1), (2, 0.2)]


def test_a_policy_that_was_told_is_found_again(tmp_path: Path) -> None:
    """The first trial with the same policy shares its score (case 28); a failed trial has none to share."""
    search = start(tmp_path, space=small_space(1, ()), fixed=())
    policies = [asked(search).policy for _ in range(8)]
    assert search.find_told(policies[0]) is None
    search.tell_failed(0, "killed")
    assert search.find_told(policies[0]) is None
    for number in range(1, 8):
        search.tell(number, 1.0, 1.0)
    for policy in policies[1:]:
        assert search.find_told(policy) == policies.index(policy, 1)
    assert search.find_told(BUILTIN["O3"]) is None


def test_an_interrupted_trial_is_marked_and_proposed_again(tmp_path: Path) -> None:
    """What ran when the process died fails with that cause, and comes again under a new number."""
    lost = asked(start(tmp_path))
    search = start(tmp_path)
    assert [(t.number, t.status, t.cause, t.interrupted) for t in search.finished()] == [
        (0, "failed", INTERRUPTED, True)
    ]
    again = asked(search)
    assert (again.number, again.name, again.policy) == (1, "O0", lost.policy)


def test_a_trial_that_was_just_being_told_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before Optuna's own record, the next process closes the trial as it was told."""
    search = start(tmp_path)
    assert [asked(search).number for _ in range(2)] == [0, 1]
    with monkeypatch.context() as patch:
        patch.setattr(optuna.Study, "tell", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            search.tell(0, 0.5, 2.0)
        with pytest.raises(KeyboardInterrupt):
            search.tell_infeasible(1, "loss never moved")
    told = start(tmp_path).finished()
    assert [(t.number, t.status, t.quality, t.speed, t.cause) for t in told] == [
        (0, "trained", 0.5, 2.0, None),
        (1, "infeasible", None, None, "loss never moved"),
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampler": "tpe"}, "sampler: was random, is now tpe"),
        ({"seed": 1}, "seed: was 0, is now 1"),
        ({"quality_direction": "minimize"}, "quality direction: was maximize, is now minimize"),
        ({"judged_by": {"memory": ["16 GB"]}}, "memory: was without these, is now 16 GB"),
        ({"fixed": ()}, r"fixed policies: was O0 \(.{12}\), is now without these"),
        ({"space": small_space(3)}, r"layers: was body.3 = body.3, is now without these"),
        ({"space": small_space(ops=("Softmax", "MatMul"))}, "ops: the same in another order"),
        (
            {"space": dataclasses.replace(small_space(), loss_scaling=NoLossScaling())},
            'loss scaling: was .*dynamic.*, is now .*"none"',
        ),
    ],
)
def test_a_study_does_not_go_on_with_other_terms(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """A resumed study with anything changed is refused, saying what was and what is (case 26)."""
    run(start(tmp_path), 2)
    with pytest.raises(InputError, match=message):
        start(tmp_path, **changes)
    assert len(start(tmp_path).finished()) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampler": "tpr"}, r"unknown sampler 'tpr'; allowed: tpe, nsga2, random; did you mean 'tpe'\?"),
        ({"seed": -1}, "seed must be a whole number >= 0, but got -1"),
        ({"fixed": (LEVELS[0], LEVELS[0])}, "must have a name of its own, but got O0, O0"),
    ],
)
def test_bad_terms_leave_no_study(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """What the user typed wrong is refused before anything is written."""
    with pytest.raises(InputError, match=message):
        start(tmp_path, **changes)
    assert b"".join(each.read_bytes() for each in tmp_path.iterdir()) == b""
