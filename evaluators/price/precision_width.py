"""How wide the values of a precision are, and which precisions are low."""

from collections.abc import Mapping
from types import MappingProxyType

WIDTHS: Mapping[str, int] = MappingProxyType({"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8})
"""Bytes of one value."""

LOW = ("float16", "bfloat16")
