"""What a study must keep while it goes on, and what is said where it has not."""

from typing import Any

import pytest
from surveys import make_survey

from halfwise.evaluators.price.device_file import load_devices
from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.fingerprint import MAY_CHANGE, refusal, terms_of
from halfwise.experiments.workload_source import WorkloadSource
from halfwise.search.setup import changes_of

CELL = SurveyedCell(path="head", aliases=(), type_names=("nn.Dense",), ops=("MatMul",))
SURVEY = make_survey(CELL, parameter_shapes={"head.weight": (2, 8)})
SOURCE = WorkloadSource(reference="a:make", files={"a.py": "x = 1\n"})


def terms(**changes: Any) -> dict[str, list[str]]:
    """Those of a small study, with changes."""
    given: dict[str, Any] = {
        "experiment": Experiment(workload="a:make"),
        "survey": SURVEY,
        "target": "CPU",
        "row": load_devices()["v100"],
        "lengths": (20, 60),
        "source": SOURCE,
    }
    return terms_of(**given | changes)


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"lengths": (20,)}, "lengths of training", "was 20, 60, is now 20"),
        ({"source": WorkloadSource(reference="a:make", files={"a.py": "x = 2\n"})}, "workload source", "a.py ("),
    ],
)
def test_what_may_change_is_offered(changes: dict[str, Any], name: str, words: str) -> None:
    """The refusal names the term, what was and what is, and both ways on."""
    found = changes_of(terms(), terms(**changes))
    assert set(found) == {name} <= MAY_CHANGE
    said = str(refusal(found))
    assert words in said
    assert "--new" in said
    assert "--resume-anyway" in said


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"row": None}, "speed", "speed: was priced on v100, is now measured"),
        ({"target": "GPU"}, "device", "device: was CPU, is now GPU"),
        ({"lengths": (30, 60)}, "steps", "steps: was 20, is now 30"),
        (
            {"survey": make_survey(CELL, parameter_shapes={"head.weight": (2, 9)})},
            "network",
            "network: was head.weight (2, 8), is now head.weight (2, 9)",
        ),
        (
            {"survey": make_survey(parameter_shapes={"head.weight": (2, 8)})},
            "network",
            "network: was head nn.Dense, is now without these",
        ),
        ({"survey": SURVEY.model_copy(update={"metric": "loss"})}, "metric", "metric: was accuracy, is now loss"),
    ],
)
def test_what_makes_trials_incomparable_is_not_offered(changes: dict[str, Any], name: str, words: str) -> None:
    """Only a new study is."""
    found = changes_of(terms(), terms(**changes))
    assert name in found
    said = str(refusal(found))
    assert words in said
    assert "--new" in said
    assert "--resume-anyway" not in said


def test_more_of_everything_is_no_change() -> None:
    """A study may go on with more trials, time, patience and workers."""
    more = {"trials": 99, "time_limit": "9h", "full_runs": 9, "patience": 99, "workers": 4, "max_failures": 9}
    assert changes_of(terms(), terms(experiment=Experiment(workload="a:make", **more))) == {}


def test_of_many_changes_the_first_are_named() -> None:
    """The rest is counted."""
    cells = [SurveyedCell(path=f"c{n}", aliases=(), type_names=("nn.Dense",), ops=()) for n in range(9)]
    said = str(refusal(changes_of(terms(), terms(survey=make_survey(*cells)))))
    assert "is now c0 nn.Dense, c1 nn.Dense, c2 nn.Dense, c3 nn.Dense, c4 nn.Dense and 4 more" in said
