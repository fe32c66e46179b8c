"""One value, one text: JSON on one line that is safe to print, to pass on and to read back as YAML."""

import json
from typing import Any


def canonical_text(value: Any) -> str:
    """Compact JSON of plain data; keys stay in the order given.

    Whatever isn't printable is escaped (beyond U+FFFF as a surrogate pair, as JSON asks), so that a terminal,
    a log and a YAML reader all take the text as it is. NaN and infinities raise ValueError.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def printable(text: str) -> str:
    """The text as a terminal may show it: line breaks stay, other characters that would steer it are escaped."""
    return "".join(each if each.isprintable() or each == "\n" else _escaped(each) for each in text)


def check_text(text: str) -> str:
    """`text` itself.

    Raises:
        ValueError: it holds half of a surrogate pair, which no file can hold.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"must be text that a file can hold, without lone surrogates; got {text!r}")
    return text


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
