"""`halfwise explain`: three answers with numbers, what they rest on, and commands that exist."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import pytest
from finished_study import add_trial, study_info
from hypothesis import given
from hypothesis import strategies as st
from price_tables import make_device, make_row, make_table
from program import run_halfwise
from surveys import make_survey

from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.outcome import Outcome, Place
from halfwise.evaluators.survey_result import Survey, SurveyedCell
from halfwise.experiments.cli import halfwise as program
from halfwise.experiments.explain import subject_of, why_gradients, why_quality, why_speed
from halfwise.experiments.explain.leave_one_out import LeaveOneOut
from halfwise.experiments.explain.quality import Loss, shortest_list
from halfwise.experiments.explain.speed import limits_of
from halfwise.experiments.float32_repeats import Float32Repeats
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.progress import Lines
from halfwise.experiments.study_file import StudyFile
from halfwise.policies import Policy
from halfwise.policies.errors import InputError
from halfwise.search.site_space import SiteGroup

halfwise = partial(run_halfwise, timeout_s=120)
NO_QUALITY = {"status": "infeasible", "cause": "non-finite at step 0", "losses": (), "updates_applied": 0}


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    """Float32; O2, which loses 0.1 beyond noise; O1, which loses nothing; O3, which does not train."""
    found = Home(tmp_path).study_folder("s")
    found.path.mkdir(parents=True)
    write_json(StudyFile(info=study_info(found)), found.study_file)
    write_json(Float32Repeats(qualities={1: 0.9, 2: 0.901, 3: 0.9}), found.float32_file)
    add_trial(found, 0, "O0", 100.0, 0.9)
    add_trial(found, 1, "O2", 150.0, 0.8, loss_scales=(65536.0, 1024.0, 2048.0), updates_skipped=6)
    add_trial(found, 2, "O1", 120.0, 0.9, loss_scales=(8.0, 1.0), updates_skipped=1)
    place = Place(step=0, layer="blocks.0", op="Mul", direction="forward")
    add_trial(found, 3, "O3", 300.0, 0.0, first_non_finite=place, **NO_QUALITY)
    return found


def test_a_loss_beyond_noise_is_told_from_noise(folder: StudyFolder):
    """Judged by the interval: lost beyond it, within it, and no quality at all with the place."""
    assert why_quality(subject_of(folder, 1)).short.startswith("Yes, beyond noise: it lost 0.1 ")
    assert why_quality(subject_of(folder, 2)).short.startswith("No loss that noise does not explain: it lost 0 ")
    assert why_quality(subject_of(folder, 3)).short == (
        "It has no quality: non-finite at step 0, first at step 0, op Mul of blocks.0 (forward)."
    )
    assert why_quality(subject_of(folder, 0)).short == "It is float32: others are held against it."


def test_the_choice_is_what_a_study_is_asked_about(folder: StudyFolder):
    """Without a number it is the chosen trial; a number that there is none of is refused."""
    assert subject_of(folder, None).record.number == 2
    with pytest.raises(InputError, match="study s has no finished trial 9"):
        subject_of(folder, 9)


def test_a_study_of_float32_alone_has_nothing_to_explain(tmp_path: Path):
    """It says so."""
    found = Home(tmp_path).study_folder("s")
    found.path.mkdir(parents=True)
    write_json(StudyFile(info=study_info(found)), found.study_file)
    add_trial(found, 0, "O0", 100.0, 0.9)
    with pytest.raises(InputError, match="study s has tried nothing but float32 yet"):
        subject_of(found, None)


def test_gradients_are_told_by_what_was_skipped(folder: StudyFolder):
    """The loss scale's path and the share of skipped updates; where something is not finite, the place."""
    often, lost, broken = (why_gradients(subject_of(folder, number)) for number in (1, 2, 3))
    assert often.short == "They overflow often: 23% of the updates were skipped."
    assert often.lines[:2] == (
        "loss scale: 65536 at first, 1024 at least, 2048 at the end",
        "updates skipped because something overflowed: 6 of 26",
    )
    assert lost.short == "They overflowed until no loss scale was left: what is small in them is lost."
    assert broken.short == "Something is not finite at step 0, op Mul of blocks.0 (forward)."


