"""The end of a search: what is chosen, and then its front, trained again with fresh seeds and for longer."""

from pathlib import Path
from typing import Any

import pytest
from finished_study import (
    ROW,
    add_confirmation,
    add_repeats,
    add_trial,
    evaluator_for,
    lost_in_policy_file,
    study_info,
)

from halfwise.evaluators.evaluator import Evaluator
from halfwise.experiments.confirmation import confirmation_of
from halfwise.experiments.confirming import Confirming, steps_trained
from halfwise.experiments.experiment_file import Confirm
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.long_float32 import all_kept, confirmation_steps
from halfwise.experiments.progress import Lines
from halfwise.experiments.records import StudySummary, TrialRecord
from halfwise.experiments.study_file import read_records

# No process gets far with it: a test that uses it shows that nothing is trained.
NOTHING = evaluator_for("no_such_workload:make")


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    """A study whose noise is small: O3 is chosen, and O2 and O1 are on the front behind it."""
    folder = StudyFolder(tmp_path)
    add_trial(folder, 0, "O0", 100.0, 0.9)
    add_trial(folder, 1, "O1", 130.0, 0.92)
    add_trial(folder, 2, "O2", 150.0, 0.91)
    add_trial(folder, 3, "O3", 200.0, 0.9)
    add_repeats(folder, 0.9, 0.9, 0.9)
    return folder


def concluded(
    folder: StudyFolder,
    evaluator: Evaluator,
    scope: Confirm = "front",
    allowance_steps: int | None = None,
    **info: Any,
) -> tuple[StudySummary, list[str]]:
    """What the study comes to, and what was said meanwhile."""
    said: list[str] = []
    study = study_info(folder, **info)
    confirming = Confirming(study, folder, evaluator, None, scope, allowance_steps)
    return confirming.conclude(Lines(said.append)), said


def trial(folder: StudyFolder, number: int) -> TrialRecord:
    """One of the study's trials."""
    return next(record for record in read_records(folder) if record.number == number)


@pytest.mark.parametrize(
    ("make", "direction"),
    [
        ("make_lower", "minimize"),
        pytest.param("make_tiny", "maximize", marks=pytest.mark.full),
    ],
)
def test_the_choice_is_trained_with_fresh_seeds_and_for_longer(tmp_path, make, direction):
    """Policy and float32 are trained with seeds of their own, twice as long; what it came to is kept and said."""
    folder = StudyFolder(tmp_path)
    module = "noisy_workloads" if direction == "minimize" else "tiny_workloads"
    evaluator = evaluator_for(f"{module}:{make}", direction)
    name = "error" if direction == "minimize" else "accuracy"
    for number, (level, speed) in enumerate((("O0", 100.0), ("O3", 200.0))):
        add_trial(folder, number, level, speed, 1.1, direction=direction, metric=name)
    summary, said = concluded(folder, evaluator, metric=name, direction=direction, tolerance=0.3)
    found = confirmation_of(trial(folder, 1))
    assert found is not None
    assert found.steps == 40
    assert list(found.quality_lost) == [2, 3, 4]
    (float32,) = all_kept(folder)
    assert list(float32.qualities) == [2, 3, 4]
    assert steps_trained(folder) == 2 * 3 * 40
    assert summary.best is not None
    assert (summary.best.name, summary.best.confirmed) == ("O3", True)
    assert any("Everything may go low" in each and "3 fresh seeds" in each for each in summary.remarks)
    assert lost_in_policy_file(folder)["confirmed"] is True
    assert said[0] == "training 001 O3 again with 3 fresh seeds, 40 steps each"
    assert said[1].startswith("001 O3 loses ")
    again, said = concluded(folder, NOTHING, metric=name, direction=direction, tolerance=0.3)
    assert again.best == summary.best
    assert said == []


def test_a_choice_that_loses_too_much_gives_way_to_the_next(folder):
    """Down the front until one holds: here to one that was confirmed before."""
    add_confirmation(trial(folder, 3), 0.1, 0.1, 0.1)
    add_confirmation(trial(folder, 2), 0.0, 0.001, 0.002)
    summary, said = concluded(folder, NOTHING, "choice")
    assert summary.best is not None
    assert summary.best.number == 2
    assert said == []


def test_none_means_none(folder):
    """Without confirmation nothing is trained, and the choice says that it is not confirmed."""
    summary, said = concluded(folder, NOTHING, "none")
    assert said == []
    assert summary.best is not None
    assert summary.reason.endswith("; not confirmed with fresh seeds")


def test_the_front_is_confirmed_from_its_fastest_down(folder):
    """After the choice come the other points of the front, fastest first; what keeps one from it is said."""
    add_confirmation(trial(folder, 3), 0.0, 0.001, 0.002)
    summary, said = concluded(folder, NOTHING)
    assert [point.number for point in summary.front] == [3, 2, 1]
    tries = [each for each in said if each.startswith("training")]
    assert tries == [
        "training 002 O2 again with 3 fresh seeds, 40 steps each",
        "training 001 O1 again with 3 fresh seeds, 40 steps each",
    ]
    assert sum("could not be confirmed" in each for each in said) == 2
    assert summary.remarks[-1] == "On the front but not confirmed with fresh seeds: trial 2 (O2), trial 1 (O1)."


@pytest.mark.parametrize("bound", ["scope", "allowance", "full training"])
def test_the_front_is_confirmed_within_bounds(folder, bound):
    """The front is left as it is where only the choice is asked for, or where training steps have run out."""
    add_confirmation(trial(folder, 3), 0.0, 0.001, 0.002)
    evaluator = evaluator_for("no_such_workload:make", full_steps=300 if bound == "full training" else 3000)
    scope: Confirm = "choice" if bound == "scope" else "front"
    # Two policies' worth: O2's own three seeds and those of float32, in 40 steps each.
    allowance = 239 if bound == "allowance" else None
    assert concluded(folder, evaluator, scope, allowance)[1] == []
    if bound == "allowance":
        assert concluded(folder, evaluator, scope, 240)[1] != []


def test_float32_that_does_not_train_that_long_confirms_nothing(folder):
    """Where float32 itself fails with a fresh seed, that is said, and the choice stays unconfirmed."""
    summary, said = concluded(folder, evaluator_for("noisy_workloads:make_dirty"), "choice")
    assert said[1].startswith(
        "003 O3 could not be confirmed: float32 itself does not train for 40 steps with seed 2: non-finite at "
        "step 3: the data are dirty, batch 3 holds nan in input 0"
    )
    assert summary.best is not None
    assert not summary.best.confirmed


@pytest.mark.parametrize(
    ("reached", "full", "steps"), [(20, 3000, 40), (20, 30, 30), (180, 3000, 180), (20, 10, 20), (60, 50, 60)]
)
def test_a_confirmation_is_longer_than_a_trial(tmp_path, reached, full, steps):
    """Twice a trial, no shorter than any trial was trained, and beyond a full training for no other reason."""
    folder = StudyFolder(tmp_path)
    add_trial(folder, 0, "O0", 100.0, 0.9, losses=tuple(1.0 for _ in range(reached)))
    evaluator = evaluator_for("tiny_workloads:make_tiny", full_steps=full)
    assert confirmation_steps(evaluator, read_records(folder)) == steps
    assert evaluator.price_for is not None
    assert evaluator.price_for.name == ROW
