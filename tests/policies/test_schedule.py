"""Policies by phase: which one a step is under, their file form and its errors."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from halfwise.policies import BUILTIN, InputError, Phase, Policy, PolicySchedule, load_schedule

FILE = """schema: halfwise/schedule/1
phases:
- {steps: 200, policy: O0}
- steps: 1_000
  policy:
    default: float16
    layers: {head: float32}
- policy: O3
"""

WRONG = {
    "phases: []": "s.yaml:1:9: phases: must hold at least one phase",
    "phases: [{steps: 5, policy: O3}]": (
        "s.yaml:1:18: phases[0].steps: the last phase must not end; leave its steps out"
    ),
    "phases: [{policy: O0}, {policy: O3}]": (
        "s.yaml:1:10: phases[0]: steps is required: only the last phase has no end"
    ),
    "phases: [{steps: 0, policy: O0}, {policy: O3}]": (
        "s.yaml:1:18: phases[0].steps: must be greater than or equal to 1; got '0'"
    ),
    "phases: [{policy: O4}]": (
        "s.yaml:1:19: phases[0].policy: must be a policy or one of O0, O1, O2, O3, auto, cv, nlp; got 'O4'"
    ),
    "phases: [{policy: {default: fp16}}]": "s.yaml:1:29: phases[0].policy.default: must be one of",
    "phases: [{policy: {defalt: float16}}]": "s.yaml:1:20: phases[0].policy.defalt: unknown key; allowed here: ",
    "phases: [{steps: 2, policy: O0}, {policy: {mode: pynative}}]": (
        "s.yaml:1:43: phases[1].policy: all phases must have one mode: the first has graph"
    ),
    "phases: [{step: 2, policy: O0}]": "s.yaml:1:11: phases[0].step: unknown key; allowed here: policy, steps",
}


def test_a_file_says_which_policy_holds_when(tmp_path: Path) -> None:
    """Steps are counted from 0, each phase holds for its steps, and the last one for ever."""
    (tmp_path / "s.yaml").write_text(FILE.replace("1_000", "1000"), encoding="utf-8")
    schedule = load_schedule(tmp_path / "s.yaml")
    middle = Policy(default="float16", layers={"head": "float32"})
    assert [schedule.policy_at(step) for step in (0, 199, 200, 1199, 1200, 10**9)] == [
        BUILTIN["O0"],
        BUILTIN["O0"],
        middle,
        middle,
        BUILTIN["O3"],
        BUILTIN["O3"],
    ]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_with_its_place(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mistake is one sentence with line, column, field, rule and what is allowed."""
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(f"{text}\nschema: halfwise/schedule/1\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_schedule("s.yaml")
    assert WRONG[text] in str(error.value)


def test_the_schema_must_be_written(tmp_path: Path) -> None:
    """A file without its version is refused, and so is a policy file."""
    (tmp_path / "s.yaml").write_text("phases: [{policy: O3}]\n", encoding="utf-8")
    with pytest.raises(InputError, match="schema: is required"):
        load_schedule(tmp_path / "s.yaml")
    (tmp_path / "p.yaml").write_text("schema: halfwise/policy/1\ndefault: float16\n", encoding="utf-8")
    with pytest.raises(InputError, match="schema: must be halfwise/schedule/1; got 'halfwise/policy/1'"):
        load_schedule(tmp_path / "p.yaml")


phases = st.builds(
    lambda ends, last: (*(Phase(steps=steps, policy=policy) for steps, policy in ends), Phase(policy=last)),
    st.lists(st.tuples(st.integers(1, 5), st.sampled_from(sorted(BUILTIN)).map(BUILTIN.__getitem__)), max_size=4),
    st.sampled_from(sorted(BUILTIN)).map(BUILTIN.__getitem__),
)


@given(phases)
def test_every_step_has_the_policy_that_a_written_out_list_gives(parts: tuple[Phase, ...]) -> None:
    """The policies of the first steps are those of the phases written out one after the other."""
    written_out: list[Any] = [phase.policy for phase in parts for _ in range(phase.steps or 3)]
    schedule = PolicySchedule(phases=parts)
    assert [schedule.policy_at(step) for step in range(len(written_out))] == written_out


@given(phases)
def test_the_text_reads_back(parts: tuple[Phase, ...]) -> None:
    """The canonical text holds the schedule: equal ones, and only those, have equal texts and digests."""
    schedule = PolicySchedule(phases=parts)
    again = PolicySchedule.model_validate(json.loads(str(schedule)))
    assert again == schedule
    assert hash(again) == hash(schedule)
    longer = PolicySchedule(phases=(Phase(steps=1, policy=BUILTIN["O0"]), *parts))
    assert longer != schedule
    assert longer.digest != schedule.digest


def test_one_policy_is_a_schedule_of_one_phase() -> None:
    """It holds at every step, and a schedule cannot be changed."""
    schedule = PolicySchedule.always(BUILTIN["O2"])
    assert schedule.policy_at(0) == schedule.policy_at(10**6) == BUILTIN["O2"]
    with pytest.raises(ValidationError):
        schedule.phases = ()  # type: ignore[misc]
