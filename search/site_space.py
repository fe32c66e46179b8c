"""A space of sites: whole layers and single ops, each float32 or low; the ladder's and its peers' own."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log10
from typing import TypeVar

from ..policies import LossScaling, LowPrecision, Mode, Policy, Precision, RulePrecision
from ..policies.errors import InputError
from .words import unknown

LOSS_SCALING = "loss scaling"
"""The site of the loss scaling, where there is a choice of it."""

_SAFEST_FIRST = ("dynamic", "static", "none")

_Choice = TypeVar("_Choice", bound=str)

_Asked = Mapping[str, Mapping[str, Precision]]
"""By layer path: the precision of each op that the layer computes itself."""


@dataclass(frozen=True, slots=True)
class SiteGroup:
    """Layers that share one choice, for all that they compute (`op` is None) or for one op of theirs.

    `ops` are the ops that the layers compute themselves, by the names that policies use; `choices` begin with
    float32. A path "" is the network itself.
    """

    name: str
    paths: tuple[str, ...]
    op: str | None
    ops: tuple[str, ...]
    choices: tuple[Precision, ...]


@dataclass(frozen=True)
class SiteSpace:
    """Policies that spell out the precision of every layer and op, in as few rules as can be; no op lists.

    `loss_scaling` is what float32 trains with; a policy may have one of `other_loss_scalings` instead, which are
    cheaper and less safe. Of the ops of one layer, those that are low must be low in the same precision.

    Raises:
        InputError: nothing to choose, or a loss scaling that occurs twice or is safer than `loss_scaling`.
    """

    groups: tuple[SiteGroup, ...]
    low_precision: LowPrecision
    loss_scaling: LossScaling
    mode: Mode
    other_loss_scalings: tuple[LossScaling, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a space that proposes nothing, and scalings that cannot be told apart or ordered."""
        if not self.groups:
            raise InputError("there is nothing to search: the network has no layer whose precision may be chosen")
        labels = [scaling.label for scaling in self._loss_scalings]
        if len(set(labels)) < len(labels):
            raise InputError(f"each loss scaling may be offered once, but they are {', '.join(labels)}")
        kinds = [_SAFEST_FIRST.index(scaling.kind) for scaling in self._loss_scalings]
        if min(kinds) < kinds[0]:
            raise InputError(
                f"the loss scaling that float32 trains with must be the safest of those offered (dynamic, static, "
                f"none), but is {labels[0]} beside {', '.join(labels[1:])}"
            )

    def parameters(self) -> dict[str, tuple[str, ...]]:
        """Every site's choices, float32 first, in the order of the network; then the loss scalings, if several."""
        sites: dict[str, tuple[str, ...]] = {group.name: group.choices for group in self.groups}
        if self.other_loss_scalings:
            sites[LOSS_SCALING] = tuple(scaling.label for scaling in self._loss_scalings)
        return sites

    @property
    def regions(self) -> tuple[tuple[int, ...], ...]:
        """The sites, by their places, of each layer whose ops have sites of their own."""
        by_paths: dict[tuple[str, ...], list[int]] = {}
        for place, group in enumerate(self.groups):
            if group.op is not None:
                by_paths.setdefault(group.paths, []).append(place)
        return tuple(tuple(places) for places in by_paths.values() if len(places) > 1)

    def policy(self, choices: Mapping[str, str]) -> Policy:
        """The policy that these choices spell out.

        Raises:
            InputError: a site is missing or unknown, its choice is not one of its own, or a layer's ops are asked
                for two low precisions.
        """
        asked = self._asked(choices)
        made: list[tuple[Precision, dict[str, RulePrecision]]] = [(p, _rules(asked, p)) for p in _defaults(asked)]
        default, rules = min(made, key=lambda each: len(each[1]))
        return Policy(
            default=default,
            low_precision=self.low_precision,
            layers=rules,
            loss_scaling=self._scaling(choices),
            mode=self.mode,
        )

    def terms(self) -> dict[str, list[str]]:
        """The content of the space as lists of texts: equal for equal spaces, order included."""
        return {
            "sites": [f"{g.name} = {', '.join(g.paths)}: {', '.join(g.choices)}" for g in self.groups],
            "low precision": [self.low_precision],
            LOSS_SCALING: [scaling.model_dump_json() for scaling in self._loss_scalings],
            "mode": [self.mode],
        }

    def describe(self) -> str:
        """One line for people: how many sites of which kind."""
        layers = sum(group.op is None for group in self.groups)
        digits = sum(log10(len(choices)) for choices in self.parameters().values())
        scalings = f", {len(self._loss_scalings)} loss scalings" if self.other_loss_scalings else ""
        return f"{layers} layers and {len(self.groups) - layers} single ops{scalings}: 10^{digits:.1f} policies"

    @property
    def _loss_scalings(self) -> tuple[LossScaling, ...]:
        return (self.loss_scaling, *self.other_loss_scalings)

    def _scaling(self, choices: Mapping[str, str]) -> LossScaling:
        if not self.other_loss_scalings:
            return self.loss_scaling
        by_label = {scaling.label: scaling for scaling in self._loss_scalings}
        chosen = _chosen(LOSS_SCALING, tuple(by_label), choices)
        return by_label[chosen]

    def _asked(self, choices: Mapping[str, str]) -> _Asked:
        parameters = self.parameters()
        for name in choices:
            if name not in parameters:
                raise unknown("site", name, parameters)
        asked: dict[str, dict[str, Precision]] = {}
        for group in self.groups:
            precision: Precision = _chosen(group.name, group.choices, choices)
            for path in group.paths:
                ops = group.ops if group.op is None else (group.op,)
                asked.setdefault(path, {}).update(dict.fromkeys(ops, precision))
        for path, ops in asked.items():
            low = sorted({precision for precision in ops.values() if precision != "float32"})
            if len(low) > 1:
                raise InputError(
                    f"the ops of layer {path or '.'} must be low in one precision, but the choices are "
                    f"{' and '.join(low)}"
                )
        return asked


