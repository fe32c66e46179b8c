"""The search space of a workload: which layers and ops of its network may be chosen, and among what."""

from collections import Counter
from collections.abc import Sequence

from ..evaluators.device_facts import DeviceFacts
from ..evaluators.survey_result import Survey, SurveyedCell
from ..policies import LOW_PRECISIONS, LowPrecision, Policy, RulePrecision, region_of, resolve
from ..policies.errors import InputError
from ..search.space import LayerGroup, SearchSpace
from .experiment_file import Experiment, Tie

# Repeated blocks are tied by themselves in networks with more layers than this.
TIED_FROM = 24


def space_of(experiment: Experiment, survey: Survey, device: DeviceFacts) -> SearchSpace:
    """Every layer that computes floats, with what the device computes, and every op of the forward pass.

    Of a network that was seen in PyNative mode only: every layer that gave a float, and the ops that are known.

    Raises:
        InputError: the experiment asks for a precision that the device does not compute, or offers loss scalings
            to choose from, which this space does not.
    """
    if experiment.other_loss_scalings:
        raise InputError(
            f"other_loss_scalings: sampler {experiment.sampler} takes `loss_scaling` alone; leave them out, or "
            "take sampler ladder"
        )
    if experiment.precisions is None:
        choices: tuple[RulePrecision, ...] = (*device.low_precisions, "float32", "auto")
    else:
        choices = experiment.precisions
    refuse_missing(device, (*choices, experiment.low_precision), "the experiment file")
    return SearchSpace(
        groups=layer_groups(survey, experiment.tie),
        layer_choices=choices,
        ops=survey.ops,
        low_precision=experiment.low_precision,
        loss_scaling=experiment.loss_scaling,
        mode=experiment.mode,
    )


def layer_groups(survey: Survey, tie: Tie = "auto") -> tuple[LayerGroup, ...]:
    """Every layer that a choice can change; repeated blocks share one where they are tied."""
    layers = [cell for cell in survey.cells if cell.has_choice]
    if tie == "blocks" or (tie == "auto" and len(layers) > TIED_FROM):
        return tied_blocks(layers)
    return tuple(LayerGroup(cell.path, (cell.path,)) for cell in layers)


def low_precisions_of(experiment: Experiment, device: DeviceFacts) -> tuple[LowPrecision, ...]:
    """The low precisions that a layer may get: what the experiment allows, by default what the device computes.

    Raises:
        InputError: the experiment asks for a precision that the device does not compute, or allows no low one.
    """
    asked = device.low_precisions if experiment.precisions is None else experiment.precisions
    refuse_missing(device, (*asked, experiment.low_precision), "the experiment file")
    low: tuple[LowPrecision, ...] = tuple(p for p in LOW_PRECISIONS if p in asked)
    if not low:
        raise InputError(
            f"precisions: at least one of {', '.join(LOW_PRECISIONS)} is needed to search, but got none"
        )
    return low


def refuse_policy(policy: Policy, name: str, survey: Survey, device: DeviceFacts) -> None:
    """Refuse a policy that does not fit the network, or asks for a precision that the device does not compute.

    Raises:
        InputError: a rule matches nothing, rules clash, or a precision is missing; the message names the policy.
    """
    try:
        for assignment in resolve(policy, survey.outline):
            region_of(assignment, policy)
    except InputError as error:
        raise InputError(f"policy {name}: {error}") from error
    asked = [policy.default, *policy.layers.values()]
    if "auto" in asked and policy.ops.white_list:
        asked.append(policy.low_precision)
    refuse_missing(device, asked, f"policy {name}")


def refuse_price_of_partial(survey: Survey) -> None:
    """Refuse to compare by price the policies of a network that graph mode cannot compile.

    Raises:
        InputError: it cannot; MindSpore's words and the user's file and line are in the message.
    """
    if survey.partial is not None:
        raise InputError(
            f"{survey.workload} cannot be priced, because graph mode cannot compile it ({survey.partial}): "
            "set `speed: measured` in the experiment file"
        )


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


def tied_blocks(layers: Sequence[SurveyedCell]) -> tuple[LayerGroup, ...]:
    """One group for the layers of repeated blocks that differ in a number only: `blocks.0.mlp`, `blocks.1.mlp`.

    They must be of one class and compute the same ops. A group is called after its paths, with * for the number.
    """
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for cell in layers:
        name = ".".join("*" if part.isdigit() else part for part in cell.path.split("."))
        groups.setdefault((name, cell.type_names, cell.ops), []).append(cell.path)
    names = Counter(name for name, _, _ in groups)
    return tuple(
        LayerGroup(name if len(paths) > 1 and names[name] == 1 else paths[0], tuple(paths))
        for (name, _, _), paths in groups.items()
    )
