"""A finished study of any size: outcomes are made up, seeded, and of every kind; its files are a search's own."""

import gzip
import io
import random
from pathlib import Path

import pandas as pd
from finished_study import priced, study_info
from price_tables import make_row
from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.op_columns import COLUMNS
from halfwise.evaluators.outcome import Evidence, Outcome, Place
from halfwise.evaluators.request import OPS_FILE
from halfwise.evaluators.sensitivity.result import Sensitivity
from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.conclusion import conclude
from halfwise.experiments.float32_repeats import Float32Repeats
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.looked_at import keep_look
from halfwise.experiments.study_file import StudyFile, read_records
from halfwise.policies import BUILTIN, Policy, save_policy
from halfwise.policies.rules import AloneEffect, GroupStatistics

HOSTILE = "<script>alert(1)</script>"
_LEVELS = ("O0", "O1", "O2", "O3")
_OPS_OF = ("float16", "float32")


def make_large_study(home: Path, trials: int, layers: int, seed: int = 1) -> StudyFolder:
    """The study `large` with so many trials over so many layers, one of which has a hostile name; concluded.

    The levels come first. One trial in five does not train, one in twenty did not run to its end; all others have
    left an op table, of a cast and a product a layer.
    """
    draw = random.Random(seed)
    folder = Home(home).study_folder("large")
    info = study_info(
        folder, name="large", workload="large", trials_planned=trials, versions={"mindspore": "2.10.0"}
    )
    folder.path.mkdir(parents=True)
    write_json(StudyFile(info=info), folder.study_file)
    names = [HOSTILE, *(f"blocks.{number}.dense" for number in range(1, layers))]
    _keep_network(names, folder)
    ops = {precision: [_ops(place, name, precision) for place, name in enumerate(names)] for precision in _OPS_OF}
    for number in range(trials):
        level = _LEVELS[number] if number < len(_LEVELS) else None
        policy = BUILTIN[level] if level else _drawn_policy(names, draw)
        fate = _add(folder, number, level, policy, draw)
        if fate != "failed":
            kept = {name for name in names if policy.layers.get(name, policy.default) == "float32"}
            lines = [ops["float32" if name in kept else "float16"][place] for place, name in enumerate(names)]
            text = ",".join(COLUMNS) + "\n" + "".join(lines)
            (folder.trial_folder(number) / OPS_FILE).write_bytes(gzip.compress(text.encode(), compresslevel=1))
    write_json(Float32Repeats(qualities={1: 0.9, 2: 0.905, 3: 0.9}), folder.float32_file)
    conclude(info, folder, read_records(folder))
    return folder


def _keep_network(names: list[str], folder: StudyFolder) -> None:
    """The network's layers, and what each did alone in float16: every tenth goes non-finite."""
    cells = [SurveyedCell(path=name, aliases=(), type_names=("Dense",), ops=("MatMul",)) for name in names]
    device = DeviceFacts("CPU", ("float16",), {}, reference_convolution=False)
    keep_look(device, make_survey(*cells), folder)
    alone = [AloneEffect(precision="float16", finite=place % 10 > 0, loss_scale=1) for place in range(len(names))]
    found = Sensitivity(
        workload="large",
        device="CPU",
        seed=1,
        collected_steps=(0,),
        loss_scale=1,
        groups=tuple(
            GroupStatistics(name=name, covers=(name,), ops=(), alone=(effect,))
            for name, effect in zip(names, alone, strict=True)
        ),
        parts=(),
        steps_run=1,
        float32_time_s=1,
        alone_time_s=1,
    )
    write_json(found, folder.sensitivity_file)


def _ops(place: int, layer: str, precision: str) -> str:
    """The layer's lines of an op table: a product, and in float16 the cast before it."""
    shape, ids = (64, 64), (2 * place, 2 * place + 1)
    product = make_row(ids[1], "MatMul", [(shape, precision)] * 2, (shape, precision), layer=layer)
    cast = make_row(ids[0], "Cast", [(shape, "float32")], (shape, precision), layer=layer, consumers=ids[1:])
    rows = [cast, product | {"producers": ids[:1]}] if precision == "float16" else [product]
    text = io.StringIO()
    pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(text, index=False, header=False)
    return text.getvalue()


def _drawn_policy(names: list[str], draw: random.Random) -> Policy:
    kept = {name: "float32" for name in names if draw.random() < 0.3}
    return Policy.model_validate({"default": "float16", "layers": kept})


def _add(folder: StudyFolder, number: int, level: str | None, policy: Policy, draw: random.Random) -> str:
    """Write a trial's folder; what became of it."""
    fate = "trained" if level == "O0" else draw.choices(["trained", "infeasible", "failed"], [15, 4, 1])[0]
    speed = 1000.0 if level == "O0" else draw.uniform(800, 2000)
    trained = {
        "quality": 0.9 if level == "O0" else 0.9 - draw.expovariate(150),
        "losses": tuple(2.0 / (step + 1) + draw.random() / 20 for step in range(300)),
        "loss_scales": tuple(65536.0 if step < 200 else 32768.0 for step in range(300)),
        "updates_applied": 300,
    }
    ends = {
        "trained": {"cause": None, "quality_by_steps": {300: trained["quality"]}, **trained},
        "infeasible": {
            "cause": "non-finite at step 0",
            "first_non_finite": Place(step=0, layer=HOSTILE, op="Mul", direction="forward"),
        },
        "failed": {"cause": "killed", "message": "the process was ended by SIGKILL"},
    }
    outcome = Outcome.model_validate(
        {
            "policy": str(policy),
            "policy_name": level,
            "digest": policy.digest,
            "seed": 1,
            "device": "CPU",
            "mindspore_version": "2.10.0",
            "status": fate,
            "metric": "accuracy",
            "direction": "maximize",
            "priced": None if fate == "failed" else priced(speed),
            "evidence": Evidence(asked_hash=policy.digest, summary="asked: as it is", ops_matched=1),
            **ends[fate],
        }
    )
    place = folder.trial_folder(number)
    place.mkdir(parents=True)
    write_json(outcome, place / "outcome.json")
    save_policy(policy, place / "policy.yaml")
    return fate
