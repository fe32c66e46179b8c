import gzip
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.search.contest import score, search
from benchmarks.search.measured import Replay, Row, Table, Unwarned, Warned, read_table, write_table
from benchmarks.search.peers import PEERS
from halfwise.policies.errors import InputError
from halfwise.search.hypervolume import hypervolume
from halfwise.search.propose.cost_model import Border, CostModel, Site

SITES = tuple(Site(f"layer{i}", ("float32", "float16"), (1.0, 0.5)) for i in range(4))
COSTS = CostModel(1.0, SITES, (Border(0, 1, ((0.0, 0.1), (0.1, 0.0))),))


def table() -> Table:
    """Sixteen policies; layer 3 ruins training with one seed of three when it is low, layer 0 loses quality."""
    rows = tuple(
        Row(
            choices=c,
            speedup=1.01 * COSTS.speedup(c),
            quality_lost=(0.1 * c[0], 0.2 * c[0], None if c[3] else 0.3 * c[0]),
            blamed=frozenset({3} if c[3] else ()),
            diagnosis=0.25,
        )
        for c in product((0, 1), repeat=4)
    )
    return Table(
        name="four",
        workload="somewhere:make_four",
        command="halfwise search four.yaml",
        mindspore_version="2.10.0",
        steps=50,
        costs=COSTS,
        chances={site.name: 0.9 if site.name == "layer3" else 0.01 for site in SITES},
        sensitivity_trials=1.2,
        float32_quality={0: 0.8, 1: 0.9, 2: 1.0},
        noise=0.1,
        rows=rows,
    )


def replay_of(table: Table) -> Replay:
    """The table as a problem of which nothing is known beforehand."""
    return Unwarned(table).problem(0)


def test_a_table_is_read_as_it_was_written(tmp_path: Path):
    """Sites, borders, figures and blame come back equal, and equal tables are equal files."""
    for name in ("a", "b"):
        write_table(table(), tmp_path / name)
    assert read_table(tmp_path / "a") == table()
    assert read_table(tmp_path / "a").costs.step_time_s((1, 0, 1, 0)) == COSTS.step_time_s((1, 0, 1, 0))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_trial_is_one_of_the_seeds():
    """Observed losses are those of the row's seeds, all of them in time; the truth is their mean."""
    replay, rng = replay_of(table()), np.random.default_rng(0)
    seen = [replay.observe((1, 0, 0, 0), rng) for _ in range(60)]
    assert {observation.tried.quality_lost for observation in seen} == {0.1, 0.2, 0.3 * 1}
    assert {observation.counted for observation in seen} == {1.0}
    assert replay.quality_lost((1, 0, 0, 0)) == pytest.approx(0.2)
    assert replay.speedup((1, 0, 0, 0)) == 1.01 * COSTS.speedup((1, 0, 0, 0))


def test_a_failure_is_blamed_and_its_diagnosis_counted():
    """A policy that fails with one seed does not train by the truth; the failing seed names its site."""
    replay, rng = replay_of(table()), np.random.default_rng(0)
    seen = [replay.observe((0, 0, 0, 1), rng) for _ in range(60)]
    assert replay.quality_lost((0, 0, 0, 1)) is None
    assert {(o.tried.quality_lost, o.tried.blamed, o.counted) for o in seen} == {
        (0.0, frozenset(), 1.0),
        (None, frozenset({3}), 1.25),
    }


def test_the_front_and_the_references_are_those_of_what_trains():
    """Only what trains with every seed is on the front; the references are its worst loss and a fifth of it."""
    replay = replay_of(table())
    assert replay.references == ((1.0, pytest.approx(0.2)), (1.0, pytest.approx(0.04)))
    assert list(replay.exact_front()) == [
        (replay.speedup((1, 1, 1, 0)), pytest.approx(0.2)),
        (replay.speedup((0, 1, 1, 0)), 0.0),
    ]


def test_searchers_are_told_the_chances_of_harm_or_nothing():
    """The prior has the table's chance for each site in its low precision; that of the unwarned is empty."""
    chances = Warned(table()).problem(0).prior.chances
    assert chances == {(f"layer{i}", "float16"): 0.9 if i == 3 else 0.01 for i in range(4)}
    assert Unwarned(table()).problem(0).prior.chances == {}


def test_a_searcher_reaches_the_whole_front_of_a_table(tmp_path: Path):
    """With as many trials as policies and more, AIMET and the ladder cover all of a harmless table's front."""
    write_table(table(), tmp_path / "four.json.gz")
    problem = Warned(read_table(tmp_path / "four.json.gz")).problem(0)
    exact = [hypervolume(problem.exact_front(), reference) for reference in problem.references]
    for peer in ("ladder", "aimet"):
        steps = search(problem, PEERS[peer], 0, 30)
        assert score(steps, problem.references, exact, 30).anytime[-1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no gzip", "holds no measured table"),
        (gzip.compress(b"{}", mtime=0), "holds no measured table"),
        (gzip.compress(b'{"schema": "halfwise/search-table/2"}', mtime=0), "holds no measured table"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes, words: str):
    """What is no table is refused with its path."""
    (tmp_path / "x.gz").write_bytes(content)
    with pytest.raises(InputError, match=rf"x\.gz {words}"):
        read_table(tmp_path / "x.gz")


def test_a_table_must_hold_every_policy_once(tmp_path: Path):
    """A row too few, or one twice in the place of another, is refused with the number that is right."""
    rows = table().rows
    for kept, count in ((rows[1:], 15), ((*rows[1:], rows[1]), 16)):
        write_table(table().model_copy(update={"rows": kept}), tmp_path / "part.gz")
        with pytest.raises(InputError, match=f"must hold each of 16 policies once, but has {count} rows"):
            read_table(tmp_path / "part.gz")


def test_a_table_must_hold_each_sites_chance(tmp_path: Path):
    """A site without a chance of harm is named."""
    write_table(table().model_copy(update={"chances": {"layer0": 0.5}}), tmp_path / "part.gz")
    with pytest.raises(InputError, match="must hold a chance of harm for each site, but has none for layer1, la"):
        read_table(tmp_path / "part.gz")


def test_a_policy_that_there_is_not_is_refused(tmp_path: Path):
    """A row whose choices the sites don't have takes no other's place."""
    rows = table().rows
    wrong = rows[0].model_copy(update={"choices": (2, 0, 0, 0)})
    write_table(table().model_copy(update={"rows": (wrong, *rows[1:])}), tmp_path / "odd.gz")
    with pytest.raises(InputError, match="must hold each of 16 policies once, but has 16 rows"):
        read_table(tmp_path / "odd.gz")


def test_a_table_without_loss_is_refused(tmp_path: Path):
    """Where no policy loses quality there is one best policy and no front to search."""
    rows = tuple(row.model_copy(update={"quality_lost": (0.0,)}) for row in table().rows)
    write_table(table().model_copy(update={"rows": rows}), tmp_path / "flat.gz")
    with pytest.raises(InputError, match="has nothing to search for: no policy that trains loses quality"):
        read_table(tmp_path / "flat.gz")
