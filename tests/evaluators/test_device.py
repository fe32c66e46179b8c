"""What reaches MindSpore when a device is named; the accelerators are contracts, since none is here to run on."""

import inspect
import signal
from pathlib import Path

import mindspore as ms
import pytest
from finished_study import evaluator_for

from halfwise.evaluators import device, device_facts
from halfwise.evaluators.device_facts import CONVOLUTION_FIX, DeviceFacts, learn_device
from halfwise.evaluators.probe_results import PrecisionProbe
from halfwise.evaluators.process import Failure
from halfwise.policies import BUILTIN
from halfwise.policies.errors import HalfwiseError, InputError


@pytest.fixture
def calls(monkeypatch) -> list[tuple]:
    """What is asked of MindSpore, in order; nothing is done."""
    made: list[tuple] = []
    monkeypatch.setattr(ms, "set_device", lambda target, number: made.append(("device", target, number)))
    monkeypatch.setattr(ms, "set_context", lambda mode: made.append(("mode", mode)))
    monkeypatch.setenv(device.COMPILE_CACHE_VARIABLE, "1")
    return made


@pytest.mark.parametrize("target", ["CPU", "GPU", "Ascend"])
@pytest.mark.parametrize(("mode", "constant"), [("graph", ms.GRAPH_MODE), ("pynative", ms.PYNATIVE_MODE)])
def test_device_and_mode_reach_mindspore_once(calls, target, mode, constant):
    """The device is set first, by MindSpore's own name, then the mode."""
    device.use_device(target, mode)
    assert calls == [("device", target, None), ("mode", constant)]


def test_a_device_is_named_by_its_number(calls):
    """Of several accelerators the one that was asked for is set."""
    device.use_device("Ascend", "graph", 3)
    assert calls[0] == ("device", "Ascend", 3)


def test_mindspore_takes_a_device_by_its_number():
    """What is called is there: the device's kind, then its number, None for the first."""
    assert list(inspect.signature(ms.set_device).parameters) == ["device_target", "device_id"]


def test_a_number_of_a_device_is_refused_on_a_cpu(tmp_path):
    """A CPU has no numbers, and nothing is trained under a wrong one."""
    with pytest.raises(InputError, match="device 1 was asked for, but training runs on the CPU here"):
        learn_device("CPU", tmp_path, 1)


REFUSED = Failure("raised", "MindSpore cannot use it here: no such device")
CUT_SHORT = [
    Failure("killed", "the process was ended by SIGKILL", exit_code=-signal.SIGKILL),
    Failure("time limit", "still running"),
    Failure("out of memory", "held 9 GiB"),
    Failure("disk full", "no space left"),
]
CRASHED = Failure("killed", "the process was ended by SIGSEGV", exit_code=-signal.SIGSEGV)
COMPUTES = PrecisionProbe(precision="float16", missing={})


@pytest.fixture
def probes(monkeypatch) -> dict[str, PrecisionProbe | Failure]:
    """What comes of each probe, by the name of its folder; one that is not named computes everything."""
    answers: dict[str, PrecisionProbe | Failure] = {"convolution": Failure("raised", "no such op")}
    monkeypatch.setattr(
        device_facts, "run_job", lambda job, request, *_: answers.get(request.folder.name, COMPUTES)
    )
    return answers


def test_the_first_device_that_mindspore_takes_is_found(probes, tmp_path):
    """Where MindSpore knows no Ascend and a GPU's driver crashes, the CPU is what is there."""
    probes["Ascend-float16"], probes["GPU-float16"] = REFUSED, CRASHED
    assert learn_device("auto", tmp_path).target == "CPU"


@pytest.mark.parametrize("failure", CUT_SHORT, ids=str)
@pytest.mark.parametrize("probe", ["GPU-float16", "GPU-bfloat16"])
def test_a_probe_that_was_cut_short_is_no_answer(probes, tmp_path, probe, failure):
    """Neither is another device taken, nor is a precision left out, since a process was killed from outside."""
    probes["Ascend-float16"], probes[probe] = REFUSED, failure
    with pytest.raises(HalfwiseError) as raised:
        learn_device("auto", tmp_path)
    assert str(raised.value) == f"what GPU can compute could not be found out: {failure.cause}: {failure.message}"


