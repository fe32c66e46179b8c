"""From what a user types after `--rule` to a rule's name and its limit."""

import math

from ..evaluators.rewriting_result import AskedRule
from ..policies.errors import InputError
from ..policies.layer_types import LAYER_TYPES
from ..policies.near_miss import hint

# Rules by name, and whether they take a limit.
RULES = {"fold-batchnorm": False, "check-finite": False, "clip-value": True, "clip-norm": True}
DEFAULT_LAYERS = ("nn.Dense", "nn.Conv2d")


def asked_rules(texts: tuple[str, ...], layers: tuple[str, ...]) -> tuple[AskedRule, ...]:
    """The rules in order; those that go behind layers once for each layer type.

    Raises:
        InputError: a rule or a layer type is unknown, a limit is missing, no positive number, or not wanted, or a
            rule is asked for twice.
    """
    asked: list[AskedRule] = []
    for text in texts:
        name, limit = _parsed(text)
        if any(each.name == name for each in asked):
            raise InputError(f"--rule {text}: each rule is applied as often as it matches: ask for {name} once")
        kinds = (None,) if name == "fold-batchnorm" else layers or DEFAULT_LAYERS
        asked += [AskedRule(name=name, limit=limit, layer=kind and _layer(kind)) for kind in dict.fromkeys(kinds)]
    return tuple(asked)


def _parsed(text: str) -> tuple[str, float | None]:
    name, equals, value = text.partition("=")
    if name not in RULES:
        raise InputError(f"--rule {text}: no rule is called {name!r}{hint(name, RULES)}; {_known()}")
    if bool(equals) != RULES[name]:
        raise InputError(f"--rule {text}: {name} takes {'a limit' if RULES[name] else 'no limit'}; {_known()}")
    return name, _limit(text, value) if equals else None


def _limit(text: str, value: str) -> float:
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not 0 < limit < math.inf:
        raise InputError(f"--rule {text}: the limit must be a positive number, but got {value!r}")
    return limit


def _layer(name: str) -> str:
    if not name.startswith("nn.") or name not in LAYER_TYPES:
        raise InputError(
            f"--layer {name}: must be a layer class of mindspore.nn, such as nn.Dense{hint(name, LAYER_TYPES)}"
        )
    return name


def _known() -> str:
    return f"rules are {', '.join(f'{name}=LIMIT' if limit else name for name, limit in RULES.items())}"
