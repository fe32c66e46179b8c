"""Whole searches of the built-in workloads, trained for real: what is named, what stays float32, what it cost."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from halfwise.evaluators.price import load_devices, price_table
from halfwise.experiments.confirmation import confirmation_of
from halfwise.experiments.cost import cost_of
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.known_sites import KnownSites, history_of, known_sites
from halfwise.experiments.study_file import read_records
from halfwise.policies import load_policy
from halfwise.policies.errors import HalfwiseError
from halfwise.search.propose import CostModel, Tried
from halfwise.search.propose.additive_loss import Features
from halfwise.search.propose.targets import Targets

from ..bench import Bench, Figure, Say
from ..compiled import compile_step

SEEDS = range(1, 6)
# A GPU on which launches hide behind the work: the networks are small, and launches would be all.
ROW = "a100-tf32-no-launch"
SHARE = 0.95
GAIN = 0.001


@dataclass(frozen=True)
class Case:
    """A workload, the sites that ruin its training in float16, and after how many trials a search must be there.

    A search without the built-in levels: its trials are float32 and `within` proposals.
    """

    workload: str
    hazards: tuple[str, ...]
    within: int
    settings: Mapping[str, object] = field(default_factory=dict[str, object])


CASES = (
    # Its float32 runs differ by 0.8% from seed to seed.
    Case("text-transformer", ("blocks.0.attention::Mul", "blocks.1.attention::Mul"), 12, {"tolerance": 0.01}),
    Case("tabular-mlp", ("features::Mul",), 12),
    Case("digits-resnet", (), 8),
)


@dataclass(frozen=True)
class Found:
    """What one search came to.

    `reached` is the proposal, counted from 1, that first trained within the tolerance at almost the best speed-up;
    infinite if none did. `share` is the chosen policy's speed-up over the best one. `needless` are sites that the
    chosen policy keeps in float32, the best one does not, and that each gain `GAIN` by going low, by the cost
    model and by the price of the compiled step. `named`: a hazard was blamed, and nothing else.
    """

    reached: float
    share: float
    needless: tuple[str, ...]
    named: bool
    confirmed: bool
    full_runs: float


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Search each workload with five seeds, without the built-in levels, and judge what was found."""
    return tuple(figure for case in CASES for figure in _judge(case, folder, say))


def _judge(case: Case, folder: Path, say: Say) -> tuple[Figure, ...]:
    found = [_search(case, seed, folder, say) for seed in SEEDS]
    name = case.workload
    figures = (
        Figure(
            f"{name}: trials to {SHARE:.0%}, worst seed", max(f.reached for f in found), "at most", case.within, ""
        ),
        Figure(f"{name}: chosen of best, worst seed", 100 * min(f.share for f in found), "at least", 95, "%"),
        Figure(
            f"{name}: seeds whose choice was confirmed",
            sum(f.confirmed for f in found),
            "at least",
            len(found),
            "",
        ),
        Figure(
            f"{name}: full trainings a search cost, worst seed", max(f.full_runs for f in found), "at most", 2, ""
        ),
    )
    if not case.hazards:
        return figures
    return (
        *figures,
        Figure(
            f"{name}: seeds that name the hazards alone", sum(f.named for f in found), "at least", len(found), ""
        ),
        Figure(f"{name}: sites kept float32 for nothing", max(len(f.needless) for f in found), "at most", 0, ""),
    )


def _search(case: Case, seed: int, folder: Path, say: Say) -> Found:
    study = Home(folder).study_folder(f"{case.workload}-{seed}")
    _launch(case, seed, study, folder)
    known = known_sites(study)
    best = _best(known.costs, case.hazards)
    tried = [trial for _, trial in sorted(history_of(study, known).items())]
    chosen = _chosen(study, known)
    found = Found(
        reached=_reached(known, tried, best),
        share=known.costs.speedup(chosen) / known.costs.speedup(best),
        needless=_needless(case.workload, known, chosen, best, folder / f"{study.name}-compiled"),
        named=set() < _blamed(known.costs, tried) <= set(case.hazards),
        confirmed=_confirmed(study),
        full_runs=cost_of(study).full_runs or float("nan"),
    )
    say(f"{case.workload}, seed {seed}, best {known.costs.speedup(best):.3f}x: {found}")
    return found


