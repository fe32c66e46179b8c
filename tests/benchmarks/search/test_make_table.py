from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.search.make_table import SEEDS, Making, main
from benchmarks.search.measured import Table, Unwarned, read_table, write_table
from benchmarks.search.tables.figures import front_of
from benchmarks.search.tables.runs import Journal, Network, Run
from halfwise.policies.errors import HalfwiseError
from halfwise.search.propose.cost_model import Choices, CostModel, Site

COSTS = CostModel(1.0, tuple(Site(f"layer{i}", ("float32", "float16"), (1.0 + i, 0.5)) for i in range(4)))
NETWORK = Network(
    name="four",
    workload="somewhere:make_four",
    steps=50,
    mindspore_version="2.10.0",
    costs=COSTS,
    chances={site.name: 0.1 for site in COSTS.sites},
    sensitivity_trials=1.2,
)
LOST = np.array([0.0, 0.1, 0.3])


class Lesson:
    """A closed form in place of a training: layer 3 ruins it, the others lose by `LOST`; seeds differ by a little.

    `trained` is what it was asked for.
    """

    def __init__(self, most: int = 1000):
        self.trained: list[tuple[Choices, int]] = []
        self.most = most

    def __call__(self, wanted: Sequence[tuple[Choices, int]]) -> list[Run]:
        """What becomes of each."""
        if len(self.trained) + len(wanted) > self.most:
            raise KeyboardInterrupt
        self.trained += wanted
        return [self._run(*each) for each in wanted]

    def _run(self, choices: Choices, seed: int) -> Run:
        ruined = choices[3] == 1
        lost = float(LOST @ choices[:3]) * (1 + 0.01 * seed)
        return Run(
            choices=choices,
            seed=seed,
            step_time_s=COSTS.step_time_s(choices),
            quality=None if ruined else 0.9 + 0.01 * seed - lost,
            cause="non-finite at step 0" if ruined else None,
            blamed=frozenset({3} if ruined else ()),
            diagnosis_steps=int(ruined),
        )


def made(path: Path, lesson: Lesson) -> Table:
    """The table, with its journal in a file."""
    return Making(NETWORK, Journal(path, NETWORK), lesson).run(lambda line: None)


def test_every_policy_is_trained_and_the_front_with_all_seeds(tmp_path: Path):
    """Sixteen policies with the first seed, the whole front with three; losses are against float32's same seed."""
    lesson = Lesson()
    table = made(tmp_path / "four.jsonl", lesson)
    assert len(lesson.trained) == len(set(lesson.trained))
    assert {choices for choices, seed in lesson.trained if seed == 0} == set(product((0, 1), repeat=4))
    front = front_of(table)
    assert {row.choices for row in front} >= {(1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0)}
    assert all(len(row.quality_lost) == len(SEEDS) for row in front)
    rows = {row.choices: row for row in table.rows}
    assert rows[1, 1, 0, 0].quality_lost == pytest.approx((0.1, 0.101, 0.102))
    assert rows[1, 1, 1, 0].speedup == pytest.approx(COSTS.speedup((1, 1, 1, 0)))
    assert rows[0, 1, 0, 1].quality_lost == (None,)
    assert rows[0, 1, 0, 1].blamed == frozenset({3})
    assert rows[0, 1, 0, 1].diagnosis == 1 / 50
    assert table.float32_quality == pytest.approx({0: 0.9, 1: 0.91, 2: 0.92})


def test_the_front_of_the_rows_is_that_of_the_replay(tmp_path: Path):
    """Both are worked out from the same means."""
    table = made(tmp_path / "four.jsonl", Lesson())
    assert [(row.speedup, row.mean) for row in front_of(table)] == list(Unwarned(table).problem(0).exact_front())


def test_a_stopped_making_goes_on(tmp_path: Path):
    """Stopped after any number of trainings and started again, it trains none twice and makes the same table."""
    whole = made(tmp_path / "whole.jsonl", Lesson())
    for most in (2, 10, 20):
        first, second = Lesson(most), Lesson()
        path = tmp_path / f"{most}.jsonl"
        with pytest.raises(KeyboardInterrupt):
            made(path, first)
        kept = len(Journal(path, NETWORK))
        assert kept == len(first.trained) <= most
        assert made(path, second) == whole
        assert not set(first.trained) & set(second.trained)


def test_a_table_that_was_made_can_be_read(tmp_path: Path):
    """What is written is read back equal."""
    table = made(tmp_path / "four.jsonl", Lesson())
    write_table(table, tmp_path / "four.json.gz")
    assert read_table(tmp_path / "four.json.gz") == table


def test_float32_must_train(tmp_path: Path):
    """Without float32's quality there is nothing to hold a loss against: its seed is named."""

    def train(wanted: Sequence[tuple[Choices, int]]) -> list[Run]:
        return [Run(choices=c, seed=s, step_time_s=1.0, quality=None, cause="loss never moved") for c, s in wanted]

    with pytest.raises(HalfwiseError, match="float32 of four does not train with seed 0"):
        Making(NETWORK, Journal(tmp_path / "x.jsonl", NETWORK), train).run(lambda line: None)


def test_an_unknown_table_is_refused(capsys: pytest.CaptureFixture[str]):
    """The names that there are stand in the message, and the exit code says that the input was wrong."""
    assert main(["sensor"]) == 2
    words = capsys.readouterr().err
    assert "give one of sensors, seasons; got 'sensor'" in words
