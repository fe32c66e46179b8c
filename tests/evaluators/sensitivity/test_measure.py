"""Sensitivity of tiny networks with a known weakness, measured in real processes."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from tiny_workloads import OverflowingWorkload

from halfwise.evaluators.process import Limits
from halfwise.evaluators.sensitivity.measure import measure_sensitivity
from halfwise.evaluators.sensitivity.result import GroupPaths, Sensitivity, SensitivityRequest
from halfwise.policies.errors import HalfwiseError
from halfwise.policies.rules import GroupStatistics, TensorStatistics, believe

SUPPORT = Path(__file__).parents[2] / "support"
STEPS = 6
LIMITS = Limits(time_s=240, memory_bytes=4 << 30)


def request(folder: Path, workload: str, *layers: str, **fields) -> SensitivityRequest:
    """A short run with a group for each layer, or `layer::Op`."""
    parts = [layer.partition("::") for layer in layers]
    return SensitivityRequest(
        folder=folder,
        target="CPU",
        workload=workload,
        search_path=SUPPORT,
        seed=3,
        steps=STEPS,
        groups=tuple(GroupPaths(name="".join(part), paths=(part[0],), op=part[2] or None) for part in parts),
        precisions=("float16",),
        **fields,
    )


def group(found: Sensitivity, name: str) -> GroupStatistics:
    """A group or part by its name."""
    return next(group for group in (*found.groups, *found.parts) if group.name == name)


def tensor(found: GroupStatistics, op: str, kind: str, direction: str = "forward") -> TensorStatistics:
    """One tensor of a group."""
    ops = [each for each in found.ops if (each.op, each.direction) == (op, direction)]
    return next(each for each in ops[0].tensors if each.kind == kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the overflowing network's job leaves its files."""
    return tmp_path_factory.mktemp("sensitivity")


@pytest.fixture(scope="module")
def overflowing(folder: Path) -> Sensitivity:
    """A network with a product beyond float16 in `square`."""
    layers = ("square", "first", "norm", "second", "")
    return measure_sensitivity(request(folder, "tiny_workloads:make_overflowing", *layers), LIMITS)


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Sensitivity:
    """A network that reads times around 5,000, and drops out."""
    folder = tmp_path_factory.mktemp("clock")
    layers = ("clock::Sub", "first::MatMul", "first::BiasAdd")
    return measure_sensitivity(request(folder, "sensitivity_workloads:make_clock", *layers), LIMITS)


def test_the_overflowing_product_is_named_with_its_values(overflowing):
    """Of all groups only `square` is likely harm, for its product's range and for its own step."""
    beliefs = {each.name: believe(each, "float16") for each in overflowing.groups}
    assert beliefs["square"].probability > 0.95
    assert {harm.rule for harm in beliefs["square"].harms} == {"range", "non-finite alone"}
    assert "Mul (forward output)" in next(h.reason for h in beliefs["square"].harms if h.rule == "range")
    assert all(belief.probability < 0.1 for name, belief in beliefs.items() if name != "square")


def test_collected_values_are_those_of_the_steps(overflowing):
    """The product's largest value at each collected step is what NumPy gets from that step's batch."""
    batches = list(itertools.islice(OverflowingWorkload().batches(3), STEPS))
    expected = []
    for step in overflowing.collected_steps:
        scaled = (batches[step].inputs[0] + np.float32(3)) * np.float32(300)
        expected.append(np.square(scaled).max())
    assert overflowing.collected_steps == (0, 2, 3, 5)
    found = tensor(group(overflowing, "square"), "Mul", "output")
    assert found.largest_by_step == pytest.approx(expected, rel=1e-6)


def test_weights_gradients_and_sums_are_told_apart(overflowing):
    """A Dense layer has inputs, weights, outputs and gradients; its product sums a term for each input."""
    second = group(overflowing, "second")
    products = {op.direction: op for op in second.ops if op.op == "MatMul"}
    assert [each.kind for each in products["forward"].tensors] == ["input", "output", "weight"]
    assert [each.kind for each in products["gradient"].tensors] == ["output"]
    assert products["forward"].summed_length == 8
    assert tensor(second, "MatMul", "output", "gradient").below_subnormal_scaled is not None
    assert tensor(second, "MatMul", "output").below_subnormal_scaled is None


