"""A space of sites: whole layers and single ops, each float32 or low; the ladder's and its peers' own."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import log10

from ..policies import LossScaling, LowPrecision, Mode, Policy, Precision, RulePrecision
from ..policies.errors import InputError
from .words import unknown

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

    Raises:
        InputError: nothing to choose.
    """

    groups: tuple[SiteGroup, ...]
    low_precision: LowPrecision
    loss_scaling: LossScaling
    mode: Mode

    def __post_init__(self) -> None:
        """Refuse a space that proposes nothing."""
        if not self.groups:
            raise InputError("there is nothing to search: the network has no layer whose precision may be chosen")

    def parameters(self) -> dict[str, tuple[Precision, ...]]:
        """Every site's choices, float32 first, in the order of the network."""
        return {group.name: group.choices for group in self.groups}

    def policy(self, choices: Mapping[str, str]) -> Policy:
        """The policy that these choices spell out.

        Raises:
            InputError: a site is missing or unknown, or its choice is not one of its own.
        """
        asked = self._asked(choices)
        made: list[tuple[Precision, dict[str, RulePrecision]]] = [(p, _rules(asked, p)) for p in _defaults(asked)]
        default, rules = min(made, key=lambda each: len(each[1]))
        return Policy(
            default=default,
            low_precision=self.low_precision,
            layers=rules,
            loss_scaling=self.loss_scaling,
            mode=self.mode,
        )

    def terms(self) -> dict[str, list[str]]:
        """The content of the space as lists of texts: equal for equal spaces, order included."""
        return {
            "sites": [f"{g.name} = {', '.join(g.paths)}: {', '.join(g.choices)}" for g in self.groups],
            "low precision": [self.low_precision],
            "loss scaling": [self.loss_scaling.model_dump_json()],
            "mode": [self.mode],
        }

    def describe(self) -> str:
        """One line for people: how many sites of which kind."""
        layers = sum(group.op is None for group in self.groups)
        digits = sum(log10(len(group.choices)) for group in self.groups)
        return f"{layers} layers and {len(self.groups) - layers} single ops: 10^{digits:.1f} policies"

    def _asked(self, choices: Mapping[str, str]) -> _Asked:
        parameters = self.parameters()
        for name in choices:
            if name not in parameters:
                raise unknown("site", name, parameters)
        asked: dict[str, dict[str, Precision]] = {}
        for group in self.groups:
            precision = _chosen(group, choices)
            for path in group.paths:
                ops = group.ops if group.op is None else (group.op,)
                asked.setdefault(path, {}).update(dict.fromkeys(ops, precision))
        return asked


def _chosen(group: SiteGroup, choices: Mapping[str, str]) -> Precision:
    if group.name not in choices:
        raise InputError(f"every site must have a choice, but {group.name} has none")
    for allowed in group.choices:
        if allowed == choices[group.name]:
            return allowed
    raise unknown(f"choice for {group.name}", choices[group.name], group.choices)


def _defaults(asked: _Asked) -> list[Precision]:
    """What the default may be: it is the network's own precision too, and a layer holds one low precision."""
    used: set[Precision] = {"float32", *(precision for ops in asked.values() for precision in ops.values())}
    own = set(asked.get("", {}).values()) - {"float32"}
    return sorted(precision for precision in used if precision == "float32" or own <= {precision})


def _commonest(ops: Mapping[str, Precision]) -> Precision:
    """The precision that most ops have; of equally many, the first one."""
    counts: Counter[Precision] = Counter(ops.values())
    return counts.most_common(1)[0][0]


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
