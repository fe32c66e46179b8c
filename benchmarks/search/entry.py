"""The contest as a benchmark: the share of the exact front that the ladder finds, with its peers beside it."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from halfwise.policies.errors import HalfwiseError

from ..bench import Bench, Figure, Say
from .chains import Chains
from .contest import Standing, best_peer, hold
from .curves import save_curves
from .peers import PEERS
from .problems import Family
from .table import standings_table

OURS = "ladder"
CHECKPOINTS = (30, 60)
SEEDS = range(10)
# The median share of the exact hypervolume after 60 trials.
TARGETS: Mapping[int, float] = {20: 0.96, 60: 0.95, 150: 0.94}
PICTURES = Path("bench-search")


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Let all peers search all chains, draw their curves, and judge the ladder."""
    say(f"{len(PEERS)} searchers, {len(SEEDS)} seeds, {CHECKPOINTS[-1]} trials: shares of the exact hypervolume")
    return tuple(_judge(Chains(sites), target, say) for sites, target in TARGETS.items())


def _judge(family: Family, target: float, say: Say) -> Figure:
    last = CHECKPOINTS[-1]
    standings = hold(family, tuple(PEERS), SEEDS, last)
    say(f"{family.name}\n{standings_table(standings, CHECKPOINTS)}")
    _picture(family.name, standings, say)
    peer, share = best_peer(standings, OURS, last)
    say(f"{family.name}: the best peer is {peer} with {share:.3f}")
    median = float(np.median(standings[OURS].anytime[:, last - 1]))
    return Figure(f"{family.name}, {OURS} after {last} trials, median", median, "at least", target, "")


def _picture(name: str, standings: Mapping[str, Standing], say: Say) -> None:
    path = PICTURES / f"{name}.png"
    try:
        PICTURES.mkdir(exist_ok=True)
        save_curves(standings, f"{name}: {len(SEEDS)} seeds", path)
    except OSError as error:
        raise HalfwiseError(f"the curves cannot be written to {path}: {error.strerror}") from error
    say(f"curves: {path}")


BENCH = Bench(
    "search",
    "the share of the exact front that the ladder finds in 60 trials of synthetic chains, and that of its peers",
    run,
)
