"""`halfwise widen`: the usual advice, as a recorded run: from a level, one list entry after the other."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict

from ...evaluators.evaluator import Evaluator
from ...evaluators.json_file import read_json, write_json
from ...evaluators.price import WhatIf
from ...evaluators.price.devices import Device
from ...evaluators.price.wants import PolicyWants
from ...evaluators.sensitivity.result import Sensitivity
from ...policies import BUILTIN, Policy, Precision, parse_policy, save_policy
from ...policies.errors import HalfwiseError, InputError
from ...search.noise import Noise
from ..advice import tolerance_of
from ..evaluator_of import evaluator_of, look
from ..experiment_file import Experiment
from ..float32_repeats import Float32Repeats, float32_repeats
from ..inspect_policy import float32_table
from ..progress import Display
from ..sensitivity_run import sensitivity_of
from .entries import Entry, entries_of, towards_float32, towards_low
from .widening import Step, Towards, Widening, last_that_holds

Level = Literal["O1", "O3"]


class Wish(BaseModel):
    """`widen.json`: what a run was asked for; the same command goes on with it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workload: str
    start: Level
    towards: Towards
    row: str
    seed: int = 1
    steps: int | None = None


@dataclass(frozen=True)
class Widened:
    """What a run came to; `best` is the last list that holds."""

    wish: Wish
    steps: tuple[Step, ...]
    allowed: float
    metric: str
    best: Step | None
    file: Path | None

    def lines(self) -> Iterator[str]:
        """For a terminal."""
        wish = self.wish
        allowed = f"at most {self.allowed:.2g} of {self.metric} may be lost"
        yield f"{wish.workload}: {wish.start} towards {wish.towards}, {allowed}"
        yield from map(str, self.steps)
        yield self.verdict
        if self.file is not None:
            yield f"Policy file: {self.file}"
            yield f"Next: {shlex.join(['halfwise', 'confirm', str(self.file), '--workload', wish.workload])}"

    @property
    def verdict(self) -> str:
        """What was found, in one sentence."""
        last = self.steps[-1]
        if self.best is None:
            return "None of these lists holds: search instead, which does not go one way only."
        if self.wish.towards == "float32":
            count = self.best.number
            more = "as it starts" if count == 0 else f"with {count} more in float32; fewer of them may do"
            return f"It holds {more}."
        if last.holds:
            return "Every entry may go low."
        return f"It breaks with {last.entry}; the list before it holds. What comes later was not tried."

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            **self.wish.model_dump(),
            "allowed": self.allowed,
            "metric": self.metric,
            "steps": [step.model_dump() for step in self.steps],
            "best": self.best and self.best.number,
            "verdict": self.verdict,
            "file": self.file and str(self.file),
        }


def widen(wish: Wish, device_row: Device, folder: Path, display: Display) -> Widened:
    """Repeat float32 for its noise, order the entries, and train list after list; all is kept in `folder`.

    Raises:
        InputError: the folder holds a run that was asked for something else, or a name is wrong.
        HalfwiseError: float32 does not train, or a process did not get to its end.
    """
    _refuse_other(wish, folder)
    experiment = Experiment(workload=wish.workload, seed=wish.seed, steps=wish.steps)
    facts, survey = look(experiment, Path.cwd(), display)
    if survey.partial is not None:
        raise InputError(f"{wish.workload} has no graph whose ops could be listed: {survey.partial}")
    evaluator = evaluator_of(experiment, Path.cwd(), survey, facts, device_row)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(wish, folder / "widen.json")
    display.note("training float32 with three seeds: its spread is the noise that differences must exceed")
    start = BUILTIN[wish.start]
    repeats = float32_repeats(evaluator, start.loss_scaling, start.mode, folder / "float32.json")
    order = _ordered(wish, start, evaluator, device_row, folder, display)
    widening = _widening(evaluator, repeats, start, experiment, folder)
    target: Precision = "float32" if wish.towards == "float32" else "float16"
    steps = tuple(widening.steps(start, order, target, display))
    pd.DataFrame([step.model_dump() for step in steps]).to_csv(folder / "steps.csv", index=False)
    best = last_that_holds(steps)
    return Widened(
        wish=wish,
        steps=steps,
        allowed=widening.allowed,
        metric=survey.metric,
        best=best,
        file=None if best is None else _save(best, wish, folder),
    )


def _refuse_other(wish: Wish, folder: Path) -> None:
    file = folder / "widen.json"
    if file.exists() and (kept := read_json(Wish, file)) != wish:
        differs = [name for name, value in wish.model_dump().items() if getattr(kept, name) != value]
        raise InputError(
            f"{folder} holds a run with another {', '.join(differs)} "
            f"({', '.join(f'{name} {getattr(kept, name)}' for name in differs)}): name another --folder"
        )


def _widening(
    evaluator: Evaluator, repeats: Float32Repeats, start: Policy, experiment: Experiment, folder: Path
) -> Widening:
    float32 = evaluator.evaluate(BUILTIN["O0"].replace(loss_scaling=start.loss_scaling), "O0", folder / "float32")
    if float32.quality is None:
        raise HalfwiseError(f"float32 does not train: {float32.cause}")
    # One training of each list: a difference to float32 that noise explains is none.
    noise = Noise(repeats.noise, len(repeats.qualities))
    allowed = max(tolerance_of(experiment, repeats) * abs(float32.quality), noise.margin)
    return Widening(
        evaluator=evaluator,
        float32=float32,
        float32_s=float32.priced and float32.priced.step_time_s,
        allowed=allowed,
        folder=folder,
    )


def _ordered(
    wish: Wish, start: Policy, evaluator: Evaluator, row: Device, folder: Path, display: Display
) -> list[Entry]:
    """The entries that are not yet what they are to become, in the order of the direction."""
    found = _sensitivity(wish, folder, display)
    survey = evaluator.survey
    table = float32_table(evaluator.workload, evaluator.search_path, start.loss_scaling)
    prices = WhatIf(table, row, survey.batch_size)
    wanted = PolicyWants(survey.outline, prices.flow)
    entries = entries_of(survey, found, start, "float16", lambda policy: prices.price(wanted.of(policy)))
    target: Precision = "float32" if wish.towards == "float32" else "float16"
    changing = [each for each in entries if wanted.of(each.applied(start, target)) != wanted.of(start)]
    return towards_float32(changing) if wish.towards == "float32" else towards_low(changing)


def _sensitivity(wish: Wish, folder: Path, display: Display) -> Sensitivity:
    file = folder / "sensitivity.json"
    if file.exists():
        return read_json(Sensitivity, file)
    display.note("looking at the values of one float32 run, and at each layer alone in low precision")
    found = sensitivity_of(wish.workload, wish.steps, wish.seed)
    write_json(found, file)
    return found


def _save(best: Step, wish: Wish, folder: Path) -> Path:
    policy = parse_policy(best.policy)
    file = folder / "policy.yaml"
    results = {
        "chosen_because": f"{wish.start} widened towards {wish.towards}: the last list that holds, with one seed",
        "quality": best.quality,
        "quality_lost": best.quality_lost,
        "priced_speedup": best.speedup,
        "priced_on": wish.row,
    }
    save_policy(policy.replace(results=results, made_for={"workload": wish.workload}), file)
    return file