def _launch(case: Case, seed: int, study: StudyFolder, folder: Path) -> None:
    """Run the command that a user would; the experiment file is JSON, which is YAML."""
    experiment = {
        "schema": "halfwise/experiment/1",
        "workload": case.workload,
        "speed": {"priced": ROW},
        "levels": False,
        "trials": case.within + 1,
        "seed": seed,
        **case.settings,
    }
    file = folder / f"{study.name}.yaml"
    file.write_text(json.dumps(experiment), encoding="utf-8")
    program = Path(sys.executable).with_name("halfwise")
    command = [program, "search", file, "--home", folder, "--no-mlflow", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HalfwiseError(f"{study.name} ended with exit code {done.returncode}:\n{done.stderr[-2000:]}")


def _best(costs: CostModel, hazards: Sequence[str]) -> tuple[int, ...]:
    """The fastest policy that keeps the hazards float32; everything else is known to train."""
    sites = {site.name: place for place, site in enumerate(costs.sites)}
    banned = [(sites[name], choice) for name in hazards for choice in range(1, costs.sizes[sites[name]])]
    pairs = [(border.first, border.second) for border in costs.borders]
    best = Targets(costs, Features(costs.sizes, pairs)).fastest(banned)
    if best is None:
        raise HalfwiseError("no policy keeps the hazards float32")
    return best


def _needless(
    workload: str, known: KnownSites, chosen: tuple[int, ...], best: tuple[int, ...], folder: Path
) -> tuple[str, ...]:
    costs = known.costs
    kept = [place for place, (c, b) in enumerate(zip(chosen, best, strict=True)) if c == 0 and b > 0]
    lowered = {place: (*chosen[:place], best[place], *chosen[place + 1 :]) for place in kept}
    enough = (1 + GAIN) * costs.speedup(chosen)
    suspects = [place for place in kept if costs.speedup(lowered[place]) >= enough]
    if not suspects:
        return ()
    allowed_s = _compiled_s(workload, known, chosen, folder / "chosen") / (1 + GAIN)
    times_s = {place: _compiled_s(workload, known, lowered[place], folder / str(place)) for place in suspects}
    return tuple(costs.sites[place].name for place, time_s in times_s.items() if time_s <= allowed_s)


def _compiled_s(workload: str, known: KnownSites, choices: tuple[int, ...], folder: Path) -> float:
    """The priced step time of a policy as MindSpore compiles it: what the search compares trials by."""
    policy = known.space.policy(known.costs.named(choices))
    return price_table(compile_step(folder, workload, policy).table, load_devices()[known.row]).step_time_s


def _chosen(study: StudyFolder, known: KnownSites) -> tuple[int, ...]:
    """The choices of the best policy; float32's if that stays."""
    digest = load_policy(study.best_policy).digest
    numbers = [record.number for record in read_records(study) if record.policy.digest == digest]
    history = history_of(study, known)
    return next((history[number].choices for number in numbers if number in history), known.costs.float32)


def _reached(known: KnownSites, tried: Sequence[Tried], best: tuple[int, ...]) -> float:
    enough = SHARE * known.costs.speedup(best)
    good = [known.allows(trial) and known.costs.speedup(trial.choices) >= enough for trial in tried]
    return good.index(True) + 1 if any(good) else np.inf


def _blamed(costs: CostModel, tried: Sequence[Tried]) -> set[str]:
    return {costs.sites[site].name for trial in tried for site in trial.blamed}


def _confirmed(study: StudyFolder) -> bool:
    digest = load_policy(study.best_policy).digest
    records = [record for record in read_records(study) if record.policy.digest == digest]
    return any((found := confirmation_of(record)) is not None and found.holds for record in records)


BENCH = Bench(
    "search-workloads",
    "the built-in workloads searched with five seeds each: trials needed, hazards named, what a search cost",
    run,
)
