"""The one way in which search/ says that a word is not one of those it knows."""

import difflib
from collections.abc import Iterable

from ..policies.errors import InputError


def unknown(what: str, value: object, allowed: Iterable[str]) -> InputError:
    """An error that shows the value, the nearest allowed word if one is near, and all allowed words."""
    words = list(allowed)
    near = difflib.get_close_matches(str(value).lower(), words, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return InputError(f"unknown {what} {value!r}{hint}; allowed: {', '.join(words)}")
