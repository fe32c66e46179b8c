"""`halfwise check`, `ops`, `price` and `devices`: what a policy comes to without training."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from program import run_halfwise

from halfwise.policies import load_policy, save_policy

SUPPORT = Path(__file__).parents[1] / "support"
halfwise = partial(run_halfwise, timeout_s=120)


def test_check_holds_and_says_what_was_asked():
    """A level that MindSpore applies as asked: exit code 0, and the summary tells asked from kernels."""
    result = halfwise("check", "O3", "--workload", "tiny_workloads:make_tiny")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(
        r"asked: \d+ of \d+ ops float16; on this CPU \d+ of the \d+ run float32 kernels", result.stdout
    )
    assert result.stdout.splitlines()[-1] == "holds"


def test_check_names_list_entries_that_change_nothing():
    """An entry of an op list that names no op of the step is listed."""
    policy = "{default: auto, ops: {white_list: [MatMul, Conv2D]}}"
    result = halfwise("check", policy, "--workload", "tiny_workloads:make_tiny")
    assert "change nothing here: Conv2D" in result.stdout


def test_check_fails_when_the_asked_table_has_changed(tmp_path):
    """A file that carries the hash of another asked table fails with exit code 1 and both hashes."""
    file = tmp_path / "policy.yaml"
    policy = load_policy(Path(__file__).parents[2] / "examples" / "policy.yaml").replace(layers={})
    save_policy(policy.replace(default="float16", asked_hash="0123456789abcdef"), file)
    result = halfwise("check", str(file), "--workload", "tiny_workloads:make_tiny", "--format", "json")
    assert result.returncode == 1
    document = json.loads(result.stdout)
    assert not document["holds"]
    assert re.fullmatch("[0-9a-f]{16}", document["asked_hash"])
    save_policy(policy.replace(default="float16", asked_hash=document["asked_hash"]), file)
    assert halfwise("check", str(file), "--workload", "tiny_workloads:make_tiny").returncode == 0


def test_ops_lists_every_op_with_its_layer():
    """The op table as JSON has the user's layers, and forward, gradient and update ops."""
    result = halfwise("ops", "--workload", "tiny_workloads:make_tiny", "--policy", "O3", "--format", "json")
    rows = json.loads(result.stdout)
    products = [row for row in rows if row["op"] == "MatMul" and row["direction"] == "forward"]
    assert [row["layer"] for row in products] == ["first", "second"]
    assert [row["flops"] for row in products] == [2 * 32 * 2 * 8, 2 * 32 * 8 * 2]
    assert {row["direction"] for row in rows} >= {"forward", "loss", "gradient", "scaling", "update"}


def test_price_says_that_nothing_was_measured():
    """Every figure of a price names its device; float32 against itself is a speed-up of 1."""
    result = halfwise("price", "O0", "O3", "--workload", "tiny_workloads:make_tiny", "--price-for", "v100")
    assert result.returncode == 0, result.stderr
    assert "O0 on tiny, priced on v100, not measured" in result.stdout
    assert "speed-up over float32: 1.00x" in result.stdout
    assert "assumed: launch cost an op 3 us" in result.stdout
    assert "measured" not in result.stdout.replace("not measured", "")


def test_price_as_json_adds_up():
    """Throughput, step time and speed-up of a price agree with each other."""
    result = halfwise("price", "O3", "--workload", "tiny_workloads:make_tiny", "--format", "json")
    (document,) = json.loads(result.stdout)
    pricing = document["pricing"]
    assert pricing["device"] == "a100-tf32"
    assert sum(pricing["flops_share"].values()) == pytest.approx(1)
    assert 0 < pricing["cast_share"] < 1


def test_a_price_of_several_devices_has_the_sum_of_gradients():
    """On four devices a step takes longer by the time that the gradients' bytes take on the link, no more."""
    policy = ("price", "O3", "--workload", "tiny_workloads:make_tiny", "--format", "json")
    alone, four = (json.loads(halfwise(*policy, *more).stdout)[0] for more in ((), ("--parallel", "data=4")))
    pricing = four["pricing"]
    assert pricing["devices"] == 4
    assert pricing["gradient_bytes_sent"] > 0
    assert pricing["gradient_sum_s"] == pytest.approx(pricing["gradient_bytes_sent"] / 300e9)
    assert pricing["step_time_s"] - alone["pricing"]["step_time_s"] == pytest.approx(pricing["gradient_sum_s"])
    assert pricing["cast_share"] < alone["pricing"]["cast_share"]
    assert four["speed_up_over_float32"] == pytest.approx(
        1 + (alone["speed_up_over_float32"] - 1) * alone["pricing"]["step_time_s"] / pricing["step_time_s"]
    )


def test_devices_lists_figures_with_sources():
    """Each known figure comes with its source and date; an unknown one says so."""
    result = halfwise("devices")
    assert "matrix float32: 15.7 TFLOP/s (NVIDIA V100 SXM2 datasheet, 2026-11-30)" in result.stdout
    assert re.search(r"ascend-910a.*?memory bandwidth: not known", result.stdout, flags=re.S)
    assert "(assumed)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (
            ["price", "O3", "--workload", "tiny_workloads:make_tiny", "--price-for", "v10"],
            r"unknown device 'v10'.*v100",
        ),
        (
            ["price", "O3", "--workload", "tiny_workloads:make_tiny", "--price-for", "ascend-910a"],
            r"ascend-910a cannot be priced",
        ),
        (
            ["price", "O3", "--workload", "tiny_workloads:make_tiny", "--parallel", "model=2"],
            r"a parallel strategy is data=N.*but got 'model=2'",
        ),
        (
            ["check", "nowhere.yaml", "--workload", "tiny_workloads:make_tiny"],
            r"nowhere\.yaml: no such policy file",
        ),
        (
            ["check", "{layers: {firts: float16}}", "--workload", "tiny_workloads:make_tiny"],
            r"firts: matches no layer.*'first'",
        ),
        (
            ["check", "O3", "--workload", "tiny_workloads:make_uncompilable"],
            r"MindSpore cannot compile.*tiny_workloads",
        ),
    ],
)
def test_what_is_wrong_is_said(arguments, pattern):
    """Unknown devices, missing figures, wrong policies and networks that don't compile: exit 2, one message."""
    result = halfwise(*arguments)
    assert (result.returncode, re.search(pattern, result.stderr) is not None) == (2, True), result.stderr
    assert "Traceback" not in result.stderr
