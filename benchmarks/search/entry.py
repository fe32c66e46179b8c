"""The contest as a benchmark: the share of the exact front that the ladder finds, with its peers beside it."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Curves

from halfwise.policies.errors import HalfwiseError

from ..bench import Bench, Figure, Say
from .chains import Chains
from .contest import best_peer, hold
from .curves import curves_figure, reached_figure, save_figure
from .peers import PEERS
from .problems import Family
from .table import standings_table
from .tables.catalogue import TABLES
from .tables.contest import judge_tables
from .zoo.contest import OURS_ON_ALL, best_other, hold_zoo, zoo_figures, zoo_table

OURS = "ladder"
CHECKPOINTS = (30, 60)
SEEDS = range(10)
# The median share of the exact hypervolume after 60 trials.
TARGETS: Mapping[int, float] = {20: 0.96, 60: 0.95, 150: 0.94}
PICTURES = Path("bench-search")


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Let all peers race on the zoo and search all chains, draw their curves, and judge the ladder."""
    raced = _race(folder, say)
    say(f"{len(PEERS)} searchers, {len(SEEDS)} seeds, {CHECKPOINTS[-1]} trials: shares of the exact hypervolume")
    chains = tuple(_judge(Chains(sites), target, say) for sites, target in TARGETS.items())
    return (*raced, *_judge_tables(say), *chains)


def _judge_tables(say: Say) -> tuple[Figure, ...]:
    paths = [table.path for table in TABLES.values()]
    return judge_tables(paths, SEEDS, say, lambda figure, name: _save(figure, name, say))


def _race(folder: Path, say: Say) -> tuple[Figure, ...]:
    results = hold_zoo(folder, say)
    say(f"the zoo\n{zoo_table(results)}\n{best_other(results)}")
    beyond = {name: [result.beyond for result in found] for name, found in results.items()}
    _save(reached_figure(beyond, "The zoo: 95% of the best trainable speed-up"), "zoo", say)
    return zoo_figures(results[OURS_ON_ALL])


def _judge(family: Family, target: float, say: Say) -> Figure:
    last = CHECKPOINTS[-1]
    standings = hold(family, tuple(PEERS), SEEDS, last)
    say(f"{family.name}\n{standings_table(standings, CHECKPOINTS)}")
    _save(curves_figure(standings, f"{family.name}: {len(SEEDS)} seeds"), family.name, say)
    peer, share = best_peer(standings, OURS, last)
    say(f"{family.name}: the best peer is {peer} with {share:.3f}")
    median = float(np.median(standings[OURS].anytime[:, last - 1]))
    return Figure(f"{family.name}, {OURS} after {last} trials, median", median, "at least", target, "")


def _save(figure: Curves, name: str, say: Say) -> None:
    path = PICTURES / f"{name}.png"
    try:
        PICTURES.mkdir(exist_ok=True)
        save_figure(figure, path)
    except OSError as error:
        raise HalfwiseError(f"the curves cannot be written to {path}: {error.strerror}") from error
    say(f"curves: {path}")


BENCH = Bench(
    "search",
    "the share of the exact front that the ladder finds in 60 trials of synthetic chains, and that of its peers",
    run,
)
