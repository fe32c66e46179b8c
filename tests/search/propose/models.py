"""What tests of proposers share: small cost models, drawn or given, and trials that never end."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from halfwise.search.propose.cost_model import Border, Choices, CostModel, Site
from halfwise.search.propose.proposer import Proposer, Tried

LOW = ("float32", "float16", "bfloat16")


def row(*gains_s: float) -> CostModel:
    """Sites of two choices: float32 takes a second, float16 less by the gain; no casts."""
    sites = tuple(Site(f"s{i}", LOW[:2], (1.0, 1.0 - gain)) for i, gain in enumerate(gains_s))
    return CostModel(1.0, sites)


@st.composite
def cost_models(draw: st.DrawFn, regions: bool = False) -> CostModel:
    """Up to six sites of one to three choices, with casts between neighbours; some share one low precision."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    seconds = st.floats(0, 1)
    sites = tuple(Site(f"s{i}", LOW[:n], tuple(draw(seconds) for _ in range(n))) for i, n in enumerate(sizes))
    borders = tuple(
        Border(i, i + 1, tuple(tuple(draw(seconds) for _ in range(b)) for _ in range(a)))
        for i, (a, b) in enumerate(pairwise(sizes))
    )
    cut = draw(st.integers(0, len(sizes)))
    shared = (tuple(range(cut)), tuple(range(cut, len(sizes)))) if regions else ()
    return CostModel(1.0, sites, borders, regions=tuple(region for region in shared if len(region) > 1))


def history(proposer: Proposer, outcome: Callable[[Choices], Tried], trials: int, seed: int = 0) -> list[Tried]:
    """What a proposer tries until it has nothing left, at most so many trials."""
    rng = np.random.default_rng(seed)
    tried: list[Tried] = []
    while len(tried) < trials and (choices := proposer.propose(tried, rng)) is not None:
        tried.append(outcome(choices))
    return tried


def choices_of(tried: Sequence[Tried]) -> list[str]:
    """Such as "010" for three sites of which the second one is low."""
    return ["".join(map(str, trial.choices)) for trial in tried]


def additive(*lost: float) -> Callable[[Choices], Tried]:
    """Each low site loses its figure; infinity ruins training."""

    def outcome(choices: Choices) -> Tried:
        total = sum(figure for figure, choice in zip(lost, choices, strict=True) if choice)
        return Tried(choices, None if total == float("inf") else total)

    return outcome
