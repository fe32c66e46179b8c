"""MLflow: how long a study's page takes beside an empty experiment's, and what writing costs beside a trial."""

import statistics
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mlflow import MlflowClient

from halfwise.evaluators.json_file import read_json, write_json
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.records import TrialRecord
from halfwise.experiments.so_far import so_far
from halfwise.experiments.study_file import StudyFile, read_records
from halfwise.experiments.tracking_mlflow import MlflowCopy
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies import BUILTIN, save_policy
from halfwise.policies.errors import HalfwiseError

from .bench import Bench, Figure, Say, alternate

TRIALS, LAYERS = 200, 50
WORKLOAD, STEPS = "text-transformer", 300
ROUNDS, COPIES = 7, 5
PAGE_TARGET, WRITING_TARGET = 3.0, 0.03
_SUPPORT = Path(__file__).parents[1] / "tests" / "support"
_LONGEST_MS = 60_000


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Copy a study of made-up outcomes and open its page; train a real trial and copy that."""
    sys.path.insert(0, str(_SUPPORT))
    return (*_pages(folder / "pages", say), _writing(folder / "writing", say))


def _pages(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Until a page shows what it is for, median of some loads of both pages in turn."""
    from browser import browsing, found_chromium
    from large_study import make_large_study
    from mlflow_servers import MlflowServer

    if found_chromium() is None:
        say("no Chromium on the PATH: nothing is known of the pages")
        return ()
    study = make_large_study(folder, TRIALS, LAYERS)
    server = MlflowServer(folder)
    server.start()
    try:
        parent = _copied(study, server.url)
        empty = MlflowClient(server.url).create_experiment("empty")
        run = MlflowClient(server.url).get_run(parent)
        # MLflow's pages never stop asking their server, so a page is there once it shows what it is for.
        pages = (
            (f"{server.url}/#/experiments/{run.info.experiment_id}/runs/{parent}", "Best policy"),
            (f"{server.url}/#/experiments/{empty}/runs", "Training runs"),
        )
        with browsing() as seen:
            loads = [partial(_load_s, seen.page, *each) for each in pages]
            for load in loads:
                load()
            study_s, empty_s = map(statistics.median, alternate(ROUNDS, *loads))
    finally:
        server.kill()
    say(f"the page of a study of {TRIALS} trials {study_s:.2f} s, an empty experiment's {empty_s:.2f} s")
    what = f"page of {TRIALS} trials against an empty experiment's"
    return (Figure(what, study_s / empty_s, "at most", PAGE_TARGET, "x"),)


def _load_s(page: Any, address: str, words: str) -> float:
    page.goto("about:blank")
    started = time.perf_counter()
    page.goto(address)
    page.get_by_text(words).first.wait_for(timeout=_LONGEST_MS)
    return time.perf_counter() - started


def _copied(study: StudyFolder, uri: str) -> str:
    """The study's parent run."""
    copy = MlflowCopy(uri, study.path.parent)
    kept = read_json(StudyFile, study.study_file)
    _do(copy.open(kept, study, None))
    for record in read_records(study):
        _do(copy.write(record))
    _do(copy.conclude(so_far(kept.info, study), None))
    assert copy.run is not None
    return copy.run


def _writing(folder: Path, say: Say) -> Figure:
    """CPU time of all threads that copy, against that of the trial's training steps alone."""
    record, training_s = _trained(folder / "trials" / "000")
    home = Home(folder / "home")
    home.prepare()
    _copy_s(record, home)
    writing_s = statistics.median(_copy_s(record, home) for _ in range(COPIES))
    size_kb = sum(file.stat().st_size for file in record.folder.glob("*.*")) / 1e3
    copied = f"their copy, {size_kb:.0f} kB: {writing_s:.2f} s"
    say(f"{STEPS} steps of {WORKLOAD}: {training_s:.1f} s of CPU time; {copied}")
    what = "MLflow writing against a trial's training, CPU time"
    return Figure(what, writing_s / training_s, "at most", WRITING_TARGET, "x")


def _trained(place: Path) -> tuple[TrialRecord, float]:
    """A real trial with its op table, and the CPU time of its training."""
    from finished_study import evaluator_for

    evaluator = replace(evaluator_for(resolve_reference(WORKLOAD), "minimize"), steps=STEPS)
    outcome = evaluator.evaluate(BUILTIN["O1"], "O1", place)
    if outcome.step_time is None:
        raise HalfwiseError(f"the trial did not train: {outcome.cause}: {outcome.message}")
    write_json(outcome, place / "outcome.json")
    save_policy(BUILTIN["O1"], place / "policy.yaml")
    return TrialRecord(0, "O1", BUILTIN["O1"], outcome, place), STEPS * outcome.step_time.process_cpu_s


def _copy_s(record: TrialRecord, home: Home) -> float:
    """Into a study of its own, so that nothing is there yet; the parent's run is there before."""
    from finished_study import study_info

    folder = home.study_folder(f"s{time.monotonic_ns()}")
    copy = MlflowCopy(home.tracking_uri, home.artifact_root)
    _do(copy.open(StudyFile(info=study_info(folder, name=folder.name)), folder, None))
    _do(copy.running())
    started = time.process_time()
    _do(copy.write(record))
    return time.process_time() - started


def _do(steps: Any) -> None:
    for _ in steps:
        pass


BENCH = Bench("mlflow", f"MLflow: the page of {TRIALS} trials, and what writing costs beside a trial", run)