def test_what_a_norm_keeps_in_float32_is_left_out(overflowing):
    """Of a LayerNorm only the data counts: scale, shift and statistics stay in float32 under any policy."""
    forward = next(
        op for op in group(overflowing, "norm").ops if op.op == "LayerNorm" and op.direction == "forward"
    )
    assert [each.kind for each in forward.tensors] == ["input", "output"]
    assert forward.summed_length is None


def test_it_costs_the_run_and_its_passes_and_leaves_no_values(overflowing, folder):
    """Steps are those of the run, float32 twice, and each group and part once; the dump is gone."""
    tried = [*overflowing.groups, *overflowing.parts]
    assert all(len(each.alone) == 1 for each in tried)
    smaller_scales = sum(effect.loss_scale < overflowing.loss_scale for each in tried for effect in each.alone)
    assert smaller_scales == 0
    assert overflowing.steps_run == STEPS + 2 + len(tried)
    assert [file for file in folder.rglob("*") if file.suffix in (".npy", ".ir", ".pb")] == []
    assert overflowing.notes == ()


def test_times_lose_their_differences(clock):
    """What reads times around 5,000 is named by the mantissa rule; what reads them afterwards is not."""
    before, after = (believe(group(clock, name), "float16") for name in ("clock::Sub", "first::MatMul"))
    assert "mantissa" in {harm.rule for harm in before.harms}
    assert before.probability > 0.5 > after.probability


def test_a_group_may_be_one_op(clock):
    """It holds that op alone, forward and gradient, its pattern names it, and a search gets its chance of harm."""
    assert {op.op for op in group(clock, "first::MatMul").ops} == {"MatMul"}
    assert {op.direction for op in group(clock, "first::MatMul").ops} == {"forward", "gradient"}
    assert group(clock, "first::BiasAdd").covers == ("first::BiasAdd",)
    assert clock.parts == ()
    chances = clock.chances(["float16", "bfloat16"])
    assert len(chances) == 6
    assert chances["clock::Sub", "float16"] == believe(group(clock, "clock::Sub"), "float16").probability


def test_dropout_moves_no_pass_alone(clock):
    """Float32 repeated gives the very same gradient: what moves is the precision's doing."""
    effects = [effect for each in clock.groups for effect in each.alone]
    assert [effect.repeat_distance for effect in effects] == [0.0, 0.0, 0.0]
    assert all(effect.gradient_distance for effect in effects)


def test_faint_gradients_vanish_without_a_scale_only(tmp_path):
    """A loss of 1e-6: the gradient is below float16's numbers, and the loss scale in use lifts it out."""
    found = measure_sensitivity(request(tmp_path, "tiny_workloads:make_faint", "second"), LIMITS)
    gradient = tensor(group(found, "second"), "MatMul", "output", "gradient")
    assert found.loss_scale == 65536
    assert gradient.below_subnormal > 0.5
    assert gradient.below_subnormal_scaled is not None
    assert gradient.below_subnormal_scaled < 0.2


def test_a_network_for_pynative_mode_only_is_tried_alone(tmp_path):
    """Without a graph there are no values, a note says why, and each group is tried all the same."""
    found = measure_sensitivity(request(tmp_path, "awkward_workloads:make_try", "first"), LIMITS)
    assert found.groups[0].ops == ()
    assert len(found.groups[0].alone) == 1
    assert "graph mode cannot compile" in found.notes[0]


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("sensitivity_workloads:make_undefined", "not finite in float32: the loss is nan at step 0 with seed 3"),
        ("tiny_workloads:make_huge_gradient", "the gradient is not finite in float32"),
    ],
)
def test_a_training_that_is_not_finite_in_float32_is_refused(tmp_path, workload, words):
    """The error says that it is not the precision's fault, and names the step of a bad loss."""
    with pytest.raises(HalfwiseError, match=words):
        measure_sensitivity(request(tmp_path, workload, "first"), LIMITS)
