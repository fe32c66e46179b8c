"""`halfwise profile`: a step measured by MindSpore's profiler, with its price beside it."""

import json
import re
from functools import partial

import pytest
from program import run_halfwise

halfwise = partial(run_halfwise, timeout_s=120)
TINY = ("profile", "--workload", "tiny_workloads:make_tiny", "--steps", "5")


def test_a_profile_adds_up():
    """Parts make up the kernels' time, and the price that of a step; the casts that O3 asks for are there."""
    found = json.loads(halfwise(*TINY, "--policy", "O3", "--format", "json").stdout)
    parts = {part["part"]: part for part in found["parts"]}
    assert found["target"] == "CPU"
    assert found["untold_s"] == pytest.approx(0, abs=1e-9)
    assert sum(part["measured_s"] for part in parts.values()) == pytest.approx(found["kernels_s"])
    assert found["kernels_s"] > 0
    assert found["step_s"] > 0
    assert sum(part["priced_s"] for part in parts.values()) == pytest.approx(found["priced_step_s"])
    assert parts["casts"]["measured_s"] > 0
    assert parts["float16"]["priced_s"] > 0


def test_float32_has_no_casts_and_names_its_products():
    """In float32 nothing is cast and nothing is low; the network's own ops are named with their layers."""
    found = json.loads(halfwise(*TINY, "--format", "json").stdout)
    assert {part["part"] for part in found["parts"]} == {"float32", "no floats"}
    named = {(op["op"], op["layer"], op["direction"]) for op in found["float32_ops"]}
    assert {("MatMul", "first", "forward"), ("MatMul", "second", "forward")} <= named
    assert all(op["priced_s"] is not None for op in found["float32_ops"])
    times = [op["measured_s"] for op in found["float32_ops"]]
    assert times == sorted(times, reverse=True)


def test_a_profile_in_words_tells_measured_from_priced():
    """Each figure stands under the device that it was measured on, or priced on."""
    shown = halfwise(*TINY, "--policy", "O3", "--price-for", "v100").stdout
    assert "O3 on tiny: 5 training steps, measured on CPU" in shown
    assert re.search(
        r"a step: \d+\.\d+ ms with the profiler on; its kernels together, .*; priced on v100: ", shown
    )
    assert re.search(r"^ +measured on CPU +priced on v100$", shown, flags=re.M)
    assert re.search(r"^  casts +\d+\.\d+ ms \(\d+\.\d%\) +\d+\.\d+ ms \(\d+\.\d%\)$", shown, flags=re.M)


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (["--policy", "{default: float16, mode: pynative}"], r"the policy says `mode: pynative`, set it to graph"),
        (["--price-for", "v10"], r"unknown device 'v10'.*v100"),
        (["--policy", "nowhere.yaml"], r"nowhere\.yaml: no such policy file"),
        (["--device", "Ascend"], r"cannot use Ascend here"),
    ],
)
def test_what_cannot_be_profiled_is_said(arguments, pattern):
    """One clear error: what is wrong, and what to do about it."""
    result = halfwise(*TINY, *arguments)
    assert result.returncode in (1, 2)
    assert re.search(pattern, result.stderr, flags=re.S)
    assert result.stdout == ""
