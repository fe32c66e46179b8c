"""Policies that a search did not ask for: answered from its beliefs and prices, nothing is trained."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np

from ..evaluators.price.device_file import load_devices
from ..evaluators.price.devices import find_device
from ..policies import Policy
from ..policies.errors import InputError
from ..search.propose import Tried
from ..search.propose.bound import shown_to_fail
from ..search.propose.cost_model import Choices
from ..search.propose.targets import Targets
from .answers import Answer, answers_of
from .home import StudyFolder
from .known_sites import failed_of, history_of, known_sites
from .op_table_file import load_op_tables
from .records import TrialRecord
from .site_prices import SitePrices, site_prices
from .study_file import read_records

# The cost model is not exact far from the policy with everything low: a speed that the what-if price does not
# confirm is asked for again, by as much more as was missing, so many times.
_ROUNDS = 20
# Less than this above float32's speed is none to speak of.
_FASTER = 1.001


@dataclass(frozen=True)
class Target:
    """What is asked for: so many times float32's priced speed at least, such a share of its quality lost at most.

    Without either, the loss is what the study allowed.
    """

    min_speedup: float | None = None
    max_drop: float | None = None


@dataclass(frozen=True)
class Prediction:
    """A policy with what the study expects of it; `speedup` is priced on `row`, losses are in the metric's unit.

    `quality_lost` is what it is expected to lose if it trains, `spread` the standard deviation of that,
    `share_lost` the loss over float32's quality, and `chance` that it trains. `trained` is the trial that has
    tried it already, `answer` what came of it when it was asked for and trained before.
    """

    policy: Policy
    choices: Choices
    row: str
    speedup: float
    quality_lost: float
    spread: float
    share_lost: float
    chance: float
    trained: TrialRecord | None = None
    answer: Answer | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """For the policy's file: nothing of it was measured, and it says so."""
        return {
            "is": "predicted, not trained",
            "quality_lost_expected": self.quality_lost,
            "quality_lost_spread": self.spread,
            "chance_to_train": self.chance,
            **self.priced_fields,
        }

    @property
    def priced_fields(self) -> dict[str, Any]:
        """The part that training would not change."""
        return {"speedup_over_float32": self.speedup, "speed_is": f"priced on {self.row}, not measured"}


