"""The search space of a workload: which layers and ops of its network may be chosen, and among what."""

from collections.abc import Sequence

from ..evaluators.device_facts import DeviceFacts
from ..evaluators.survey_result import Survey, SurveyedCell
from ..policies import Policy, RulePrecision
from ..policies.errors import InputError
from ..policies.ops import OP_CLASSES, family
from ..search.space import LayerGroup, SearchSpace
from .experiment_file import Experiment

# They only hold other Cells and compute nothing themselves.
_CONTAINERS = {"nn.CellList", "nn.SequentialCell", "nn.CellDict"}


def space_of(experiment: Experiment, survey: Survey, device: DeviceFacts) -> SearchSpace:
    """Every layer of the network with what the device computes, and every listable op of its forward graph.

    Raises:
        InputError: the experiment asks for a precision that the device does not compute.
    """
    if experiment.precisions is None:
        choices: tuple[RulePrecision, ...] = (*device.low_precisions, "float32", "auto")
    else:
        choices = experiment.precisions
    refuse_missing(device, (*choices, experiment.low_precision), "the experiment file")
    return SearchSpace(
        groups=tuple(LayerGroup(cell.path, (cell.path,)) for cell in survey.cells if _computes(cell)),
        layer_choices=choices,
        ops=tuple(sorted({family(op) for op in survey.ops if op in OP_CLASSES})),
        low_precision=experiment.low_precision,
        loss_scaling=experiment.loss_scaling,
        mode=experiment.mode,
    )


def refuse_policy(device: DeviceFacts, policy: Policy, name: str) -> None:
    """Refuse a policy that asks for a precision which the device does not compute.

    Raises:
        InputError: it does; the message says which op the device refused.
    """
    asked = [policy.default, *policy.layers.values()]
    if "auto" in asked and policy.ops.white_list:
        asked.append(policy.low_precision)
    refuse_missing(device, asked, f"policy {name}")


def refuse_missing(device: DeviceFacts, precisions: Sequence[str], who: str) -> None:
    """Refuse precisions that the device's probe did not find.

    Raises:
        InputError: one of them is missing.
    """
    for precision in precisions:
        if precision in device.missing:
            allowed = ", ".join((*device.low_precisions, "float32"))
            raise InputError(
                f"{who} asks for {precision}, which {device.target} does not compute "
                f"({device.missing[precision]}); use {allowed}"
            )


def _computes(cell: SurveyedCell) -> bool:
    return bool(cell.path) and cell.type_names[0] not in _CONTAINERS
