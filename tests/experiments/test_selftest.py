"""`halfwise selftest`: parts that fail are noted, nobody's name is in the file, and on this CPU it passes."""

import json
import socket
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import run_halfwise

from halfwise.evaluators.process import Failure, Limits, run_job
from halfwise.evaluators.selftest.result import BITS_JOB, BitsRequest, Float32Bits
from halfwise.experiments.selftest import PARTS, run_selftest
from halfwise.experiments.selftest.parts import Bench
from halfwise.experiments.selftest.run import SelfTest, anonymous
from halfwise.experiments.selftest.table import table_lines
from halfwise.experiments.terminal import make_console, make_display
from halfwise.policies.errors import HalfwiseError

DOCS = Path(__file__).parents[2] / "docs"
halfwise = partial(run_halfwise, timeout_s=600)


def quiet():
    """Nothing is said."""
    return make_display(make_console(), quiet=True)


def test_a_part_that_fails_is_noted_and_the_rest_goes_on():
    """Its reason is kept without the path in it, the others are as they were, and the whole has not passed."""

    def fails(bench: Bench):
        """Fails."""
        raise HalfwiseError(f"no kernel; its output is in {bench.folder}/log")

    def works(bench: Bench):
        """Works."""
        return {"where": str(bench.place("x")), "what": ["a", {"b": 1}]}

    found = run_selftest("CPU", 10, quiet(), {"first": fails, "second": works})
    assert found.parts["first"].error == "no kernel; its output is in …"
    assert found.parts["second"].found == {"where": "…", "what": ["a", {"b": 1}]}
    assert not found.passed
    assert SelfTest.model_validate_json(found.model_dump_json()) == found


@given(st.lists(st.sampled_from(["/home/ann/x.py", "float16", "1/2", f"at {socket.gethostname()}", "a: b"])))
def test_no_path_and_no_host_is_left(parts: list[str]):
    """Whatever stands around them: absolute paths and the host's name are gone, the rest is as it was."""
    hidden = anonymous(" ".join(parts))
    assert "/home" not in hidden
    assert f"at {socket.gethostname()}" not in hidden
    assert hidden.split().count("float16") == parts.count("float16")
    assert hidden.split().count("1/2") == parts.count("1/2")


def test_this_cpu_computes_float32_in_float32(tmp_path: Path):
    """Products keep all 23 bits behind the leading one."""
    request = BitsRequest(folder=tmp_path / "bits", target="CPU")
    found = run_job(BITS_JOB, request, Float32Bits, Limits(time_s=120, memory_bytes=4 << 30))
    assert not isinstance(found, Failure), found
    assert (found.matmul, found.convolution) == (23, 23)


@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_cpu_passes_and_the_file_can_be_sent(tmp_path: Path):
    """Every part finds something on a real CPU, and neither path nor folder of this machine is in the file."""
    file = tmp_path / "selftest.json"
    done = halfwise("selftest", "--device", "CPU", "--seconds", "10", "-o", str(file), "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr
    text = file.read_text(encoding="utf-8")
    found = SelfTest.model_validate_json(text)
    assert list(found.parts) == list(PARTS)
    assert found.passed
    assert found.parts["float32 identity"].found == {
        "steps": 10,
        "first_difference": None,
        "parameters_equal": True,
    }
    assert str(tmp_path) not in text
    assert "/tmp" not in text
    assert socket.gethostname() not in text


def test_a_device_that_is_not_there_is_said(tmp_path: Path):
    """MindSpore's own words, exit code 1, and no file."""
    done = halfwise("selftest", "--device", "Ascend", "-o", str(tmp_path / "selftest.json"))
    assert done.returncode == 1
    assert "cannot use Ascend here" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_docs_show_the_files_that_came_in():
    """The table of the page is made of the collected files, row by row."""
    lines = table_lines((DOCS / "selftests").glob("*.json"))
    assert "\n".join(lines) in (DOCS / "verified-devices.md").read_text(encoding="utf-8")
    assert len(lines) > 2


def test_collected_files_hold_no_path():
    """What is published names no place of the machine that it came from."""
    for file in (DOCS / "selftests").glob("*.json"):
        document = json.loads(file.read_text(encoding="utf-8"))
        assert anonymous(json.dumps(document["parts"])) == json.dumps(document["parts"])
