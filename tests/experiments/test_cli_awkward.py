"""Commands on workloads that have no whole graph, no fixed shapes, no rule for an op, or nothing to lower."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from program import run_halfwise

from halfwise.policies import parse_policy

SUPPORT = Path(__file__).parents[1] / "support"
PYNATIVE = "{default: float16, layers: {norm: float32}, mode: pynative}"


def on_awkward(command: str, *arguments: str, workload: str, where: Path = SUPPORT) -> subprocess.CompletedProcess:
    """The program on an awkward workload."""
    return run_halfwise(
        command, *arguments, "--workload", f"awkward_workloads:{workload}", cwd=where, timeout_s=240
    )


def test_check_of_partial_evidence():
    """`check` in PyNative mode says that its evidence is partial and why, as text and as JSON."""
    result = on_awkward("check", PYNATIVE, "--format", "json", workload="make_try")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["holds"], document["partial"]) == (True, True)
    assert document["summary"].startswith("partial: in PyNative 3 of 4 Cell calls gave low precision")
    assert re.search(r"Unsupported statement 'Try'.*awkward_workloads\.py:18", document["summary"])


def test_ops_of_partial_evidence():
    """`ops` lists a row for each Cell call, and says on the other stream that the table is partial."""
    result = on_awkward("ops", "--policy", PYNATIVE, "--format", "json", workload="make_try")
    rows = json.loads(result.stdout)
    assert result.stderr.startswith("partial: ")
    assert [(row["layer"], row["op"], row["output_precision"]) for row in rows] == [
        ("first", "nn.Dense", "float16"),
        ("norm", "nn.LayerNorm", "float32"),
        ("second", "nn.Dense", "float16"),
        ("", "TryNet", "float16"),
    ]
    # 32 points of 2 values times 2 x 8 weights, and a bias.
    assert rows[0]["flops"] == 2 * 32 * 2 * 8 + 32 * 8
    assert rows[-1]["flops"] is None


def test_an_op_without_a_rule_is_priced_by_its_bytes_and_named():
    """Ops without a count of operations are in the price, and named in it."""
    result = on_awkward("price", "O3", "--format", "json", workload="make_sorting")
    (document,) = json.loads(result.stdout)
    assert "Sort" in document["pricing"]["by_bytes_only"]
    assert document["pricing"]["step_time_s"] > 0


def test_declared_unknown_batch_is_compiled_with_the_sample_batch():
    """A network that declares an unknown batch size is priced at that of its batches: all shapes are known."""
    result = on_awkward("ops", "--format", "json", workload="make_unknown_batch")
    rows = json.loads(result.stdout)
    product = next(row for row in rows if (row["layer"], row["op"]) == ("first", "MatMul"))
    assert product["input_shapes"][0] == [32, 2]


def test_a_network_without_float_ops_is_said_to_be_one():
    """Nothing to compare, nothing to lower: `check` and `price` say so instead of failing."""
    check = on_awkward("check", "O3", workload="make_fixed_scores")
    assert check.stdout.splitlines()[0] == (
        "asked: no op of the network computes floats, so no policy changes this step"
    )
    price = on_awkward("price", "O3", "--format", "json", workload="make_fixed_scores")
    (document,) = json.loads(price.stdout)
    assert set(document["pricing"]["flops_share"]) == {"float32"}


@pytest.mark.parametrize(
    ("command", "arguments", "workload", "pattern"),
    [
        ("check", ["O3"], "make_try", r"Unsupported statement 'Try'.*awkward_workloads\.py:18.*mode: pynative"),
        ("price", [PYNATIVE], "make_try", r"awkward_workloads\.py:18.*without a compiled step there is no price"),
        ("check", ["O3"], "make_lookup", r"no attribute 'nothing' \(.*awkward_workloads\.py:44\)"),
    ],
)
def test_what_does_not_compile_is_refused_with_words_and_place(command, arguments, workload, pattern):
    """Graph mode and prices need a graph: exit 2, MindSpore's words, the user's file and line."""
    result = on_awkward(command, *arguments, workload=workload)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.search(pattern, result.stderr), result.stderr
    assert "Traceback" not in result.stderr


def test_dynamic_shapes_have_no_price_and_are_named():
    """Ops whose shapes depend on the data are named in the refusal; `check` needs no shapes."""
    price = on_awkward("price", "O3", workload="make_dynamic")
    assert price.returncode == 1
    assert re.search(r"shapes that are not known before the step runs \(.*NonZero.*\)", price.stderr)
    assert on_awkward("check", "O3", workload="make_dynamic").returncode == 0


SEARCH = """\
schema: halfwise/experiment/1
workload: awkward_workloads:{workload}
mode: {mode}
speed: {speed}
speed_budget_s: 1
sampler: random
levels: false
trials: 3
steps: 12
confirm: none
"""


def search(folder: Path, workload: str, mode: str, speed: str) -> subprocess.CompletedProcess[str]:
    """A short search on a workload that lies beside the experiment file."""
    for name in ("awkward_workloads.py", "tiny_workloads.py"):
        (folder / name).write_text((SUPPORT / name).read_text(encoding="utf-8"), encoding="utf-8")
    text = SEARCH.format(workload=workload, mode=mode, speed=speed)
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    program = Path(sys.executable).with_name("halfwise")
    command = [program, "search", "small.yaml", "--home", "home"]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=280, check=False)


@pytest.mark.parametrize(
    ("workload", "mode", "speed", "pattern"),
    [
        ("make_try", "graph", "auto", r"cannot compile.*Unsupported statement 'Try'.*py:18.*`mode: pynative`"),
        (
            "make_try",
            "pynative",
            "auto",
            r"cannot be priced.*Unsupported statement 'Try'.*py:18.*`speed: measured`",
        ),
        ("make_fixed_scores", "graph", "auto", r"nothing to search: the network has no layer"),
    ],
)
def test_what_cannot_be_searched_is_refused_before_any_trial(tmp_path, workload, mode, speed, pattern):
    """No graph in graph mode, a price without a graph, nothing to lower: exit 2 and what to do, no trial."""
    result = search(tmp_path, workload, mode, speed)
    assert result.returncode == 2, result.stdout
    assert re.search(pattern, result.stderr), result.stderr
    assert list((tmp_path / "home").glob("small/trials/*")) == []


@pytest.mark.full
def test_a_network_without_a_graph_is_searched_in_pynative(tmp_path):
    """Its layers are those that were seen, every trial trains, and each outcome's evidence is partial."""
    result = search(tmp_path, "make_try", "pynative", "measured")
    assert result.returncode == 0, result.stderr
    assert re.search(r"partial: only the outputs of layers are seen.*Unsupported statement 'Try'", result.stdout)
    files = sorted((tmp_path / "home" / "small" / "trials").glob("*/outcome.json"))
    outcomes = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    assert [outcome["status"] for outcome in outcomes] == ["trained"] * 3
    assert all(outcome["evidence"]["partial"] for outcome in outcomes)
    assert set(parse_policy(outcomes[1]["policy"]).layers) == {"first", "norm", "second", "."}
