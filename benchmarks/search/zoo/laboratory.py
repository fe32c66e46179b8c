"""Trains zoo networks by halfwise's own runner: first what a search finds out, then policy by policy."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.price import price_table
from halfwise.evaluators.process import Limits
from halfwise.evaluators.sensitivity.measure import measure_sensitivity
from halfwise.evaluators.sensitivity.result import GroupPaths, SensitivityRequest
from halfwise.evaluators.survey_result import Survey
from halfwise.experiments.confirmation import quality_lost
from halfwise.experiments.float32_repeats import float32_repeats
from halfwise.experiments.inspect_policy import float32_table
from halfwise.experiments.lessons import blamed_sites
from halfwise.experiments.site_costs import expand, price_of
from halfwise.policies import OP_CLASSES, DynamicLossScaling
from halfwise.policies.errors import HalfwiseError
from halfwise.search.propose.cost_model import Choices, CostModel
from halfwise.search.site_space import SiteGroup, SiteSpace

from .lengths import BATCH_SIZE, FULL_STEPS, TRIAL_STEPS
from .outcomes import LOW, Network, Trained
from .plan import Plan
from .prices import ZooPrices, outline_of, zoo_device
from .references import ROOT, reference_of

_SEED = 1
_SCALING = DynamicLossScaling()
_LIMITS = Limits(time_s=900, memory_bytes=8 << 30)


@dataclass(frozen=True)
class Laboratory:
    """One planned network on the CPU: its groups are the sites, float16 is their low precision."""

    plan: Plan
    device: DeviceFacts

    def look(self) -> Network:
        """What is known before the first trial.

        Raises:
            HalfwiseError: the network cannot be compiled, or does not learn in float32.
        """
        with _scratch() as folder:
            table = float32_table(reference_of(self.plan), ROOT, _SCALING)
            ops = tuple(_ops(table, path) for path in self.plan.truth.groups)
            space = sites_of_groups(self.plan, ops)
            costs = expand(space, *price_of(space, outline_of(self.plan), table, zoo_device(), BATCH_SIZE))
            sensitivity = measure_sensitivity(self._sensitivity(space, folder / "sensitivity"), _LIMITS)
            chances = sensitivity.chances([LOW])
            return Network(
                name=self.plan.name,
                ops=ops,
                costs=costs,
                float32_step_time_s=price_table(table, zoo_device()).step_time_s,
                chances=tuple(chances[group.name, LOW] for group in space.groups),
                sensitivity_steps=sensitivity.steps_run,
                repeats=float32_repeats(self.evaluator(), _SCALING, "graph", folder / "float32.json"),
                best=_best(costs, ZooPrices(self.plan, table, BATCH_SIZE)),
            )

    def train(self, network: Network, choices: Choices) -> Trained:
        """Train a policy; one that goes non-finite is diagnosed.

        Raises:
            HalfwiseError: the trial did not run to its end.
        """
        space = sites_of_groups(self.plan, network.ops)
        named = network.costs.named(choices)
        with _scratch() as folder:
            outcome = self.evaluator().evaluate(space.policy(named), None, folder)
        if outcome.status == "failed" or outcome.priced is None:
            raise HalfwiseError(f"a trial of {self.plan.name} did not run to its end: {outcome.message}")
        low = {name for name, precision in named.items() if precision == LOW}
        blamed = blamed_sites(space, outcome.first_non_finite, low)
        return Trained(
            choices=choices,
            speedup=network.float32_step_time_s / outcome.priced.step_time_s,
            quality_lost=quality_lost(outcome.quality, network.float32, outcome.direction),
            cause=outcome.cause,
            blamed=tuple(place for place, group in enumerate(space.groups) if group.name in blamed),
            diagnosis_steps=0 if outcome.first_non_finite is None else 1,
        )

    def evaluator(self) -> Evaluator:
        """Trains the network's policies with the first seed, and prices them."""
        survey = Survey(
            workload=self.plan.name,
            metric="explained",
            direction="maximize",
            batch_size=BATCH_SIZE,
            trial_steps=TRIAL_STEPS,
            full_steps=FULL_STEPS,
            parameters=0,
            mindspore_version=version("mindspore"),
            cells=(),
        )
        return Evaluator(
            workload=reference_of(self.plan),
            search_path=ROOT,
            survey=survey,
            device=self.device,
            seed=_SEED,
            steps=TRIAL_STEPS,
            limits=_LIMITS,
            price_for=zoo_device(),
        )

    def _sensitivity(self, space: SiteSpace, folder: Path) -> SensitivityRequest:
        return SensitivityRequest(
            workload=reference_of(self.plan),
            search_path=ROOT,
            target=self.device.target,
            folder=folder,
            seed=_SEED,
            steps=TRIAL_STEPS,
            groups=tuple(GroupPaths(name=group.name, paths=group.paths) for group in space.groups),
            precisions=(LOW,),
        )


def sites_of_groups(plan: Plan, ops: Sequence[tuple[str, ...]]) -> SiteSpace:
    """Every group as a whole, float32 or float16: that is what hazards are counted by; `ops` are each group's."""
    groups = (
        SiteGroup(path, (path,), None, own, ("float32", LOW))
        for path, own in zip(plan.truth.groups, ops, strict=True)
    )
    return SiteSpace(tuple(groups), LOW, _SCALING, "graph")


def _ops(table: pd.DataFrame, path: str) -> tuple[str, ...]:
    """The ops of a group whose precision a policy decides."""
    own = table[(table["direction"] == "forward") & (table["layer"] == path) & table["graph_op"].isin(OP_CLASSES)]
    return tuple(sorted(set(own["op"][own["compute_precision"].notna()])))


def _best(costs: CostModel, prices: ZooPrices) -> Choices:
    low = prices.best_trainable.low
    return costs.placed({site.name: LOW if site.name in low else "float32" for site in costs.sites})


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="halfwise-zoo-") as folder:
        yield Path(folder)