losses = st.lists(
    st.builds(Loss, st.uuids().map(str), st.just("float16"), st.floats(0, 1), st.sampled_from([0.0, 0.3, 0.9])),
    max_size=7,
)


@given(losses, st.floats(0, 2))
def test_no_shorter_list_does(found: list[Loss], allowed: float):
    """Brute force: no list of fewer sites holds every likely ruin and leaves so little to be lost."""
    kept = shortest_list(found, allowed)
    ruin = {loss.site for loss in found if loss.ruin > 0.5}

    def does(sites: set[str]) -> bool:
        return ruin <= sites and sum(loss.lost for loss in found if loss.site not in sites) <= allowed + 1e-9

    assert does({loss.site for loss in kept})
    names = [loss.site for loss in found]
    fewer = (set(sites) for count in range(len(kept)) for sites in combinations(names, count))
    assert not any(
        ruin <= sites and sum(loss.lost for loss in found if loss.site not in sites) < allowed - 1e-9
        for sites in fewer
    )


STEP = make_table(
    # 8 TFLOP/s: 1 us of arithmetic, 0.012 us of memory.
    make_row(0, "MatMul", [((1000,), "float16")] * 2, ((1000,), "float16"), layer="a", flops=8_000_000),
    # 1 TB/s: 8 us of memory.
    make_row(1, "Add", [((1_000_000,), "float32")], ((1_000_000,), "float32"), layer="b", flops=1),
    make_row(2, "Cast", [((1_000_000,), "float32")], ((1_000_000,), "float16"), layer="b"),
)


def test_what_holds_a_step_up_is_told_by_hand():
    """1 us arithmetic, 8 us memory, 2 launches of 0.5 us, and a cast of 6 us and its launch: of 16.5 us."""
    limits = limits_of(STEP, make_device(launch_us=0.5))
    assert (limits.arithmetic, limits.memory, limits.launches, limits.casts) == pytest.approx(
        (1 / 16.5, 8 / 16.5, 1 / 16.5, 6.5 / 16.5)
    )
    assert limits.largest.startswith("most of the step moves memory")


def test_speed_is_answered_from_the_step():
    """The share of low arithmetic, casts with their border, what stayed float32, and that it is a price."""
    answer = why_speed(STEP, make_device(), 1.5, 32, "w", "O2")
    assert answer.short.startswith("1.50x float32's speed, priced on paper: most of the step moves memory")
    assert answer.lines[0] == "arithmetic in half precision: 100%"
    assert any(line.startswith("stayed float32: Add of b, ") for line in answer.lines)
    assert answer.rests_on == "priced on paper, not measured"
    assert "--batch-size 128" in answer.next_commands[0]


def assert_parses(command: str) -> None:
    """The command and its options exist."""
    name, *arguments = shlex.split(command)
    assert name == "halfwise"
    context = click.Context(program)
    found, sub, rest = program.resolve_command(context, arguments)
    assert sub is not None, found
    sub.make_context(found, list(rest), parent=context)


def test_every_next_command_can_be_typed(folder: StudyFolder):
    """Each command that an answer ends with is one of the program's, with its own options."""
    answers = [
        *(why(subject_of(folder, number)) for number in (1, 3) for why in (why_quality, why_gradients)),
        why_speed(STEP, make_device(), None, 32, "w", "p.yaml"),
    ]
    commands = [command for answer in answers for command in answer.next_commands]
    assert len(commands) == 6
    for command in commands:
        assert_parses(command)


def test_a_trial_is_explained_on_the_command_line(folder: StudyFolder):
    """All three questions, in words and as JSON; a trial that left no compiled step says so."""
    home = ("--home", str(folder.path.parent))
    shown = halfwise("explain", "s:1", *home).stdout
    assert shown.startswith("s, trial 1 (O2)\nDid quality drop? Yes, beyond noise")
    assert "Is it no faster? That is not known: the trial has left no compiled step." in shown
    document = json.loads(halfwise("explain", "s:3", *home, "--format", "json").stdout)
    assert [answer["question"][:6] for answer in document["answers"]] == ["Did qu", "Is it ", "Do gra"]


