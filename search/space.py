"""The policies that a study may propose: a precision for every layer, and a list for every op."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..policies import OP_CLASSES, LossScaling, LowPrecision, Mode, OpLists, Policy, RulePrecision
from ..policies.errors import InputError
from .words import unknown

OP_CHOICES = ("unlisted", "white", "black")
# Unlisted, an op follows its inputs; MindSpore's products and convolutions refuse low data with float32 weights.
_MATRIX_CHOICES = ("white", "black")


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Layers that share one choice: a layer with its aliases, or tied blocks. Every path gets the rule.

    Paths are those of the user's network; "" is the network itself.
    """

    name: str
    paths: tuple[str, ...]


@dataclass(frozen=True)
class SearchSpace:
    """What is chosen (a precision per group, a list per op) and what every proposal has in common.

    `layer_choices` holds what this device can compute; order matters nowhere but in the sampler's draws.

    Raises:
        InputError: nothing to choose, or a name, path, op or choice that occurs twice.
    """

    groups: tuple[LayerGroup, ...]
    layer_choices: tuple[RulePrecision, ...]
    ops: tuple[str, ...]
    low_precision: LowPrecision
    loss_scaling: LossScaling
    mode: Mode

    def __post_init__(self) -> None:
        """Refuse a space that proposes nothing, or in which a name means two things."""
        if not self.groups:
            raise InputError("there is nothing to search: the network has no layer whose precision may be chosen")
        if not self.layer_choices:
            raise InputError("there is nothing to search: no precision is allowed for the layers")
        for group in self.groups:
            if not group.paths:
                raise InputError(f"the layer group {group.name!r} must name at least one layer path, but got none")
        _refuse_twice("layer group", (group.name for group in self.groups))
        _refuse_twice("layer path", (path for group in self.groups for path in group.paths))
        _refuse_twice("layer choice", self.layer_choices)
        _refuse_twice("op", self.ops)

    def parameters(self) -> dict[str, tuple[str, ...]]:
        """Every parameter with its allowed choices, in a fixed order: layers first, then ops."""
        layers = {f"layer:{group.name}": tuple(self.layer_choices) for group in self.groups}
        return {**layers, **{f"op:{op}": _op_choices(op) for op in self.ops}}

    def policy(self, choices: Mapping[str, str]) -> Policy:
        """The policy that these choices spell out: a rule for every layer path, and the op lists.

        Raises:
            InputError: a parameter is missing or unknown, or its choice is not allowed.
        """
        self._check(choices)
        precisions: dict[str, RulePrecision] = {precision: precision for precision in self.layer_choices}
        rules: dict[str, RulePrecision] = {
            path or ".": precisions[choices[f"layer:{group.name}"]]
            for group in self.groups
            for path in group.paths
        }
        listed = {word: tuple(op for op in self.ops if choices[f"op:{op}"] == word) for word in OP_CHOICES}
        return Policy(
            default="auto",
            low_precision=self.low_precision,
            layers=rules,
            ops=OpLists(white_list=listed["white"], black_list=listed["black"]),
            loss_scaling=self.loss_scaling,
            mode=self.mode,
        )

    def terms(self) -> dict[str, list[str]]:
        """The content of the space as lists of texts: equal for equal spaces, order included."""
        return {
            "layers": [f"{group.name} = {', '.join(group.paths)}" for group in self.groups],
            "layer choices": list(self.layer_choices),
            "ops": list(self.ops),
            "low precision": [self.low_precision],
            "loss scaling": [self.loss_scaling.model_dump_json()],
            "mode": [self.mode],
        }

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hex digits of the terms: spaces that propose the same have the same."""
        return hashlib.sha256(json.dumps(self.terms()).encode()).hexdigest()[:12]

    def describe(self) -> str:
        """One line for people: how many layers and ops, their choices, and how many policies that makes."""
        layers = sum(len(group.paths) for group in self.groups)
        noun = "layer" if layers == len(self.groups) else f"group of {layers} layers"
        parts = [_times(len(self.groups), noun, self.layer_choices)]
        counts = Counter(_op_choices(op) for op in self.ops)
        parts += [_times(count, "op", allowed) for allowed, count in sorted(counts.items(), reverse=True)]
        sizes = [len(allowed) for allowed in self.parameters().values()]
        digits = sum(map(math.log10, sizes))
        count = f"{math.prod(sizes):,}" if digits < 6 else f"10^{digits:.1f}"
        return f"{', '.join(parts)}: {count} policies"

    def _check(self, choices: Mapping[str, str]) -> None:
        parameters = self.parameters()
        for name, value in choices.items():
            if name not in parameters:
                raise unknown("parameter", name, parameters)
            if value not in parameters[name]:
                raise unknown(f"choice for {name}", value, parameters[name])
        missing = [name for name in parameters if name not in choices]
        if missing:
            raise InputError(f"every parameter must have a choice, but these have none: {', '.join(missing)}")


def _op_choices(op: str) -> tuple[str, ...]:
    return _MATRIX_CHOICES if OP_CLASSES.get(op) == "matrix" else OP_CHOICES


def _times(count: int, noun: str, choices: Iterable[str]) -> str:
    first, *rest = noun.split(" ", 1)
    plural = " ".join([first if count == 1 else f"{first}s", *rest])
    return f"{count} {plural} x {{{', '.join(choices)}}}"


def _refuse_twice(what: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"each {what} may occur once in a search space, but these occur twice: {', '.join(twice)}"
        )
