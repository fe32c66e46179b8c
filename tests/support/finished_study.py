"""A study's folder with trials in it whose outcomes are made up, and an evaluator for more."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import Evaluator
from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.outcome import Outcome, PricedStep
from halfwise.evaluators.price.device_file import load_devices
from halfwise.evaluators.process import Limits
from halfwise.experiments.confirmation import CONFIRMATION_FILE, Confirmation
from halfwise.experiments.float32_repeats import Float32Repeats
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.records import StudyInfo, TrialRecord
from halfwise.policies import BUILTIN, Policy, load_policy, save_policy

ROW = "a100-tf32-no-launch"
SUPPORT = Path(__file__).parent


def study_info(folder: StudyFolder, **changes: Any) -> StudyInfo:
    """A study that compares by price, with a tolerance of 1%."""
    fields: dict[str, Any] = {
        "name": "s",
        "workload": "w",
        "command": "halfwise search s.yaml",
        "folder": folder.path,
        "device": "CPU",
        "versions": {},
        "metric": "accuracy",
        "direction": "maximize",
        "tolerance": 0.01,
        "sampler": "random",
        "seed": 1,
        "trials_planned": 5,
        "speed_label": f"priced on {ROW}, not measured",
        "priced_for": ROW,
    }
    return StudyInfo(**fields | changes)


def priced(speed: float) -> PricedStep:
    """A step at this many samples per second, one a step."""
    return PricedStep(
        device=ROW,
        step_time_s=1 / speed,
        throughput_samples_per_s=speed,
        casts=0,
        cast_share=0.0,
        memory_bytes=1,
    )


def add_trial(folder: StudyFolder, number: int, level: str, speed: float, quality: float, **changes: Any) -> None:
    """A trial of a built-in level, or of a policy by its text, that trained for 20 steps with seed 1."""
    policy = BUILTIN[level] if level in BUILTIN else Policy.model_validate({"default": level})
    fields: dict[str, Any] = {
        "policy": str(policy),
        "policy_name": level if level in BUILTIN else None,
        "digest": policy.digest,
        "seed": 1,
        "device": "CPU",
        "mindspore_version": "2.10.0",
        "status": "trained",
        "metric": "accuracy",
        "direction": "maximize",
        "quality": quality,
        "quality_by_steps": {20: quality},
        "losses": tuple(1.0 / (step + 1) for step in range(20)),
        "updates_applied": 20,
        "priced": priced(speed),
    }
    place = folder.trial_folder(number)
    place.mkdir(parents=True)
    write_json(Outcome(**fields | changes), place / "outcome.json")
    save_policy(policy, place / "policy.yaml")


def add_repeats(folder: StudyFolder, *qualities: float) -> None:
    """Float32's quality with seeds 1, 2, 3 and so on."""
    write_json(Float32Repeats(qualities=dict(enumerate(qualities, start=1))), folder.float32_file)


def add_confirmation(record: TrialRecord, *lost: float | None, allowed: float = 0.01) -> None:
    """What the trial's policy lost with seeds 2, 3, 4 and so on, in 40 steps each; None: it did not train."""
    by_seed = dict(enumerate(lost, start=2))
    causes = {seed: "non-finite at step 31" for seed, each in by_seed.items() if each is None}
    found = Confirmation(steps=40, quality_lost=by_seed, allowed=allowed, causes=causes, steps_trained=120)
    write_json(found, record.folder / CONFIRMATION_FILE)


def lost_in_policy_file(folder: StudyFolder) -> dict[str, Any]:
    """What the best policy's file says of the quality that it lost."""
    lost = load_policy(folder.best_policy).results["quality_lost"]
    assert isinstance(lost, Mapping)
    return dict(lost)


def evaluator_for(workload: str, direction: Any = "maximize", full_steps: int = 3000) -> Evaluator:
    """Trains a workload of tests/support for 20 steps a trial, priced."""
    survey = make_survey(direction=direction, full_steps=full_steps)
    return Evaluator(
        workload=workload,
        search_path=SUPPORT,
        survey=survey,
        device=DeviceFacts("CPU", ("float16",), {}, reference_convolution=False),
        seed=1,
        steps=20,
        limits=Limits(time_s=120, memory_bytes=4 << 30),
        price_for=load_devices()[ROW],
    )
