"""`halfwise suggest`: what rules keep in float32, what was asked to stay, and the file that comes out."""

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import run_halfwise
from surveys import make_survey

from halfwise.evaluators.sensitivity.result import Sensitivity
from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.heuristics.suggestion import MOST_HARM, kept_in, suggested
from halfwise.policies import load_policy, resolve
from halfwise.policies.errors import InputError
from halfwise.policies.rules import AloneEffect, GroupStatistics, OpStatistics, TensorStatistics

halfwise = partial(run_halfwise, timeout_s=300)
SURVEY = make_survey(
    SurveyedCell(path="", aliases=(), type_names=("Net",), ops=()),
    SurveyedCell(path="a", aliases=(), type_names=("nn.Dense",), ops=("MatMul",)),
    SurveyedCell(path="b", aliases=(), type_names=("Own",), ops=("Add", "Mul")),
    SurveyedCell(path="c", aliases=(), type_names=("nn.LayerNorm",), ops=("LayerNorm",)),
)


def statistics(name: str, covers: str, *ops: str, largest: float = 1.0, finite: bool = True) -> GroupStatistics:
    """A group whose ops hold one largest value, and what a step with it alone low came to."""
    tensor = TensorStatistics(
        kind="output", largest_by_step=(largest,), beyond_float16=0, below_normal=0, below_subnormal=0
    )
    measured = {"loss_change": 0, "gradient_distance": 0, "gradient_cosine": 1} if finite else {}
    return GroupStatistics(
        name=name,
        covers=(covers,),
        ops=tuple(OpStatistics(op=op, direction="forward", tensors=(tensor,)) for op in ops),
        alone=(AloneEffect(precision="float16", finite=finite, loss_scale=1, **measured),),
    )


def found(*groups: GroupStatistics, parts: tuple[GroupStatistics, ...] = ()) -> Sensitivity:
    """The result of a short run."""
    return Sensitivity(
        workload="tiny",
        device="CPU",
        seed=1,
        collected_steps=(0, 7),
        loss_scale=1024,
        groups=groups,
        parts=parts,
        steps_run=13,
        float32_time_s=1.5,
        alone_time_s=0.5,
    )


SAFE, NORM = statistics("a", "a", "MatMul"), statistics("c", "c", "LayerNorm")
HARMED = statistics("b", "b", "Add", "Mul", finite=False)
PARTS = (statistics("b::Add", "b::Add", "Add"), statistics("b::Mul", "b::Mul", "Mul", finite=False))


def test_of_a_group_only_the_op_that_explains_its_harm_is_kept():
    """Mul of b stays float32 with its reason; Add of b and the layers without a sign of harm go low."""
    policy, kept = suggested(found(SAFE, HARMED, NORM, parts=PARTS), SURVEY, "float16", ())
    assert dict(policy.layers) == {"b::Mul": "float32"}
    assert [each.group.name for each in kept] == ["b::Mul"]
    assert policy.reasons["b::Mul"] == (
        "one step with only this in float16 is not finite (chance of harm 0.97, by rules over a float32 run)"
    )
    assert (policy.default, policy.loss_scaling.kind) == ("float16", "dynamic")


def test_a_group_whose_parts_explain_nothing_is_kept_whole():
    """Where no op alone harms, all of the group's ops stay float32."""
    parts = (PARTS[0], statistics("b::Mul", "b::Mul", "Mul"))
    policy, _ = suggested(found(SAFE, HARMED, parts=parts), SURVEY, "float16", ())
    asked = {each.path: each for each in resolve(policy, SURVEY.outline)}
    assert {op: asked["b"].op_precisions.get(op) for op in ("Add", "Mul")} == dict.fromkeys(
        ("Add", "Mul"), "float32"
    )
    assert asked["a"].precision == "float16"


def test_what_was_asked_to_stay_stays_and_says_so():
    """A type, a path; neither takes the rules' own hazards away."""
    policy, _ = suggested(found(SAFE, HARMED, NORM, parts=PARTS), SURVEY, "float16", ("nn.LayerNorm", "a"))
    assert dict(policy.layers) == {"nn.LayerNorm": "float32", "a": "float32", "b::Mul": "float32"}
    assert policy.reasons["a"] == policy.reasons["nn.LayerNorm"] == "asked for with --keep"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("nn.LayreNorm", "did you mean 'nn.LayerNorm'"),
        ("nn.LSTM", "--keep nn.LSTM names no layer of tiny, which has nn.Dense, nn.LayerNorm"),
        ("bb", "did you mean 'b'"),
    ],
)
def test_a_pattern_that_names_nothing_is_refused(pattern: str, words: str):
    """A slip, a type that the network lacks, a path that is not there: with what was meant."""
    with pytest.raises(InputError) as error:
        suggested(found(SAFE), SURVEY, "float16", (pattern,))
    assert words in str(error.value)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6))
def test_kept_is_what_is_likelier_to_harm_than_the_bound(largest: list[float]):
    """All groups above the bound are kept, none below, the likeliest first."""
    groups = [statistics(f"g{place}", f"g{place}", "Mul", largest=value) for place, value in enumerate(largest)]
    kept = kept_in(found(*groups), "float16")
    chances = [each.belief.probability for each in kept]
    assert chances == sorted(chances, reverse=True)
    assert all(chance > MOST_HARM for chance in chances)
    harmful = {place for place, value in enumerate(largest) if _harm(value) > MOST_HARM}
    assert {int(each.group.name[1:]) for each in kept} == harmful


def _harm(largest: float) -> float:
    groups = found(statistics("g", "g", "Mul", largest=largest)).groups
    from halfwise.policies.rules import STANDARD_RULES, OpClassRule, believe

    return believe(groups[0], "float16", (*STANDARD_RULES, OpClassRule())).probability


def test_the_hazard_of_a_real_network_is_suggested_with_its_reason(tmp_path: Path):
    """Squares of 300 stay float32, all else goes low; the file says why, and `check` holds for it."""
    file = tmp_path / "suggested.yaml"
    workload = ("--workload", "tiny_workloads:make_overflowing")
    shown = halfwise("suggest", *workload, "-o", str(file), "--format", "json")
    assert shown.returncode == 0, shown.stderr
    document = json.loads(shown.stdout)
    assert [kept["name"] for kept in document["kept"]] == ["square"]
    assert (document["trained"], document["priced_on"]) == (False, "a100-tf32")
    policy = load_policy(file)
    ((name, reason),) = policy.reasons.items()
    assert name in ("square", "square::Mul")
    assert list(policy.layers) == [name]
    assert "beyond float16's 65,504" in reason
    assert str(policy.results["chosen_because"]).endswith("it was not trained")
    checked = halfwise("check", str(file), *workload)
    assert checked.returncode == 0, checked.stdout