class Predictor:
    """Answers for one study, on the device that it priced for or on another row of the device table."""

    def __init__(self, folder: StudyFolder, row: str | None = None) -> None:
        """Reads what the study knows; `row` None is the study's own.

        Raises:
            InputError: it was no search over sites, or there is no such row.
            HalfwiseError: its files cannot be read.
        """
        self.known = known_sites(folder)
        self.row = row or self.known.row
        self._prices = self._priced(folder)
        tried = history_of(folder, self.known)
        self._answers = {answer.tried(self.known.costs): answer for answer in answers_of(folder)}
        self._beliefs = self.known.beliefs([*tried.values(), *self._answers])
        self._failed = failed_of(folder, self.known, tried)
        self._failed += [trial for trial, answer in self._answers.items() if not answer.confirmation.holds]
        self._records = {record.policy.digest: record for record in reversed(read_records(folder))}

    def predict(self, target: Target) -> Prediction:
        """The policy of least expected harm at a speed; with a loss alone the fastest that is expected to keep it.

        A policy that was shown to fail is no answer.

        Raises:
            InputError: no policy reaches the target; the message names the nearest that one does.
        """
        while True:
            found = self._described(self._solve(target))
            record = self._records.get(found.policy.digest)
            if record is None or record.outcome.status != "infeasible":
                return found
            # It was tried under a name, so the search over sites did not see it fail.
            self._failed.append(Tried(found.choices, None))

    def _solve(self, target: Target) -> Choices:
        if target.min_speedup is not None:
            return self._at_speed(target.min_speedup, target.max_drop)
        share = self._share(self.known.max_quality_lost) if target.max_drop is None else target.max_drop
        found = self._targets.least_time(self._beliefs.expected, self._lost(share))
        if found is None or self._speedup(found) < _FASTER:
            raise InputError(self._too_good(share))
        return found

    def _at_speed(self, min_speedup: float, max_drop: float | None) -> Choices:
        most_lost = None if max_drop is None else self._lost(max_drop)
        asked = min_speedup
        for _ in range(_ROUNDS):
            found = self._targets.least_harm(self._beliefs.expected, self._float32_s / asked, most_lost)
            if found is None:
                break
            missing = min_speedup / self._speedup(found)
            if missing <= 1 + 1e-9:
                return found
            asked *= missing
        raise InputError(self._too_fast(min_speedup, max_drop))

    def _too_fast(self, min_speedup: float, max_drop: float | None) -> str:
        """What is nearest to a speed that no policy reaches, or none within the drop."""
        fastest = self._targets.fastest()
        most = 1.0 if fastest is None else self._speedup(fastest)
        if most < _FASTER:
            return self._nothing_faster
        asked = f"no policy not shown to fail is priced {min_speedup:g} times as fast as float32 on {self.row}"
        if max_drop is None or most < min_speedup:
            return f"{asked}: the fastest is {most:.4g} times as fast; ask for --min-speedup {_down(most)} or less"
        within = self._targets.least_time(self._beliefs.expected, self._lost(max_drop))
        reached = 1.0 if within is None else max(self._speedup(within), 1.0)
        least = self._described(self._at_speed(min_speedup, None)).share_lost
        return (
            f"{asked} and expected to lose at most {percent(max_drop)} of its quality: at that speed the least is "
            f"{percent(least)} (--max-quality-drop {_up(least)}%), at that loss the fastest is {reached:.4g} "
            f"times as fast (--min-speedup {_down(reached)})"
        )

    def _too_good(self, share: float) -> str:
        """What is nearest to a loss that no policy keeps to that is faster than float32."""
        nearest = self._targets.least_harm(self._beliefs.expected, self._float32_s / _FASTER)
        if nearest is None:
            return self._nothing_faster
        found = self._described(nearest)
        return (
            f"no policy that is priced faster than float32 on {self.row} is expected to train and lose at most "
            f"{percent(share)} of its quality: the one of least harm is {found.speedup:.4g} times as fast, is "
            f"expected to lose {percent(found.share_lost)} and to train with a chance of "
            f"{chance_words(found.chance)}; ask for --min-speedup {_down(found.speedup)} to have it"
        )

    @property
    def _nothing_faster(self) -> str:
        return f"no policy not shown to fail is priced faster than float32 on {self.row}"

    def _described(self, choices: Choices) -> Prediction:
        row = np.array([choices], dtype=np.int64)
        policy = self.known.space.policy(self.known.costs.named(choices))
        record = self._records.get(policy.digest)
        answers = (answer for trial, answer in self._answers.items() if trial.choices == choices)
        lost = float(self._beliefs.quality_lost(row)[0])
        return Prediction(
            policy=policy,
            choices=choices,
            row=self.row,
            speedup=self._speedup(choices),
            quality_lost=lost,
            spread=float(self._beliefs.spread(row)[0]),
            share_lost=self._share(lost),
            chance=float(self._beliefs.trains(row)[0]),
            trained=record if record is not None and record.outcome.status == "trained" else None,
            answer=next(answers, None),
        )

    @property
    def _targets(self) -> Targets:
        return Targets(self._prices.costs, self._beliefs.features, shown_to_fail(self._failed))

    @cached_property
    def _float32_s(self) -> float:
        return self._prices.step_time_s(self._prices.costs.float32)

    def _speedup(self, choices: Choices) -> float:
        return self._float32_s / self._prices.step_time_s(choices)

    def _lost(self, share: float) -> float:
        return share * abs(self.known.float32_quality)

    def _share(self, lost: float) -> float:
        return lost / max(abs(self.known.float32_quality), 1e-12)

    def _priced(self, folder: StudyFolder) -> SitePrices:
        known, device = self.known, find_device(self.row, load_devices())
        tables = load_op_tables(folder.float32_ops_file)
        costs = known.costs if self.row == known.row else None
        return site_prices(known.space, known.survey, tables, device, costs)


def percent(share: float) -> str:
    """Such as "0.25%" for 0.0025."""
    return f"{share * 100:.3g}%"


def chance_words(chance: float) -> str:
    """Such as "93%"; no belief is a certainty, so none is called 100% or 0%."""
    return "over 99%" if chance > 0.99 else "below 1%" if chance < 0.01 else f"{chance:.0%}"


def _down(figure: float) -> str:
    """To hundredths, so that asking for it works."""
    return f"{floor(figure * 100) / 100:g}"


def _up(share: float) -> str:
    """In percent, to hundredths, so that asking for it works."""
    return f"{ceil(share * 1e4) / 100:g}"
