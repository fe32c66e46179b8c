"""How wide the values of a precision are."""

from collections.abc import Mapping
from types import MappingProxyType

WIDTHS: Mapping[str, int] = MappingProxyType({"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8})
"""Bytes of one value."""
