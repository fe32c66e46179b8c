"""The command line as people use it: a real search on a tiny network, and what follows from it."""

import json
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from fresh_process import in_fresh_process
from mlflow import MlflowClient
from program import run_halfwise

from halfwise.policies import load_policy

SUPPORT = Path(__file__).parents[1] / "support"
EXPERIMENT = """\
schema: halfwise/experiment/1
workload: tiny_workloads:make_overflowing
trials: 9
sampler: random
seed: 3
steps: 20
confirm: none
policies:
  cured: "{default: float16, layers: {'square::Mul': float32}}"
"""

halfwise = partial(run_halfwise, timeout_s=280, cwd="/")
Halfwise = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def searched(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A home with one finished study, `small`, and what the search printed."""
    folder = tmp_path_factory.mktemp("search")
    for module in ("tiny_workloads.py",):
        (folder / module).write_text((SUPPORT / module).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "small.yaml").write_text(EXPERIMENT, encoding="utf-8")
    result = halfwise("search", str(folder / "small.yaml"), "--home", str(folder / "home"))
    assert result.returncode == 0, result.stderr
    return folder, result


def test_a_search_prints_front_choice_and_next_command(searched):
    """The end of a search names the chosen policy with its reason, the policy file, and the exact ui command."""
    folder, result = searched
    assert len(re.findall(r"^\[\d/9\]", result.stdout, flags=re.M)) == 9
    assert "bfloat16 is left out: CPU does not compute" in result.stdout
    assert "trial 3 (O3) does not count: non-finite at step 0; first at step 0, op Mul of square (forward)" in (
        result.stdout
    )
    assert re.search(r"^Chosen: .*float32", result.stdout, flags=re.M)
    assert f"halfwise ui --home {folder / 'home'}" in result.stdout
    assert result.stderr == ""


def test_every_trial_is_a_folder(searched):
    """Each trial leaves its policy and its outcome; the failed ones say why, and none leaves weights or dumps."""
    study = searched[0] / "home" / "small"
    outcomes = [json.loads(file.read_text()) for file in sorted(study.glob("trials/*/outcome.json"))]
    assert [outcome["policy_name"] for outcome in outcomes[:6]] == ["O0", "O1", "O2", "O3", "auto", "cured"]
    assert [outcome["status"] for outcome in outcomes[:6]] == ["trained"] * 2 + ["infeasible"] * 2 + [
        "trained"
    ] * 2
    assert outcomes[3]["cause"] == "non-finite at step 0"
    assert outcomes[3]["first_non_finite"] == {"step": 0, "layer": "square", "op": "Mul", "direction": "forward"}
    for number, outcome in enumerate(outcomes):
        assert load_policy(study / "trials" / f"{number:03d}" / "policy.yaml").digest == outcome["digest"]
    assert list(study.rglob("*.ckpt")) == []
    assert list(study.rglob("*.npy")) == []


def test_the_front_table_holds_every_trial(searched):
    """front.csv has a row a trial; infeasible ones have a cause and no place on the front."""
    table = pd.read_csv(searched[0] / "home" / "small" / "front.csv")
    assert list(table["trial"]) == list(range(9))
    failed = table[table["cause"].notna()]
    assert {2, 3} <= set(failed["trial"])
    assert not failed["on_front"].any()
    assert table["on_front"].any()
    assert table["against_float32"][0] == 1


def test_front_as_json_agrees_with_the_table(searched):
    """`front --format json` gives the same trials and the same front."""
    folder, _ = searched
    result = halfwise("front", "small", "--home", str(folder / "home"), "--format", "json")
    document = json.loads(result.stdout)
    table = pd.read_csv(folder / "home" / "small" / "front.csv")
    assert document["front"] == list(
        table.sort_values("samples_per_s", ascending=False).query("on_front")["trial"]
    )
    assert [trial["trains"] for trial in document["trials"]] == list(table["cause"].isna())
    assert document["speed_is"] == "priced on a100-tf32, not measured"


def test_an_exported_policy_gives_the_trials_losses_again(searched, tmp_path):
    """The exported file, applied in a fresh process with the same seed, gives the trial's losses bit for bit."""
    folder, _ = searched
    file = tmp_path / "cured.yaml"
    result = halfwise("export", "small", "--rule", "trial:5", "-o", str(file), "--home", str(folder / "home"))
    assert result.returncode == 0, result.stderr
    policy = load_policy(file)
    assert policy.results["trial"] == 5
    assert policy.made_for["device"] == "CPU"
    outcome = json.loads((folder / "home" / "small" / "trials" / "005" / "outcome.json").read_text())
    losses = in_fresh_process(
        "training_jobs:losses", workload="tiny_workloads:make_overflowing", policy=str(policy), seed=3, steps=20
    )
    assert losses == outcome["losses"]


def test_leave_one_out_finds_the_layer_by_training(searched):
    """O3 fails for `square`: with that in float32 it trains, with another it does not; nothing is done twice."""
    home = ("--home", str(searched[0] / "home"), "--format", "json")
    found = json.loads(halfwise("explain", "small:3", "--leave-one-out", "2", *home).stdout)["answers"][-1]
    # Without loss scaling, as in O3, twenty steps are too few to learn as much as float32.
    assert found["short"].startswith("None of the lists that were trained is enough")
    assert found["lines"][0].startswith("with square in float32: lost 0.")
    assert found["lines"][1] == "with . in float32: does not train: non-finite at step 0"
    assert found["lines"][2].startswith("with square, . in float32: lost 0.")
    kept = list((searched[0] / "home" / "small" / "explained" / "003").glob("*/outcome.json"))
    times = [file.stat().st_mtime_ns for file in kept]
    again = json.loads(halfwise("explain", "small:3", "--leave-one-out", "2", *home).stdout)["answers"][-1]
    assert again == found
    assert [file.stat().st_mtime_ns for file in kept] == times
    refused = halfwise("explain", "small:0", "--leave-one-out", "2", *home)
    assert refused.returncode == 2
    assert "there is no loss whose layers could be looked for" in refused.stderr


@pytest.mark.parametrize(("form", "is_whole"), [("python", True), ("csv", True), ("mixlist", False)])
def test_a_study_knows_the_network_of_what_it_exports(searched, tmp_path, form, is_whole):
    """Other forms need no workload for a study's trial, and say what they cannot express."""
    folder, _ = searched
    file = tmp_path / "exported"
    result = halfwise("export", "small:5", "--as", form, "-o", str(file), "--home", str(folder / "home"))
    assert result.returncode == 0, result.stderr
    assert "Mul" in file.read_text(encoding="utf-8")
    assert (result.stderr == "") == is_whole


def test_mlflow_holds_parent_children_and_artifacts(searched):
    """The default store has one parent, a child a trial with its figures or its cause, and the files."""
    home = searched[0] / "home"
    client = MlflowClient(f"sqlite:///{home / 'mlflow.db'}")
    experiments = [e.experiment_id for e in client.search_experiments() if e.name != "Default"]
    runs = client.search_runs(experiments)
    parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    assert len(parents) == 1
    assert len(runs) == 10
    assert parents[0].info.status == "FINISHED"
    assert {len(run.inputs.dataset_inputs) for run in runs if run.inputs} == {1}
    assert "best-policy.yaml" in {file.path for file in client.list_artifacts(parents[0].info.run_id)}
    o3 = next(run for run in runs if run.info.run_name == "003 O3 non-finite at step 0")
    assert o3.data.tags["halfwise.cause"] == "non-finite at step 0"
    assert "quality" not in o3.data.metrics
    cured = next(run for run in runs if str(run.info.run_name).startswith("005 cured "))
    assert cured.info.status == "FINISHED"
    assert len(client.get_metric_history(cured.info.run_id, "loss")) == 20
    assert "policy.yaml" in {file.path for file in client.list_artifacts(cured.info.run_id)}


def test_searching_again_goes_on_where_it_stood(searched):
    """The same command trains nothing twice; with more trials it adds just those, under the same parent run."""
    folder, _ = searched
    study = folder / "home" / "small"
    before = {file: file.stat().st_mtime_ns for file in study.glob("trials/*/outcome.json")}
    run_id = json.loads((study / "tracking.json").read_text())["run"]
    result = halfwise("search", str(folder / "small.yaml"), "--home", str(folder / "home"), "--trials", "10")
    assert result.returncode == 0, result.stderr
    after = {file: file.stat().st_mtime_ns for file in study.glob("trials/*/outcome.json")}
    assert len(after) == 10
    assert {file: time for file, time in after.items() if file in before} == before
    assert json.loads((study / "tracking.json").read_text())["run"] == run_id


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            ["--seed", "4", "--max-memory", "16GB"],
            ["seed: was 3, is now 4", "memory: was without these, is now 16 GB"],
        ),
        pytest.param(
            ["--price-for", "v100"],
            ["speed: was priced on a100-tf32, is now priced on v100"],
            marks=pytest.mark.full,
        ),
    ],
)
def test_other_terms_are_refused_with_the_difference(searched, changes, words):
    """A study is not continued on other terms: exit code 2, and the message says what was and what is."""
    folder, _ = searched
    result = halfwise("search", str(folder / "small.yaml"), "--home", str(folder / "home"), *changes)
    assert result.returncode == 2
    assert all(each in result.stderr for each in words)
    assert "Traceback" not in result.stderr