def test_a_precision_whose_probe_crashes_is_left_out(probes, tmp_path):
    """A kernel that ends its process by a fault of its own is no kernel for that precision."""
    probes["GPU-bfloat16"] = CRASHED
    facts = learn_device("GPU", tmp_path)
    assert facts.low_precisions == ("float16",)
    assert facts.missing == {"bfloat16": "anything: killed: the process was ended by SIGSEGV"}


@pytest.mark.full
def test_the_compile_cache_of_a_users_environment_is_not_used(monkeypatch, tmp_path):
    """With the cache on, a policy would get the graph of another one, and there would be no graph to prove."""
    monkeypatch.setenv(device.COMPILE_CACHE_VARIABLE, "1")
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path / "cache"))
    found = [
        evaluator_for("tiny_workloads:make_overflowing").evaluate(BUILTIN[name], name, tmp_path / name)
        for name in ("O0", "O3")
    ]
    assert [(each.status, each.cause) for each in found] == [
        ("trained", None),
        ("infeasible", "non-finite at step 0"),
    ]
    assert not (tmp_path / "cache").exists()


def test_an_unknown_device_is_refused_before_mindspore_is_asked(calls):
    """A name that is no target of MindSpore's is an input error that lists the targets."""
    with pytest.raises(InputError, match="device 'TPU' is unknown; choose one of auto, CPU, GPU, Ascend"):
        device.use_device("TPU", "graph")  # pyright: ignore[reportArgumentType]
    assert calls == []


def test_mindspores_refusal_is_quoted(monkeypatch):
    """When MindSpore has no such device, its first line is quoted."""

    def refuse(target: str, number: int | None) -> None:
        raise RuntimeError(f"no {target}\nmore")

    monkeypatch.setattr(ms, "set_device", refuse)
    with pytest.raises(HalfwiseError, match=r"cannot use Ascend here: no Ascend$"):
        device.use_device("Ascend", "graph")


def test_peak_memory_of_an_accelerator_is_mindspores_own_figure(monkeypatch):
    """On a GPU or Ascend the device's allocator is asked, on a CPU the operating system."""
    monkeypatch.setattr(ms.runtime, "max_memory_allocated", lambda: 12345)
    assert device.peak_memory_bytes("Ascend") == 12345
    assert device.peak_memory_bytes("CPU") > 10 << 20


@pytest.mark.parametrize(
    ("reference", "convolves", "expected"),
    [(True, True, dict(CONVOLUTION_FIX)), (True, False, {}), (False, True, {})],
)
def test_the_convolution_fix_is_applied_where_it_helps(monkeypatch, reference, convolves, expected):
    """Only networks that convolve, on a CPU with the slow convolution, get the variable; and it is said."""
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    facts = DeviceFacts("CPU", ("float16",), {}, reference)
    assert facts.environment(convolves) == expected
    assert len(facts.notes(convolves)) == len(expected)


def test_a_variable_that_the_user_set_stays(monkeypatch):
    """Halfwise does not override the user's own ONEDNN_MAX_CPU_ISA."""
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
    assert DeviceFacts("CPU", ("float16",), {}, reference_convolution=True).environment(convolves=True) == {}


def test_this_machine_is_found(tmp_path: Path):
    """Without an accelerator "auto" finds the CPU, which computes float16 and refuses bfloat16 by an op."""
    facts = learn_device("auto", tmp_path)
    assert facts.target == "CPU"
    assert facts.low_precisions == ("float16",)
    assert "MatMul" in facts.missing["bfloat16"]
    assert facts.notes(convolves=False)[0].startswith("bfloat16 is left out: CPU does not compute MatMul in it")
