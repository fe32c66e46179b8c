from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Curves

from benchmarks.search.contest import Standing
from benchmarks.search.measured import Row, Table, write_table
from benchmarks.search.tables.contest import judge_tables
from benchmarks.search.tables.figures import RIVALS, fronts_figure, share_figures, trials_until
from halfwise.search.propose.cost_model import CostModel, Site

COSTS = CostModel(1.0, tuple(Site(f"layer{i}", ("float32", "float16"), (1.0, 0.5)) for i in range(4)))
LOST = np.array([0.0, 0.1, 0.3, 0.7])


def table(noise: float) -> Table:
    """Sixteen policies that all train; losses add, and each seed sees the same."""
    rows = tuple(
        Row(choices=c, speedup=COSTS.speedup(c), quality_lost=(float(LOST @ c),) * 3)
        for c in product((0, 1), repeat=4)
    )
    return Table(
        name="four",
        workload="somewhere:make_four",
        command="made by hand",
        mindspore_version="2.10.0",
        steps=50,
        costs=COSTS,
        chances={site.name: 0.1 for site in COSTS.sites},
        sensitivity_trials=1.2,
        float32_quality={0: 0.8, 1: 0.9, 2: 1.0},
        noise=noise,
        rows=rows,
    )


def standing(*shares: float) -> Standing:
    """Two seeds with these shares after 1, 21, 41, ... trials, the second one 0.1 below."""
    anytime = np.repeat(shares, 20)
    both = np.array([anytime, anytime - 0.1])
    return Standing(both, both, both[:, -1])


def test_trials_are_counted_until_the_median_gets_there():
    """With 0.9 and 0.8, then 1.0 and 0.9, the median is 0.95 from the 21st trial on, and 0.99 never."""
    assert trials_until(standing(0.9, 1.0), 0.95) == 21
    assert trials_until(standing(1.0, 1.0), 0.95) == 1
    assert trials_until(standing(0.9, 1.0), 0.99) is None


def test_the_ladder_is_held_against_the_best_rival():
    """Median at 30 and 60 trials, the worst seed, and 21 trials against the 41 of the best rival."""
    rivals = {**dict.fromkeys(RIVALS, standing(0.5, 0.6, 0.7)), "aimet": standing(0.5, 0.6, 1.0)}
    figures = share_figures("four", {"ladder": standing(0.5, 1.0, 1.05), **rivals}, "ladder")
    assert [figure.value for figure in figures] == pytest.approx([0.95, 1.0, 0.95, 21 / 41])
    assert [figure.met for figure in figures] == [True, True, True, False]


def test_a_rival_that_never_gets_there_counts_one_trial_more_than_there_were():
    """Of 60 trials: 61. A ladder that never gets there misses whatever the rivals did."""
    rivals = dict.fromkeys(RIVALS, standing(0.1, 0.1, 0.1))
    assert share_figures("four", {"ladder": standing(0.1, 1.0, 1.0), **rivals}, "ladder")[3].value == 21 / 61
    assert not share_figures("four", {"ladder": standing(0.1, 0.1, 0.1), **rivals}, "ladder")[3].met


def test_the_table_with_most_points_apart_is_counted():
    """Sites gain alike, so the front has the least lossy of one to four: noise tells apart four, or none."""
    assert fronts_figure([table(1e-9)]).value == 4
    assert fronts_figure([table(9.0)]).value == 1
    assert fronts_figure([table(9.0), table(1e-9)]).value == 4


def test_a_table_is_judged_from_its_file(tmp_path: Path):
    """All searchers take part, standings are printed, curves drawn; sixteen policies are found in 60 trials."""
    write_table(table(0.001), tmp_path / "four.json.gz")
    lines: list[str] = []
    saved: dict[str, Curves] = {}

    def save(figure: Curves, name: str) -> None:
        saved[name] = figure

    figures = judge_tables([tmp_path / "four.json.gz"], (0, 1), lines.append, save)
    assert [figure.value for figure in figures[:3]] == pytest.approx([1.0, 1.0, 1.0])
    assert len(saved["four"].axes[0].get_lines()) == len(RIVALS) + 2
    assert all(peer in lines[0] for peer in ("ladder, unwarned", *RIVALS))
    assert any(line.startswith("four: ladder has 0.95 after ") for line in lines)
