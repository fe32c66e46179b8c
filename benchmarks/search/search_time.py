"""How long the ladder takes to propose: asked, told and written down, with a long history of its own."""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution
from optuna.trial import create_trial
from threadpoolctl import threadpool_limits

from halfwise.policies import DynamicLossScaling
from halfwise.search.advisors import SiteAdvisor
from halfwise.search.journal import open_journal
from halfwise.search.propose.additive_loss import Features
from halfwise.search.propose.cost_model import Border, Choices, CostModel
from halfwise.search.propose.prior import Prior
from halfwise.search.propose.proposer import Tried
from halfwise.search.propose.rungs import Rungs
from halfwise.search.proposers import Knowledge, make_proposer
from halfwise.search.samplers import make_sampler
from halfwise.search.site_space import SiteGroup, SiteSpace
from halfwise.search.study import Search
from halfwise.search.told import Proposal

from ..bench import Bench, Figure, Say
from .chains import Chain, draw_chain

GROUPS, HISTORY, TIMED, TPE_TIMED, SOLVED = 200, 500, 60, 5, 5
MEDIAN_MS, PERCENTILE_MS, SOLVER_S = 50, 200, 1
# Sites that ruin training; a diagnosis names every other failure's.
HAZARDS = 3
# The borders that are added to the chain for a network that is no chain any more.
_EXTRA_BORDERS = 1000
_SEED, _NOISE = 5, 0.02


