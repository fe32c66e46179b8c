from itertools import pairwise

import pytest

from benchmarks.search.tables.catalogue import TABLES
from benchmarks.search.tables.trainer import make_trainer

FLOAT32 = (0,) * 10
# The group of each network that ruins training in float16.
RUINOUS = 4


def low(*sites: int) -> tuple[int, ...]:
    """Ten choices, these sites in float16."""
    return tuple(int(site in sites) for site in range(10))


@pytest.mark.parametrize("name", TABLES)
def test_each_of_ten_groups_is_a_site(name: str):
    """Every op that a policy decides belongs to one of ten groups, and none to the network itself."""
    sites = make_trainer(TABLES[name]).space.groups
    assert [site.name for site in sites] == [f"groups.{place}" for place in range(10)]
    assert all(site.ops for site in sites)


@pytest.mark.timeout(900)
@pytest.mark.full
@pytest.mark.parametrize("name", TABLES)
def test_one_process_trains_many_policies_as_fresh_ones_do(name: str):
    """Qualities, prices and blame are equal, bit for bit, whatever was trained before in the process."""
    trainer = make_trainer(TABLES[name])
    wanted = [(low(2, 8), 0), (low(RUINOUS), 0), (FLOAT32, 0), (low(0, 1, 2, 3, 5, 6), 1), (FLOAT32, 1)]
    together = trainer.train(wanted)
    assert [(run.choices, run.seed) for run in together] == wanted
    assert together == tuple(trainer.train([each])[0] for each in wanted)


@pytest.mark.timeout(900)
@pytest.mark.full
@pytest.mark.parametrize("name", TABLES)
def test_groups_do_what_they_were_made_for(name: str):
    """One ruins training, four or more lose quality by degrees, and the others lose nothing."""
    trainer = make_trainer(TABLES[name])
    float32, ruined, *alone = trainer.train([(FLOAT32, 0), *((low(site), 0) for site in (RUINOUS, *range(10)))])
    assert float32.quality is not None
    assert float32.quality > 0.95
    assert (ruined.quality, ruined.cause, ruined.blamed) == (None, "non-finite at step 0", {RUINOUS})
    assert ruined.diagnosis_steps == 1
    lost = [float32.quality - run.quality for run in alone if run.quality is not None]
    assert len(lost) == 9
    graded = sorted(loss for loss in lost if loss > 0.001)
    assert len(graded) >= 5
    assert all(b > 1.05 * a for a, b in pairwise(graded))
