"""`halfwise widen`: the order of entries, where a run stops, what it keeps, and that the same command goes on."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import run_halfwise
from surveys import make_survey

from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.sensitivity.result import Sensitivity
from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.heuristics.entries import Entry, entries_of, towards_float32, towards_low
from halfwise.experiments.heuristics.widening import Widening, last_that_holds
from halfwise.experiments.progress import Lines
from halfwise.policies import BUILTIN, Policy, load_policy
from halfwise.policies.rules import AloneEffect, GroupStatistics, OpStatistics

halfwise = partial(run_halfwise, timeout_s=300)
QUIET = Lines(lambda _: None)
FLOAT32 = Outcome(
    policy="{}",
    digest="",
    seed=1,
    device="CPU",
    mindspore_version="2.10.0",
    status="trained",
    metric="accuracy",
    direction="maximize",
    quality=1.0,
    updates_applied=20,
)


@dataclass
class Additive:
    """In place of an evaluator: each entry that is low costs its own share of the quality of 1, or ruins all."""

    costs: Mapping[str, float]
    trained: list[str] = field(default_factory=list[str])

    def evaluate(self, policy: Policy, name: str | None, folder: Path, earlier: Mapping[str, Outcome]) -> Outcome:
        """As the real one."""
        folder.mkdir(parents=True, exist_ok=True)
        self.trained.append(policy.digest)
        low = [entry for entry in self.costs if policy.layers.get(entry, policy.default) != "float32"]
        changes: dict[str, Any] = {"digest": policy.digest, "quality": 1 - sum(self.costs[entry] for entry in low)}
        if any(self.costs[entry] > 1 for entry in low):
            changes |= {"status": "infeasible", "quality": None, "cause": "non-finite at step 0"}
        return FLOAT32.model_copy(update=changes)


def widening(costs: Mapping[str, float], folder: Path) -> Widening:
    """At most a tenth may be lost."""
    evaluator: Any = Additive(costs)
    return Widening(evaluator=evaluator, float32=FLOAT32, float32_s=None, allowed=0.1, folder=folder)


def entries(*names: str) -> list[Entry]:
    """In this order."""
    return [Entry(name, 0.5, 0.0) for name in names]


COSTS = {"nn.Dense": 0.0, "nn.LayerNorm": 0.08, "nn.GELU": 0.05, "nn.Embedding": 2.0}


def test_towards_float32_it_ends_with_the_first_list_that_holds(tmp_path: Path):
    """The hazard and then a loss go; the entries behind are not tried."""
    order = entries("nn.Embedding", "nn.LayerNorm", "nn.GELU")
    steps = list(widening(COSTS, tmp_path).steps(Policy(default="float16"), order, "float32", QUIET))
    assert [(step.entry, step.holds) for step in steps] == [
        (None, False),
        ("nn.Embedding", False),
        ("nn.LayerNorm", True),
    ]
    assert [step.quality_lost for step in steps] == [None, pytest.approx(0.13), pytest.approx(0.05)]
    assert steps[0].cause == "non-finite at step 0"


def test_towards_low_it_ends_with_the_first_list_that_breaks(tmp_path: Path):
    """What holds before is the best; a list that breaks at once has none."""
    order = entries("nn.Dense", "nn.GELU", "nn.Embedding", "nn.LayerNorm")
    steps = list(widening(COSTS, tmp_path).steps(Policy(), order, "float16", QUIET))
    assert [step.holds for step in steps] == [True, True, True, False]
    best = last_that_holds(steps)
    assert best is not None
    assert best.entry == "nn.GELU"
    broken = list(widening(COSTS, tmp_path / "b").steps(Policy(default="float16"), order, "float16", QUIET))
    assert (len(broken), last_that_holds(broken)) == (1, None)


def test_what_was_trained_is_read_back(tmp_path: Path):
    """The same run again trains nothing; with an entry in front, the lists are others and are trained."""
    run = widening(COSTS, tmp_path)
    order = entries("nn.Embedding", "nn.LayerNorm")
    first = list(run.steps(Policy(default="float16"), order, "float32", QUIET))
    evaluator: Any = run.evaluator
    assert len(evaluator.trained) == 3
    assert list(run.steps(Policy(default="float16"), order, "float32", QUIET)) == first
    assert len(evaluator.trained) == 3
    list(run.steps(Policy(default="float16"), entries("nn.GELU", "nn.Embedding"), "float32", QUIET))
    assert len(evaluator.trained) == 5


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1)), min_size=2, max_size=8))
def test_the_orders_are_by_harm_then_by_gain(given_entries: list[tuple[float, float]]):
    """Towards low the least harm first, towards float32 the most; of equal harm what is best for speed."""
    made = [Entry(str(place), harm, gain) for place, (harm, gain) in enumerate(given_entries)]
    low, safe = towards_low(made), towards_float32(made)
    for first, second in pairwise(low):
        assert (round(first.harm, 2), -first.gain_s) <= (round(second.harm, 2), -second.gain_s)
    for first, second in pairwise(safe):
        assert (-round(first.harm, 2), first.gain_s) <= (-round(second.harm, 2), second.gain_s)


def price_s(policy: Policy) -> float:
    """Half a second less for each entry that is low."""
    return 2.0 - 0.5 * list(policy.layers.values()).count("float16")


def test_entries_are_layer_classes_and_ops_of_own_layers():
    """MindSpore's layers by class; of a user's layer each op, with the harm of the op where that was looked at."""
    survey = make_survey(
        SurveyedCell(path="", aliases=(), type_names=("Net",), ops=()),
        SurveyedCell(path="a", aliases=(), type_names=("nn.Dense",), ops=("MatMul", "BiasAdd")),
        SurveyedCell(path="b", aliases=(), type_names=("Own",), ops=("Mul", "Muls", "Add", "BatchNorm")),
    )
    found = Sensitivity(
        workload="tiny",
        device="CPU",
        seed=1,
        collected_steps=(0,),
        loss_scale=1,
        groups=(group("a", "MatMul"), group("b", "Mul", "Add", finite=False)),
        parts=(group("b::Mul", "Mul", finite=False), group("b::Add", "Add")),
        steps_run=1,
        float32_time_s=1,
        alone_time_s=1,
    )
    made = entries_of(survey, found, BUILTIN["O3"], "float16", price_s)
    assert [(entry.pattern, entry.harm > 0.9, entry.gain_s) for entry in made] == [
        ("nn.Dense", False, 0.5),
        ("**::Mul", True, 0.5),
        ("**::Add", False, 0.5),
    ]


def group(name: str, *ops: str, finite: bool = True) -> GroupStatistics:
    """What a step with it alone low came to."""
    measured = {"loss_change": 0, "gradient_distance": 0, "gradient_cosine": 1} if finite else {}
    return GroupStatistics(
        name=name,
        covers=(name,),
        ops=tuple(OpStatistics(op=op, direction="forward", tensors=()) for op in ops),
        alone=(AloneEffect(precision="float16", finite=finite, loss_scale=1, **measured),),
    )


@pytest.mark.full
def test_a_real_hazard_is_cured_by_its_entry(tmp_path: Path):
    """Squares of 300 overflow in O3, with Mul in float32 it holds; kept, gone on with, refused otherwise."""
    folder = tmp_path / "run"
    command = (
        "widen",
        "--workload",
        "tiny_workloads:make_overflowing",
        "--folder",
        str(folder),
        "--format",
        "json",
    )
    shown = halfwise(*command)
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert [step["entry"] for step in document["steps"]][:2] == [None, "**::Mul"]
    assert document["steps"][0]["cause"] == "non-finite at step 0"
    assert document["steps"][-1]["holds"]
    policy = load_policy(folder / "policy.yaml")
    assert policy.layers["**::Mul"] == "float32"
    with (folder / "steps.csv").open(encoding="utf-8") as file:
        assert [row["entry"] for row in csv.DictReader(file)][1] == "**::Mul"
    times = [file.stat().st_mtime_ns for file in sorted(folder.glob("steps/*/outcome.json"))]
    assert json.loads(halfwise(*command).stdout) == document
    assert [file.stat().st_mtime_ns for file in sorted(folder.glob("steps/*/outcome.json"))] == times
    refused = halfwise(*command, "--from", "O1")
    assert refused.returncode == 2
    assert (
        "holds a run with another start, towards (start O3, towards float32): name another --folder"
        in refused.stderr
    )
