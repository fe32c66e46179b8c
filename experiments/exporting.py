"""Policy files of a study: one of its trials, or an answer that it gives without a trial, trained on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import read_json
from ..evaluators.price.device_file import load_devices
from ..evaluators.price.devices import find_device
from ..policies import Policy
from ..policies.errors import HalfwiseError
from ..search.choice import Rule
from ..search.front import Point
from .answers import Answer, keep_answer
from .conclusion import annotated, lost_fields
from .confirmation import held_against
from .evaluator_of import evaluator_of, look
from .home import StudyFolder
from .kept_experiment import kept_experiment
from .known_sites import known_sites
from .lessons import blamed_sites
from .long_float32 import confirmation_steps, long_float32
from .paired import points_of
from .prediction import Prediction, Predictor, Target, chance_words, percent
from .progress import Display
from .reasons import reasons_of
from .records import StudyInfo, TrialRecord
from .study_file import BASELINE, StudyFile, criteria_of, read_records


@dataclass(frozen=True)
class Export:
    """A policy for a file, and what is to be said of it, in lines."""

    policy: Policy
    lines: Sequence[str]


def export_trial(folder: StudyFolder, rule: Rule) -> Export:
    """The policy of the trial that the rule chooses.

    Raises:
        HalfwiseError: it chooses none.
    """
    study = _Study(folder)
    choice = rule.choose(study.points, criteria_of(study.info, study.points, study.records))
    return Export(study.annotated(choice.point.number, choice.reason), (choice.reason,))


def export_answer(folder: StudyFolder, target: Target, row: str | None) -> Export:
    """The policy that reaches the target, as far as the study knows; nothing is trained.

    `row` is the device that speed is priced on, None for the study's own.

    Raises:
        InputError: no policy reaches it; or the study was no search over sites.
    """
    return _Study(folder).exported(Predictor(folder, row).predict(target))


def export_confirmed(folder: StudyFolder, target: Target, row: str | None, display: Display) -> Export:
    """The same, trained with fresh seeds and held against float32 with the same ones; both are kept in the study.

    Raises:
        InputError: as `export_answer`.
        HalfwiseError: the policy loses too much, or does not train: the study's next answer is another one.
    """
    found, study = Predictor(folder, row).predict(target), _Study(folder)
    if study.has_confirmed(found):
        return study.exported(found)
    with folder.locked():
        answer = found.answer or study.trained_answer(found, target, display)
    if not answer.confirmation.holds:
        raise HalfwiseError(
            f"what the study predicted does not hold: it {answer.confirmation}; nothing was written. The study "
            "has learnt from it: ask again for its next answer"
        )
    return _Study(folder).exported(replace(found, answer=answer))


class _Study:
    """A study's trials, and what is written into the policies that are taken from it."""

    def __init__(self, folder: StudyFolder) -> None:
        self.folder = folder
        self.info: StudyInfo = read_json(StudyFile, folder.study_file).info
        self.records = read_records(folder)
        self.points = points_of(self.records, self.info, folder)

    def annotated(self, number: int, reason: str) -> Policy:
        """A trial's policy with its figures."""
        record, point = next(pair for pair in self._pairs if pair[0].number == number)
        return annotated(self.info, record, point, reason, reasons_of(record.policy, self.folder, self.records))

    def has_confirmed(self, found: Prediction) -> bool:
        """Whether the policy is a trial that was trained with fresh seeds already."""
        trial = found.trained
        return trial is not None and any(p.number == trial.number and p.confirmed for p in self.points)

    def exported(self, found: Prediction) -> Export:
        """The policy with what is known of it: measured as an answer, measured as a trial, or predicted."""
        if found.answer is not None:
            return self._answered(found, found.answer)
        if found.trained is not None:
            return self._tried(found, found.trained)
        lines = [
            "predicted, not trained",
            *_priced_lines(found),
            f"  expected to lose {found.quality_lost:.2g} of {self.info.metric} (standard deviation "
            f"{found.spread:.2g}), {percent(found.share_lost)} of float32's",
            f"  chance to train: {chance_words(found.chance)}",
            "  the same command with --confirm trains it and replaces this by measured figures",
        ]
        return Export(self._written(found, found.fields, None), lines)

    def trained_answer(self, found: Prediction, target: Target, display: Display) -> Answer:
        """Train the policy as confirmations are, and keep what came of it."""
        evaluator = self._evaluator(found.row, display)
        steps = confirmation_steps(evaluator, self.records)
        display.note(f"training the policy and float32 with fresh seeds, {steps} steps each")
        float32 = next(record for record in self.records if record.name == BASELINE)
        against = long_float32(evaluator, float32.policy, self.folder, steps)
        tolerance = self.info.tolerance if target.max_drop is None else target.max_drop
        place = self.folder.path / "answers" / found.policy.digest
        confirmation, outcome = held_against(found.policy, place, evaluator, against, tolerance)
        sites = known_sites(self.folder)
        choices = sites.costs.named(found.choices)
        low = [site for site, choice in choices.items() if choice != "float32"]
        answer = Answer(
            choices=choices,
            blamed=blamed_sites(sites.space, outcome.blamed_place, low),
            asked_hash=outcome.evidence and outcome.evidence.asked_hash,
            confirmation=confirmation,
        )
        keep_answer(answer, self.folder, found.policy.digest)
        return answer

    def _tried(self, found: Prediction, record: TrialRecord) -> Export:
        point = next(point for point in self.points if point.number == record.number)
        figures = criteria_of(self.info, self.points, self.records).figures(point)
        policy = self.annotated(record.number, f"{point.label} was trained already: {figures}")
        if found.row != self.info.priced_for:
            policy = policy.replace(results={**policy.results, "priced_elsewhere": found.priced_fields})
        confirmed = "confirmed with fresh seeds" if point.confirmed else "not confirmed with fresh seeds"
        lines = [f"trained already, as {point.label}: {figures} ({confirmed})", *_priced_lines(found)]
        return Export(policy, lines)

    def _answered(self, found: Prediction, answer: Answer) -> Export:
        confirmation = answer.confirmation
        measured = {
            "metric": self.info.metric,
            "quality_lost": confirmation.lost and lost_fields(confirmation.lost),
            "steps": confirmation.steps,
            **found.priced_fields,
        }
        policy = self._written(found, measured, answer.asked_hash)
        return Export(policy, [f"trained: {confirmation}", *_priced_lines(found)])

    def _written(self, found: Prediction, figures: Mapping[str, Any], asked_hash: str | None) -> Policy:
        return found.policy.replace(
            results={"study": self.info.name, **figures},
            made_for={
                "workload": self.info.workload,
                "device": self.info.device,
                "versions": dict(self.info.versions),
            },
            asked_hash=asked_hash,
            reasons=reasons_of(found.policy, self.folder, self.records),
        )

    def _evaluator(self, row: str, display: Display) -> Evaluator:
        kept = kept_experiment(self.folder)
        device, survey = look(kept.experiment, kept.search_path, display)
        priced_for = find_device(row, load_devices())
        return evaluator_of(kept.experiment, kept.search_path, survey, device, priced_for)

    @property
    def _pairs(self) -> list[tuple[TrialRecord, Point]]:
        return list(zip(self.records, self.points, strict=True))


def _priced_lines(found: Prediction) -> list[str]:
    return [f"  {found.speedup:.2f}x as fast as float32, priced on {found.row}, not measured"]
