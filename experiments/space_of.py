"""The search space of a workload: which layers and ops of its network may be chosen, and among what."""

from collections.abc import Sequence

from ..evaluators.device_facts import DeviceFacts
from ..evaluators.survey_result import Survey, SurveyedCell
from ..policies import CellOutline, NetworkOutline, Policy, RulePrecision, region_of, resolve
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
    layers = [cell.path for cell in survey.cells if _computes(cell)] or [""]
    return SearchSpace(
        groups=tuple(LayerGroup(path, (path,)) for path in layers),
        layer_choices=choices,
        ops=tuple(sorted({family(op) for op in survey.ops if op in OP_CLASSES})),
        low_precision=experiment.low_precision,
        loss_scaling=experiment.loss_scaling,
        mode=experiment.mode,
    )


def refuse_policy(policy: Policy, name: str, survey: Survey, device: DeviceFacts) -> None:
    """Refuse a policy that does not fit the network, or asks for a precision that the device does not compute.

    Raises:
        InputError: a rule matches nothing, rules clash, or a precision is missing; the message names the policy.
    """
    cells = tuple(CellOutline(cell.path, cell.aliases, cell.type_names) for cell in survey.cells)
    try:
        for assignment in resolve(policy, NetworkOutline(cells)):
            region_of(assignment, policy)
    except InputError as error:
        raise InputError(f"policy {name}: {error}") from error
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
