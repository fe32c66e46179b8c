"""The one way in which search/ says that a word is not one of those it knows."""

from collections.abc import Iterable

from ..policies.errors import InputError
from ..policies.near_miss import hint


def unknown(what: str, value: str, allowed: Iterable[str]) -> InputError:
    """An error that shows the value, all allowed words, and those that look like it."""
    words = tuple(allowed)
    return InputError(f"unknown {what} {value!r}; allowed: {', '.join(words)}{hint(value, words)}")
