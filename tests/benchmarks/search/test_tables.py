import random
from itertools import product

import pytest

from benchmarks.search.make_table import SEEDS
from benchmarks.search.measured import Table, read_table
from benchmarks.search.tables.catalogue import TABLES
from benchmarks.search.tables.figures import front_of
from benchmarks.search.tables.near_front import near_front, points_apart
from benchmarks.search.tables.trainer import make_trainer

# Quality is a share of variance. On one kind of CPU it repeats exactly; another one rounds products otherwise.
TOLERANCE = 0.01


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Table:
    """Each table that there is."""
    return read_table(TABLES[request.param].path)


def test_a_table_is_of_its_network(table: Table):
    """Ten sites, 1,024 policies, float32 first, which loses nothing and is as fast as itself."""
    assert TABLES[table.name].workload == table.workload
    assert [row.choices for row in table.rows] == list(product((0, 1), repeat=10))
    assert (table.rows[0].quality_lost, table.rows[0].speedup) == ((0.0, 0.0, 0.0), 1.0)


def test_what_is_near_the_front_was_trained_with_every_seed(table: Table):
    """No policy with one seed alone may be on the front when noise is taken into account."""
    trained = {row.choices: row.known for row in table.rows if row.mean is not None}
    speedups = {row.choices: row.speedup for row in table.rows}
    rows = {row.choices: row for row in table.rows}
    for choices in near_front(speedups, trained, 0.0):
        assert len(rows[choices].quality_lost) == len(SEEDS)
    assert points_apart([row.known for row in front_of(table)], table.noise) >= 5


def test_failures_name_the_site_that_ruins_training(table: Table):
    """All that fail hold group 4 low, which every diagnosis blames."""
    failed = [row for row in table.rows if row.mean is None]
    assert {row.choices[4] for row in failed} == {1}
    assert {row.choices[4] for row in table.rows if row.mean is not None} == {0}
    assert {row.blamed for row in failed} == {frozenset({4})}
    assert {row.diagnosis for row in failed} == {1 / table.steps}


def test_the_cost_model_is_near_the_price_of_what_was_compiled(table: Table):
    """Searchers know speed-ups from the cost model; the rows have those of compiled steps: within 3%."""
    for row in table.rows:
        assert table.costs.speedup(row.choices) == pytest.approx(row.speedup, rel=0.03)


@pytest.mark.timeout(900)
@pytest.mark.full
def test_policies_trained_afresh_give_the_recorded_figures(table: Table):
    """Three policies drawn at random: the same failures, prices, and losses."""
    trainer = make_trainer(TABLES[table.name])
    rows = random.Random(table.name).sample(table.rows, 3)
    float32, *runs = trainer.train([(table.costs.float32, 0), *((row.choices, 0) for row in rows)])
    assert float32.quality == pytest.approx(table.float32_quality[0], abs=TOLERANCE)
    for row, run in zip(rows, runs, strict=True):
        lost = row.quality_lost[0]
        assert (run.quality is None) == (lost is None)
        assert run.blamed == row.blamed
        assert float32.step_time_s / run.step_time_s == pytest.approx(row.speedup)
        if run.quality is not None and float32.quality is not None:
            assert float32.quality - run.quality == pytest.approx(lost, abs=TOLERANCE)
