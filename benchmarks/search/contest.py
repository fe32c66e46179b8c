"""Lets searchers loose on problems, and scores what they found by what was there to find.

A score is the hypervolume of the tried policies' *true* figures over that of the exact front, after so many
counted trials. Every training that a searcher asks for counts 1, a repeat too; a diagnosis counts by its steps.
"""

import multiprocessing
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from halfwise.search.hypervolume import Place, anytime_hypervolume, hypervolume, staircase
from halfwise.search.propose.arrays import Floats

from .peers import PEERS, Peer
from .problems import Family, Problem


@dataclass(frozen=True, slots=True)
class Step:
    """One trial: what has been counted with it, and its figures; a loss is None where it did not train."""

    counted: float
    speedup: float
    quality_lost: float | None
    observed_lost: float | None


@dataclass(frozen=True, slots=True)
class Score:
    """One search, as shares of the exact front's hypervolume.

    `anytime` and `anytime_low_loss` have a figure for each counted trial, 1 to the budget, from the first and the
    second reference. `recommended` is the true worth of the policies that the observed figures put on the front.
    """

    anytime: tuple[float, ...]
    anytime_low_loss: tuple[float, ...]
    recommended: float


@dataclass(frozen=True, slots=True)
class Standing:
    """A peer over all seeds of a family: arrays of (seeds, trials), and (seeds,)."""

    anytime: Floats
    anytime_low_loss: Floats
    recommended: Floats


def search(problem: Problem, peer: Peer, seed: int, trials: int) -> tuple[Step, ...]:
    """What a peer tries until the budget is spent or it has nothing left."""
    searcher = peer(problem, seed)
    noise = np.random.default_rng([seed, trials])
    steps: list[Step] = []
    counted = 0.0
    while (choices := searcher.ask()) is not None:
        observation = problem.observe(choices, noise)
        counted += observation.counted
        if counted > trials:
            break
        searcher.tell(observation.tried)
        lost = problem.quality_lost(choices)
        steps.append(Step(counted, problem.speedup(choices), lost, observation.tried.quality_lost))
        if counted == trials:
            break
    return tuple(steps)


def score(steps: Sequence[Step], references: Sequence[Place], exact: Sequence[float], trials: int) -> Score:
    """Score a search against the exact front's hypervolumes from the references.

    A policy that trained once and does not by the truth adds nothing, however often it is tried.
    """
    anytime, low_loss = (
        _after_each(trials, steps, [area / whole for area in anytime_hypervolume(_true(steps), reference)])
        for reference, whole in zip(references, exact, strict=True)
    )
    return Score(anytime, low_loss, hypervolume(_recommended(steps), references[0]) / exact[0])


def hold(family: Family, peers: Sequence[str], seeds: Sequence[int], trials: int) -> dict[str, Standing]:
    """The standing of each peer in a family: every peer searches the problem of every seed, one process a core."""
    # Processes that begin empty: those of a fork would share locks that a library's threads hold.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=context) as pool:
        exact = dict(zip(seeds, pool.map(partial(_exact, family), seeds), strict=True))
        runs = [(peer, seed) for seed in seeds for peer in peers]
        scores = [pool.submit(_run, family, peer, seed, exact[seed], trials) for peer, seed in runs]
        found = {run: score.result() for run, score in zip(runs, scores, strict=True)}
    return {peer: _standing([found[peer, seed] for seed in seeds]) for peer in peers}


def _exact(family: Family, seed: int) -> tuple[float, ...]:
    problem = family.problem(seed)
    front = problem.exact_front()
    return tuple(hypervolume(front, reference) for reference in problem.references)


def _run(family: Family, peer: str, seed: int, exact: Sequence[float], trials: int) -> Score:
    problem = family.problem(seed)
    return score(search(problem, PEERS[peer], seed, trials), problem.references, exact, trials)


def _standing(scores: Sequence[Score]) -> Standing:
    return Standing(
        np.array([score.anytime for score in scores]),
        np.array([score.anytime_low_loss for score in scores]),
        np.array([score.recommended for score in scores]),
    )


def _true(steps: Sequence[Step]) -> list[Place | None]:
    return [None if step.quality_lost is None else (step.speedup, step.quality_lost) for step in steps]


def _recommended(steps: Sequence[Step]) -> list[Place]:
    """The true figures of what the observed ones put on the front."""
    observed = staircase((step.speedup, step.observed_lost) for step in steps if step.observed_lost is not None)
    return [
        (step.speedup, step.quality_lost)
        for step in steps
        if step.quality_lost is not None and (step.speedup, step.observed_lost) in observed
    ]


def _after_each(trials: int, steps: Sequence[Step], shares: Sequence[float]) -> tuple[float, ...]:
    """The share reached after 1, 2, ... counted trials; it stays where a search has ended."""
    counted = [step.counted for step in steps]
    done = np.searchsorted(counted, np.arange(1, trials + 1), side="right")
    return tuple(np.array([0.0, *shares])[done].tolist())


def best_peer(standings: Mapping[str, Standing], ours: str, trial: int) -> tuple[str, float]:
    """The other peer with the best median after so many trials, and that median."""
    medians = {
        peer: float(np.median(standing.anytime[:, trial - 1]))
        for peer, standing in standings.items()
        if peer != ours
    }
    best = max(medians, key=medians.__getitem__)
    return best, medians[best]