def test_a_policy_alone_needs_a_workload():
    """Its step is compiled, nothing is trained; without a workload it is refused."""
    shown = halfwise("explain", "O3", "--workload", "tiny_workloads:make_tiny").stdout
    assert "Did quality drop? That is not known: this policy was not trained." in shown
    assert "launches of ops take most of the step" in shown
    refused = halfwise("explain", "O3")
    assert refused.returncode == 2
    assert "say with --workload what it is to be compiled on" in refused.stderr


@dataclass
class Additive:
    """In place of an evaluator: each layer that is low costs its own share of the quality of 1, or ruins all."""

    costs: Mapping[str, float]
    survey: Survey
    steps: int = 20
    seed: int = 1
    trained: list[str] = field(default_factory=list[str])

    def evaluate(self, policy: Policy, name: str | None, folder: Path, earlier: Mapping[str, Outcome]) -> Outcome:
        """As the real one."""
        folder.mkdir(parents=True)
        self.trained.append(policy.digest)
        back = {pattern.removesuffix("::MatMul") for pattern in policy.layers}
        low = [path for path in self.costs if path not in back]
        ruined = any(self.costs[path] > 1 for path in low)
        return FLOAT32.model_copy(
            update={"status": "infeasible", "quality": None, "cause": "non-finite at step 0"}
            if ruined
            else {"quality": 1 - sum(self.costs[path] for path in low), "quality_by_steps": {}}
        )


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


def leaving(costs: Mapping[str, float], allowed: float, folder: Path) -> tuple[LeaveOneOut, tuple[SiteGroup, ...]]:
    """All layers low in O3, with such costs."""
    cells = [SurveyedCell(path=path, aliases=(), type_names=("Dense",), ops=("MatMul",)) for path in costs]
    root = SurveyedCell(path="", aliases=(), type_names=("Net",), ops=())
    evaluator: Any = Additive(costs, make_survey(root, *cells))
    sites = tuple(SiteGroup(path, (path,), None, ("MatMul",), ("float32", "float16")) for path in costs)
    return LeaveOneOut(Policy(default="float16"), evaluator, FLOAT32, {}, folder, allowed), sites


def test_the_trained_list_grows_until_little_enough_is_lost(tmp_path: Path):
    """Alone each is tried once; then the worst together, one more at a time, to the first list that is enough."""
    leave, sites = leaving({"a": 0.01, "b": 0.3, "c": 0.2, "d": 0.1}, 0.15, tmp_path)
    alone = leave.alone(sites, Lines(lambda _: None))
    assert [[site.name for site in tried.back] for tried in alone] == [["b"], ["c"], ["d"], ["a"]]
    assert [tried.lost for tried in alone] == pytest.approx([0.31, 0.41, 0.51, 0.6])
    together = list(leave.together(alone, Lines(lambda _: None)))
    assert [([site.name for site in tried.back], leave.holds(tried)) for tried in together] == [(["b", "c"], True)]
    assert str(together[0]) == "with b, c in float32: lost 0.11"


def test_two_that_ruin_are_found_together(tmp_path: Path):
    """Neither alone cures: in the order of suspicion they do together, and no training is made twice."""
    leave, sites = leaving({"a": 2.0, "b": 3.0, "c": 0.0}, 0.01, tmp_path)
    alone = leave.alone(sites, Lines(lambda _: None))
    assert [tried.lost for tried in alone] == [None, None, None]
    together = list(leave.together(alone, Lines(lambda _: None)))
    assert [[site.name for site in tried.back] for tried in together] == [["a", "b"]]
    assert leave.holds(together[0])
    evaluator: Any = leave.evaluator
    assert len(evaluator.trained) == 4
    assert leave.alone(sites, Lines(lambda _: None)) == alone
    assert len(evaluator.trained) == 4
