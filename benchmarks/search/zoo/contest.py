"""The zoo's contest: which networks, who races on which of them, and what the ladder must reach."""

from collections.abc import Mapping, Sequence
from functools import cache
from math import isinf
from pathlib import Path

import numpy as np
import pandas as pd

from halfwise.evaluators.device_facts import learn_device

from ...bench import Figure, Say
from .course import Course, open_course
from .kinds import SHAPES
from .lengths import TRIAL_STEPS
from .plan import plan_zoo
from .race import Result, race
from .searchers import OURS, SEARCHERS

OUTCOMES = Path(__file__).with_name("outcomes")
# Five networks for each number of hazards, their shapes in turn. The op table mixes up the ops of two attentions,
# or two normalisations, in a row: other seeds stand in for four such networks, one of them with `vanishing` in it.
_SEEDS = {(seed, hazards): seed for seed in range(1, 6) for hazards in (1, 2, 3, 4)}
_SEEDS |= {(2, 1): 9, (2, 2): 6, (3, 3): 7, (4, 2): 6}
PLANS = tuple(
    plan_zoo(seed, 20, hazards, SHAPES[(drawn + hazards) % 3]) for (drawn, hazards), seed in _SEEDS.items()
)
# The others ask for many more policies, each of which has to be trained once: they race on a part of the networks.
COMPARED = PLANS[:5]

# Counted trials beyond the number of hazards, in the median, and beyond twice their number, at worst.
MEDIAN_TARGET, WORST_TARGET = 4, 8

OURS_ON_ALL = f"{OURS}, all networks"

Results = Mapping[str, Sequence[Result]]
"""By searcher, one for each of its networks."""


def hold_zoo(folder: Path, say: Say) -> Results:
    """Let the ladder race on all networks and everybody on some; what the books lack is trained.

    `folder` is an empty one to work in.
    """
    device = cache(lambda: learn_device("CPU", folder))
    courses: list[Course] = []
    ours: list[Result] = []
    for plan in PLANS:
        courses.append(open_course(plan, OUTCOMES, device))
        ours.append(_race(OURS, courses[-1], say))
    compared = courses[: len(COMPARED)]
    others = {name: [_race(name, course, say) for course in compared] for name in SEARCHERS}
    trained = sum(course.trained for course in courses)
    outcomes = sum(len(course.book.outcomes) for course in courses)
    say(f"{trained} policies were trained for this, the others replayed from {outcomes - trained} outcomes")
    trials = np.median([course.book.network.sensitivity_steps for course in courses]) / TRIAL_STEPS
    say(f"before that, not counted: float32 three times, and chances of harm by the steps of {trials:.1f} trials")
    return {OURS_ON_ALL: ours, **others}


def zoo_table(results: Results) -> str:
    """One line a searcher: its networks, on how many of them it reached the goal, and after how many trials."""
    rows = {name: _row(found) for name, found in results.items()}
    return pd.DataFrame.from_dict(rows, orient="index").to_string(float_format=_trials)


def best_other(results: Results) -> str:
    """Who else did best on the compared networks, in words: most of them at the goal, then soonest."""
    rows = {name: _row(found) for name, found in results.items() if not name.startswith(OURS)}
    best = min(rows, key=lambda name: (-rows[name]["at the goal"], rows[name]["median beyond k"]))
    row = rows[best]
    return (
        f"the best of the others is {best}: at the goal on {row['at the goal']} of {row['networks']} networks, "
        f"median beyond k {_trials(row['median beyond k'])}"
    )


def zoo_figures(ours: Sequence[Result]) -> tuple[Figure, ...]:
    """The ladder's figures to judge."""
    median = float(np.median([result.beyond for result in ours]))
    worst = max(result.beyond_twice for result in ours)
    return (
        Figure(f"zoo, {OURS}: trials beyond the hazards, median", median, "at most", MEDIAN_TARGET, ""),
        Figure(f"zoo, {OURS}: trials beyond twice the hazards, worst", worst, "at most", WORST_TARGET, ""),
    )


def _race(name: str, course: Course, say: Say) -> Result:
    result = race(course, SEARCHERS[name])
    trials = "not reached" if result.reached is None else f"{result.reached:.2f} counted trials"
    say(f"{course.book.network.name}: {name}: {trials}; {course.trained} policies were trained so far")
    return result


def _row(found: Sequence[Result]) -> dict[str, float]:
    return {
        "networks": len(found),
        "at the goal": sum(result.reached is not None for result in found),
        "median beyond k": float(np.median([result.beyond for result in found])),
        "worst beyond 2k": max(result.beyond_twice for result in found),
    }


def _trials(value: float) -> str:
    return "> cap" if isinf(value) else f"{value:.2f}"
