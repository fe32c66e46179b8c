"""What a search may cost, how that is written, and what it did cost."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from surveys import make_survey

from halfwise.experiments.budget import Budget, budget_of
from halfwise.experiments.cost import Cost, Ledger, read_cost
from halfwise.experiments.duration import duration_text, parse_duration
from halfwise.experiments.experiment_file import Experiment, load_experiment
from halfwise.experiments.longer import lengths_for
from halfwise.policies.errors import InputError

SURVEY = make_survey(trial_steps=80, full_steps=1600)


@given(st.timedeltas(min_value=timedelta(milliseconds=1), max_value=timedelta(days=3000)))
def test_a_time_is_read_back_as_it_was_written(time: timedelta) -> None:
    """Every time, to the microsecond."""
    assert parse_duration(duration_text(time)) == time


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("20m", 1200), ("2h", 7200), ("1h30m", 5400), ("1.5h", 5400), ("1d", 86400)]
)
def test_times_as_people_write_them(text: str, seconds: int) -> None:
    """Days, hours, minutes and seconds, alone or together."""
    assert parse_duration(text).total_seconds() == seconds


@given(st.one_of(st.text(max_size=8), st.integers(), st.floats(), st.none()))
def test_whatever_is_written_gives_a_time_or_the_rule(value: object) -> None:
    """What is no time, and that is most of it, is refused with how times are written."""
    if re.fullmatch(r"\s*(\d+(\.\d+)?[dhms])+\s*", str(value)):
        return
    with pytest.raises(ValueError, match="such as 90s, 20m or 1h30m"):
        parse_duration(value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("time_limit: 20", "time_limit: must be a time above 0 with its unit, such as 90s, 20m or 1h30m"),
        ("time_limit: 0m", "time_limit: must be a time above 0"),
        ("full_runs: 0", "full_runs: must be greater than 0"),
        ("full_runs: .inf", "full_runs: "),
        ("patience: 0", "patience: must be greater than or equal to 1"),
        ("rungs: 0", "rungs: must be auto or a whole number from 1 to 6, but got '0'"),
        ("rungs: many", "rungs: must be auto or a whole number from 1 to 6, but got 'many'"),
    ],
)
def test_bad_bounds_are_refused_with_the_rule(tmp_path: Path, line: str, words: str) -> None:
    """Each names the field, what it must be and what it got, with its place in the file."""
    file = tmp_path / "e.yaml"
    file.write_text(f"schema: halfwise/experiment/1\nworkload: a:b\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load_experiment(file, {})
    assert f"e.yaml:3:{len(line.split(':')[0]) + 3}: {words}" in str(refused.value)


def test_a_bad_bound_on_the_command_line_names_the_option(tmp_path: Path) -> None:
    """The option, as it is typed."""
    file = tmp_path / "e.yaml"
    file.write_text("schema: halfwise/experiment/1\nworkload: a:b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"--time-limit: must be a time above 0 .* but got 'soon'"):
        load_experiment(file, {"time_limit": "soon"})


def test_an_experiment_is_kept_and_read_back() -> None:
    """Its time goes into JSON as people write it."""
    experiment = Experiment(workload="a:b", time_limit=timedelta(minutes=90), rungs=2)
    text = experiment.model_dump_json(by_alias=True)
    assert '"time_limit":"1h30m"' in text
    assert Experiment.model_validate_json(text) == experiment


def test_each_bound_ends_a_search_and_says_which_it_was() -> None:
    """Trials, time, training steps and patience, each with the name of its field."""
    budget = Budget(
        trials=30, full_steps=1600, full_runs=2, time_limit=timedelta(minutes=20), patience=5, reserve_steps=900
    )
    fine = Cost(steps=2000, time_s=1199, calm_trials=4)
    assert budget.used_up(29, fine, 80) is None
    assert "all 30 trials were made (trials)" in str(budget.used_up(30, fine, 80))
    late = fine.model_copy(update={"time_s": 1200.0})
    assert "time is up (time_limit: 20m)" in str(budget.used_up(3, late, 80))
    dear = fine.model_copy(update={"steps": 2300 - 79})
    assert "2 full trainings of 1,600 steps (full_runs)" in str(budget.used_up(3, dear, 80))
    calm = fine.model_copy(update={"calm_trials": 5})
    assert "for 5 trials nothing changed" in str(budget.used_up(3, calm, 80))


@given(st.integers(0, 5000), st.integers(1, 500), st.floats(0.1, 5), st.integers(0, 9000))
def test_what_is_afforded_keeps_to_the_budget(spent: int, steps: int, full_runs: float, reserve: int) -> None:
    """Never beyond the whole; and what is kept back for the confirmation is never more than a third."""
    budget = Budget(trials=1, full_steps=1000, full_runs=full_runs, reserve_steps=reserve)
    whole = int(full_runs * 1000)
    if budget.affords(Cost(steps=spent), steps):
        assert spent + steps <= whole - min(reserve, whole // 3)
    else:
        assert spent + steps > whole - min(reserve, whole // 3)
    assert budget.left_steps(Cost(steps=spent)) == max(whole - spent, 0)


def test_a_budget_that_float32_alone_would_use_up_is_refused() -> None:
    """The error names the least that works, and that least is accepted."""
    with pytest.raises(InputError, match=r"full_runs 0\.1: .* take 0\.38 full trainings of 1,600 steps"):
        budget_of(Experiment(workload="a:b", full_runs=0.1), (80,), SURVEY)
    assert budget_of(Experiment(workload="a:b", full_runs=0.38), (80,), SURVEY).steps == 608


def test_unasked_only_what_goes_beyond_short_trials_is_bound() -> None:
    """Without `full_runs` short trials go on, but two full trainings bound how much is trained longer."""
    budget = budget_of(Experiment(workload="a:b", patience=None), (80, 240), SURVEY)
    assert budget.used_up(29, Cost(steps=10**6), 80) is None
    kept = 2 * 1600 // 3
    assert budget.affords(Cost(steps=3200 - kept - 160), 160)
    assert not budget.affords(Cost(steps=3200 - kept - 159), 160)
    assert budget.left_steps(Cost(steps=3000)) == 200


@pytest.mark.parametrize(
    ("steps", "full", "lengths"),
    [(80, 1600, (80, 240)), (100, 4000, (100, 300)), (30, 300, (30,)), (10, 1000, (10, 30, 90))],
)
def test_by_itself_the_longest_trial_is_a_small_part_of_a_training(steps, full, lengths) -> None:
    """At most three lengths, the longest at most 15% of a whole training, however long the first is."""
    assert lengths_for("auto", steps, full) == lengths


def test_what_is_spent_is_written_down_at_once_and_added_up_over_starts(tmp_path: Path) -> None:
    """Steps and seconds of every start count, and the time in between does not."""
    now = 100.0
    file = tmp_path / "cost.json"
    first = Ledger(file, lambda: now)
    first.note_full(1600)
    now = 130.0
    first.add(80)
    assert read_cost(file) == Cost(full_steps=1600, steps=80, time_s=30.0)
    now = 1000.0
    second = Ledger(file, lambda: now)
    now = 1010.0
    second.add(240)
    second.note_calm(3)
    second.note_end("enough")
    assert read_cost(file) == Cost(full_steps=1600, steps=320, time_s=40.0, calm_trials=3, ended="enough")
    assert read_cost(file).words(7) == "7 trials, 40 s, 0.20 full-training equivalents (320 training steps)"
