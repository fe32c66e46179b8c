"""The contest on measured tables: who finds how much of an exact front, and how soon."""

from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure as Curves

from ...bench import Figure, Say
from ..contest import hold
from ..curves import curves_figure
from ..measured import Table, Unwarned, Warned, read_table
from ..table import standings_table
from .figures import RIVALS, SHARE, fronts_figure, share_figures, trials_until

OURS, UNWARNED = "ladder", "ladder, unwarned"
CHECKPOINTS = (30, 60)


def judge_tables(
    paths: Sequence[Path], seeds: Sequence[int], say: Say, save: Callable[[Curves, str], None]
) -> tuple[Figure, ...]:
    """Let the ladder and its rivals search each table; print their standings, draw their curves, judge the ladder.

    Raises:
        InputError: a file holds no table.
    """
    tables = [read_table(path) for path in paths]
    figures = [figure for table in tables for figure in _judge(table, seeds, say, save)]
    return (*figures, fronts_figure(tables))


def _judge(
    table: Table, seeds: Sequence[int], say: Say, save: Callable[[Curves, str], None]
) -> tuple[Figure, ...]:
    trials = CHECKPOINTS[-1]
    found = hold(Warned(table), (OURS, *RIVALS), seeds, trials)
    unwarned = hold(Unwarned(table), (OURS,), seeds, trials)[OURS]
    standings = {OURS: found.pop(OURS), UNWARNED: unwarned, **found}
    say(f"{table.name}\n{standings_table(standings, CHECKPOINTS)}")
    for peer, standing in standings.items():
        until = trials_until(standing, SHARE)
        say(f"{table.name}: {peer} has {SHARE} {f'after {until} trials' if until else f'not in {trials} trials'}")
    save(curves_figure(standings, f"{table.name}: {len(seeds)} seeds"), table.name)
    return share_figures(table.name, standings, OURS)