@pytest.mark.full
def test_a_search_keeps_to_its_memory_and_measures_side_by_side(tmp_path):
    """Float32 is too large here and only the yardstick; what fits is measured against it, with an interval."""
    (tmp_path / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    file = tmp_path / "tiny.yaml"
    file.write_text(
        "schema: halfwise/experiment/1\nworkload: tiny_workloads:make_tiny\ntrials: 5\nsteps: 20\n"
        "sampler: random\nspeed: measured\nspeed_budget_s: 0.5\nmax_memory: 3.2kB\n",
        encoding="utf-8",
    )
    result = halfwise("search", str(file), "--home", str(tmp_path / "home"))
    assert result.returncode == 0, result.stderr
    table = pd.read_csv(tmp_path / "home" / "tiny" / "front.csv").set_index("policy")
    assert "needs at least 3.496 kB of memory (priced), more than 3.2 kB" in table["cause"]["O0"]
    # O1 and O2 compile to one step here: they share the figure.
    assert table["ratio_low"]["O1"] == table["ratio_low"]["O2"] <= table["against_float32"]["O2"]
    client = MlflowClient(f"sqlite:///{tmp_path / 'home' / 'mlflow.db'}")
    experiments = [e.experiment_id for e in client.search_experiments() if e.name != "Default"]
    runs = {str(run.info.run_name)[:6]: run for run in client.search_runs(experiments)}
    assert runs["003 O3"].data.metrics["speed_ratio"] == pytest.approx(table["against_float32"]["O3"])
    assert runs["003 O3"].data.tags["halfwise.speed_conclusive"] in ("yes", "no")
    assert "speed_ratio" not in runs["000 O0"].data.metrics
    assert runs["000 O0"].data.metrics["quality"] > 0.85


BAD_EXPERIMENTS = {
    "unknown key": ("trails: 3", 2, r"bad\.yaml:3:1: trails: .*trials"),
    "wrong type": ("trials: many", 2, r"bad\.yaml:3:9: trials: .*'many'"),
    "zero trials": ("trials: 0", 2, r"bad\.yaml:3:9: trials: .*0"),
    "unknown sampler": ("sampler: tpee", 2, r"must be one of ladder, .*tpe, nsga2, random; got 'tpee'"),
    "bfloat16 on a CPU": ("precisions: [bfloat16, float32]", 2, r"asks for bfloat16, which CPU does not compute"),
    "unknown layer": (
        "policies: {mine: '{default: float16, layers: {firts: float32}}'}",
        2,
        r"policy mine: layers\.firts: matches no layer.*'first'",
    ),
    "unknown op": (
        "policies: {mine: '{default: float16, ops: {black_list: [Softmaks]}}'}",
        2,
        r"Softmaks.*Softmax",
    ),
    "clashing rules": (
        'policies: {mine: \'{default: auto, layers: {"f*": float16, "fi*": float32}}\'}',
        2,
        r"'f\*'.*'fi\*'",
    ),
    "no size": ("max_memory: lots", 2, r"bad\.yaml:3:13: max_memory: must be a size .*16GB.*'lots'"),
    "memory that no policy gets by with": (
        "max_memory: 1kB",
        2,
        r"max_memory 1 kB: no policy of tiny needs less than",
    ),
    "missing policy file": ("policies: {mine: nowhere.yaml}", 2, r"nowhere\.yaml"),
}


# These need the network's layers, and so a process each; the quick tier tries one of them.
SLOW = ("bfloat16 on a CPU", "clashing rules", "memory that no policy gets by with")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] if name in SLOW else []) for name in BAD_EXPERIMENTS]
)
def test_a_bad_experiment_is_refused(name, tmp_path):
    """What is wrong in an experiment file: exit code 2, one clear message with the place, no traceback."""
    line, code, pattern = BAD_EXPERIMENTS[name]
    file = tmp_path / "bad.yaml"
    file.write_text(
        f"schema: halfwise/experiment/1\nworkload: tiny_workloads:make_tiny\n{line}\n", encoding="utf-8"
    )
    (tmp_path / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    result = halfwise("search", str(file), "--home", str(tmp_path / "home"), "--no-mlflow")
    assert (result.returncode, re.search(pattern, result.stderr) is not None) == (code, True), result.stderr
    assert "Traceback" not in result.stderr


BAD_WORKLOADS = {
    "no such module": ("nowhere:make", 2, r"nowhere"),
    "does not import": ("broken:make", 2, r"broken.*ZeroDivisionError: division by zero"),
    "raises": ("raising:make", 2, r"RuntimeError: no data here"),
    "batch beyond the data": ("greedy:make", 2, r"batch size 1000 does not fit the training data: it holds 256"),
    "unknown built-in": ("digits-resnett", 2, r"digits-resnet"),
}


@pytest.mark.parametrize("name", BAD_WORKLOADS)
def test_a_bad_workload_is_refused(name, tmp_path):
    """What is wrong with a workload becomes one clear message that quotes the workload's own words."""
    reference, code, pattern = BAD_WORKLOADS[name]
    (tmp_path / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "raising.py").write_text("def make():\n    raise RuntimeError('no data here')\n")
    (tmp_path / "greedy.py").write_text(
        "from tiny_workloads import Tiny\n\nclass Greedy(Tiny):\n    batch_size = 1000\n\nmake = Greedy\n"
    )
    file = tmp_path / "bad.yaml"
    file.write_text(f"schema: halfwise/experiment/1\nworkload: '{reference}'\n", encoding="utf-8")
    result = halfwise("search", str(file), "--home", str(tmp_path / "home"), "--no-mlflow")
    assert (result.returncode, re.search(pattern, result.stderr) is not None) == (code, True), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (["search", "nowhere.yaml"], r"nowhere\.yaml"),
        (["front", "nothing"], r"there is no study 'nothing'"),
        (["export", "nothing"], r"there is no study 'nothing'"),
        (["front", "../up"], r"a study's name is"),
        (["export", "small", "--rule", "bets"], r"best"),
        (["serach"], r"No such command"),
    ],
)
def test_what_is_typed_wrong(arguments, pattern, tmp_path):
    """A wrong name, path or command: exit code 2 and a message that says what there is."""
    result = halfwise(*arguments, cwd=tmp_path)
    assert (result.returncode, re.search(pattern, result.stderr) is not None) == (2, True), result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(tmp_path):
    """Only with --debug an error comes with its traceback."""
    assert "Traceback" in halfwise("--debug", "front", "nothing", cwd=tmp_path).stderr


def test_a_read_only_home_says_what_it_needs():
    """Where no study can be written, the message names the folder and the option to choose another."""
    result = halfwise("search", str(Path(__file__).parents[2] / "examples" / "tabular-mlp.yaml"), cwd="/proc")
    assert result.returncode == 1
    assert re.search(r"cannot write in /proc/halfwise-studies.*--home", result.stderr)


def test_doctor_finds_this_machine_well(tmp_path):
    """`doctor` checks versions, device and disk, and exits with 0 here."""
    result = halfwise("doctor", "--format", "json", "--home", str(tmp_path / "home"))
    findings = json.loads(result.stdout)
    assert result.returncode == 0
    assert all(finding["well"] for finding in findings)
    assert any("CPU computes float16, float32; not bfloat16" in finding["text"] for finding in findings)


@pytest.mark.parametrize("device", ["GPU", "Ascend"])
def test_a_device_that_is_not_there_is_a_clear_message(device, tmp_path):
    """Asking for a device that this machine lacks names it, quotes MindSpore, and exits with 1."""
    result = halfwise("doctor", "--device", device, "--home", str(tmp_path / "home"))
    assert result.returncode == 1
    assert re.search(rf"WRONG MindSpore .* cannot use {device} here", result.stdout)