@dataclass
class Timing:
    """Seconds of each trial, by the processor's clock and by the wall's."""

    cpu_s: list[float] = field(default_factory=list[float])
    wall_s: list[float] = field(default_factory=list[float])

    @contextmanager
    def of(self) -> Iterator[None]:
        """Times what is done inside, as one trial."""
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        yield
        self.cpu_s.append(time.process_time() - cpu_s)
        self.wall_s.append(time.perf_counter() - wall_s)

    def __str__(self) -> str:
        """Medians and 95th percentiles."""
        figures = [
            f"{statistics.median(s) * 1e3:.0f} ({np.percentile(s, 95) * 1e3:.0f})"
            for s in (self.cpu_s, self.wall_s)
        ]
        return f"{figures[0]} ms of process time, {figures[1]} ms by the wall"


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Let the ladder make its own history, time what comes after, and TPE on the same history.

    On one thread: those of BLAS spin while they have nothing to do, and process time would count that as work.
    """
    with threadpool_limits(1):
        return _timed(folder, say)


def _timed(folder: Path, say: Say) -> tuple[Figure, ...]:
    say(f"{GROUPS} groups, {HISTORY} trials of history in a journal, {TIMED} more: median (95th percentile)")
    chain = draw_chain(GROUPS, _SEED)
    tried, timing = _ladder(chain, folder / "ladder.log")
    say(f"ladder, ask + proposal + tell: {timing}")
    say(f"tpe on the same trials, ask + 200 choices + tell: {_tpe(chain.costs, tried, folder / 'tpe.log')}")
    cpu_ms = np.array(timing.cpu_s) * 1e3
    return (
        Figure("ladder, a trial: median", float(np.median(cpu_ms)), "at most", MEDIAN_MS, " ms"),
        Figure(
            "ladder, a trial: 95th percentile", float(np.percentile(cpu_ms, 95)), "at most", PERCENTILE_MS, " ms"
        ),
        *(_solver(costs, say) for costs in (chain.costs, _dense(chain.costs))),
    )


def _ladder(chain: Chain, journal: Path) -> tuple[list[Tried], Timing]:
    """Its history and the times of the trials after it."""
    search = _study(chain.costs, journal)
    rng = np.random.default_rng(_SEED)
    ruinous = frozenset(rng.choice(GROUPS, HAZARDS, replace=False).tolist())
    tried: list[Tried] = []
    timing = Timing()
    for number in range(HISTORY + TIMED):
        one = Timing() if number < HISTORY else timing
        with one.of():
            proposal = search.ask()
            if not isinstance(proposal, Proposal):
                break
            trial = _outcome(chain, chain.costs.placed(proposal.choices), ruinous, number, rng)
            _tell(search, proposal, trial, chain.costs)
        tried.append(trial)
    return tried, timing


def _study(costs: CostModel, journal: Path) -> Search:
    groups = tuple(
        SiteGroup(site.name, (site.name,), None, ("MatMul",), ("float32", "float16")) for site in costs.sites
    )
    space = SiteSpace(groups, "float16", DynamicLossScaling(), "graph")
    known = Knowledge(costs, _NOISE, max_quality_lost=0.1, prior=Prior({}))
    advisor = SiteAdvisor("ladder", make_proposer("ladder", known, _SEED), space, known, _SEED)
    return Search.create(open_journal(journal), "", advisor, "minimize", ())


def _outcome(
    chain: Chain, choices: Choices, ruinous: frozenset[int], number: int, rng: np.random.Generator
) -> Tried:
    held = frozenset(site for site in ruinous if choices[site])
    if held:
        return Tried(choices, None, frozenset(sorted(held)[:1]) if number % 2 else frozenset())
    return chain.observe(choices, rng).tried


def _tell(search: Search, proposal: Proposal, trial: Tried, costs: CostModel) -> None:
    lost = trial.quality_lost
    if lost is None:
        search.tell_infeasible(proposal.number, "non-finite", [costs.sites[site].name for site in trial.blamed])
    else:
        search.tell(proposal.number, lost, costs.speedup(trial.choices), lost)


def _tpe(costs: CostModel, tried: list[Tried], journal: Path) -> Timing:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=open_journal(journal), directions=["minimize", "maximize"], sampler=make_sampler("tpe", _SEED)
    )
    allowed = {site.name: CategoricalDistribution(site.choices) for site in costs.sites}
    study.add_trials(
        create_trial(
            values=[trial.quality_lost or 0.0, costs.speedup(trial.choices)],
            params=costs.named(trial.choices),
            distributions=dict(allowed),
        )
        for trial in tried[:HISTORY]
    )
    timing = Timing()
    for _ in range(TPE_TIMED):
        with timing.of():
            trial = study.ask()
            for name, choices in allowed.items():
                trial.suggest_categorical(name, choices.choices)
            study.tell(trial, (0.0, 1.0))
    return timing


def _dense(chain: CostModel) -> CostModel:
    """The same sites with many more borders, whose casts take a tenth of what the lesser site gains."""
    rng = np.random.default_rng(_SEED)
    pairs = [(a, b) for a, b in combinations(range(len(chain.sites)), 2) if b > a + 1]
    chosen = [pairs[place] for place in rng.choice(len(pairs), _EXTRA_BORDERS, replace=False).tolist()]
    gains = [site.seconds[0] - site.seconds[1] for site in chain.sites]
    casts = [0.1 * min(gains[a], gains[b]) for a, b in chosen]
    extra = (Border(a, b, ((0.0, cast), (cast, 0.0))) for (a, b), cast in zip(chosen, casts, strict=True))
    return CostModel(chain.constant_s, chain.sites, (*chain.borders, *extra))


def _solver(costs: CostModel, say: Say) -> Figure:
    """The solutions of one proposal, under losses drawn as the chains' are."""
    features = Features(costs.sizes, costs.tables.ends.tolist())
    weights = np.random.default_rng(_SEED).lognormal(0, 1.5, features.all)
    weights[features.single :] = 0.1 * features.lesser(weights)
    chance = np.full(features.single, 1 / GROUPS)
    rungs = Rungs(costs, features)
    timing = Timing()
    for turn in range(SOLVED):
        with timing.of():
            rungs.candidates(weights, chance, features.most_lost(weights), turn)
    name = f"solver alone, {len(costs.borders)} borders"
    say(f"{name}: {timing}")
    return Figure(f"{name}: median", statistics.median(timing.cpu_s), "at most", SOLVER_S, " s")


def _spread(seconds: Sequence[float]) -> str:
    return f"{statistics.median(seconds) * 1e3:.0f} ({np.percentile(seconds, 95) * 1e3:.0f})"


BENCH = Bench(
    "search-time",
    f"what a proposal takes: {GROUPS} groups, {HISTORY} trials of history in a journal (50 ms, TPE beside it)",
    run,
)