def _chosen(site: str, allowed: tuple[_Choice, ...], choices: Mapping[str, str]) -> _Choice:
    if site not in choices:
        raise InputError(f"every site must have a choice, but {site} has none")
    for choice in allowed:
        if choice == choices[site]:
            return choice
    raise unknown(f"choice for {site}", choices[site], allowed)


def _defaults(asked: _Asked) -> list[Precision]:
    """What the default may be: it is the network's own precision too, and a layer holds one low precision."""
    used: set[Precision] = {"float32", *(precision for ops in asked.values() for precision in ops.values())}
    own = set(asked.get("", {}).values()) - {"float32"}
    return sorted(precision for precision in used if precision == "float32" or own <= {precision})


def _commonest(ops: Mapping[str, Precision]) -> Precision:
    """The precision that most ops have; of equally many, the first one."""
    precisions = list(ops.values())
    return max(precisions, key=precisions.count)


def _rules(asked: _Asked, default: Precision) -> dict[str, RulePrecision]:
    """Rules from the network down: each layer that differs from what covers it, and odd ops.

    The network itself gets the default: a rule for it would hold everywhere, and the default for nothing.
    """
    layers: dict[str, Precision] = {}
    odd: dict[tuple[str, str], Precision] = {}
    for path in sorted(asked, key=lambda path: (path.count(".") + bool(path), path)):
        ops = asked[path]
        precision = _commonest(ops) if path else default
        above = _above(path)
        # An op's rule holds further down too, unless a nearer rule for a whole layer stands in its way.
        ruled = any((place, op) in odd for place in above for op in ops)
        if ruled or precision != next((layers[place] for place in above if place in layers), default):
            layers[path] = precision
        odd |= {(path, op): own for op, own in ops.items() if own != precision}
    rules: dict[str, RulePrecision] = {}
    rules.update({path or ".": precision for path, precision in layers.items()})
    rules.update({f"{path}::{op}": precision for (path, op), precision in odd.items()})
    return rules


def _above(path: str) -> list[str]:
    """The layers around a layer, the nearest first, and the network itself."""
    if not path:
        return []
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(len(parts) - 1, 0, -1)] + [""]
