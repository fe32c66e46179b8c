"""From a surveyed network to a search space: which layers are offered, and which of them share a choice."""

import pytest
from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.survey_result import Survey, SurveyedCell
from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.space_of import refuse_policy, space_of, tied_blocks
from halfwise.policies import parse_policy
from halfwise.policies.errors import InputError

CPU = DeviceFacts("CPU", ("float16",), {"bfloat16": "MatMul: no kernel"}, reference_convolution=False)


def cell(path: str, *ops: str, kind: str = "nn.Dense") -> SurveyedCell:
    """A Cell without aliases."""
    return SurveyedCell(path=path, aliases=(), type_names=(kind,), ops=ops)


def survey(*cells: SurveyedCell) -> Survey:
    """A survey that found these Cells."""
    return make_survey(*cells)


BLOCKS = [
    cell(f"blocks.{number}.{name}", op) for number in range(3) for name, op in (("up", "MatMul"), ("act", "ReLU"))
]


def test_layers_without_float_work_are_not_offered():
    """Only Cells that compute floats are in the space, the network itself among them; ops come from them alone."""
    space = space_of(
        Experiment(workload="w"), survey(cell("", "Add"), cell("blocks"), cell("head", "MatMul", "BiasAdd")), CPU
    )
    assert [group.name for group in space.groups] == ["", "head"]
    assert space.ops == ("Add", "BiasAdd", "MatMul")
    assert space.layer_choices == ("float16", "float32", "auto")


def test_repeated_blocks_are_tied_when_asked():
    """Layers of repeated blocks share a group whose every path gets the rule."""
    groups = space_of(Experiment(workload="w", tie="blocks"), survey(*BLOCKS), CPU).groups
    assert {group.name: group.paths for group in groups} == {
        "blocks.*.up": ("blocks.0.up", "blocks.1.up", "blocks.2.up"),
        "blocks.*.act": ("blocks.0.act", "blocks.1.act", "blocks.2.act"),
    }


@pytest.mark.parametrize(("layers", "groups"), [(24, 24), (25, 1)])
def test_large_networks_are_tied_by_themselves(layers, groups):
    """Up to 24 layers every layer is its own group; beyond, repeated blocks are tied."""
    cells = [cell(f"blocks.{number}", "MatMul") for number in range(layers)]
    assert len(space_of(Experiment(workload="w"), survey(*cells), CPU).groups) == groups


def test_blocks_that_differ_are_not_tied():
    """A layer of another class or with other ops stays apart, and no two groups share a name."""
    odd = [cell("blocks.0", "MatMul"), cell("blocks.1", "MatMul", "Add"), cell("blocks.2", "MatMul", kind="Mine")]
    groups = tied_blocks(odd)
    assert [group.name for group in groups] == ["blocks.0", "blocks.1", "blocks.2"]


def test_a_precision_that_the_device_lacks_is_refused():
    """Asking for bfloat16 in the space or in a policy names the device, the op and what may be used."""
    words = r"asks for bfloat16, which CPU does not compute \(MatMul: no kernel\); use float16, float32"
    with pytest.raises(InputError, match=words):
        space_of(Experiment(workload="w", precisions=("bfloat16",)), survey(*BLOCKS), CPU)
    with pytest.raises(InputError, match=f"policy mine {words}"):
        refuse_policy(parse_policy("{default: bfloat16}"), "mine", survey(*BLOCKS), CPU)
