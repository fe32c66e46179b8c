"""Free-form JSON inside frozen values: what was written, checked, made immutable, and given back."""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BeforeValidator, JsonValue, PlainSerializer

from .canonical import check_text
from .frozen import FrozenMapping

# A field, the document around it and the scalar inside make the 32 levels that a document may nest.
_MAX_NESTING = 30
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_CONSTANTS: Mapping[str, bool] = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class PlainText(str):
    """A scalar that was written without quotes: text for typed fields, perhaps a number in free-form ones."""

    __slots__ = ()


def plain_value(text: str) -> str | int | float | bool:
    """What the YAML 1.2 core schema makes of an unquoted scalar other than null; `no` and `on` are text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        # Python itself refuses thousands of digits; such a number is refused as too large all the same.
        return int(text) if len(text) < 100 else 2**64
    if _NUMBER.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return math.inf
    return text


def freeze(value: Any, nesting: int = 1) -> Any:
    """`value` with its mappings and lists made immutable.

    Raises:
        ValueError: a number is not finite or does not fit 64 bits, text holds half of a surrogate pair, or
            the nesting is deeper than 30.
    """
    if isinstance(value, str):
        return check_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("numbers must be finite")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("integers must fit 64 bits")
    if not isinstance(value, Mapping | list | tuple):
        return value
    if nesting > _MAX_NESTING:
        raise ValueError(f"must not nest deeper than {_MAX_NESTING} levels")
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        return FrozenMapping({check_text(key): freeze(item, nesting + 1) for key, item in entries.items()})
    return tuple(freeze(item, nesting + 1) for item in cast("list[Any]", value))


def thaw(value: Any) -> Any:
    """The plain dicts and lists that `freeze` was given, unquoted scalars read as numbers or constants."""
    if isinstance(value, PlainText):
        return plain_value(value)
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in cast("list[Any]", value)]
    return value


JsonMapping = Annotated[
    Mapping[str, JsonValue], BeforeValidator(thaw), AfterValidator(freeze), PlainSerializer(thaw)
]
