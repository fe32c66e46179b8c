"""A policy from a text: its canonical form, any YAML or JSON, or the name of a built-in one."""

from .builtin import BUILTIN
from .document import read_document
from .errors import InputError
from .near_miss import hint
from .plain_json import parse_json
from .policy import Policy

# A single word up to this length is taken for the name of a built-in policy; longer ones are just not YAML.
_LONGEST_NAME = 30
_CANONICAL = '{"schema": "'


def parse_policy(text: str, source: str = "<text>") -> Policy:
    """The policy that `text` holds or names; `parse_policy(str(policy)) == policy`.

    The `schema` key may be left out here. `source` is what errors call the text.

    Raises:
        InputError: it is neither a policy nor the name of a built-in one.
    """
    name = text.strip()
    if name in BUILTIN:
        return BUILTIN[name]
    if name.isalnum() and len(name) <= _LONGEST_NAME:
        raise InputError(
            f"{source}: no built-in policy is called {name!r}; there are {', '.join(BUILTIN)}{hint(name, BUILTIN)}"
        )
    return _written_by_str(text) or read_document(text, source, Policy)


def _written_by_str(text: str) -> Policy | None:
    """The policy of a canonical text, which as JSON is read many times faster than as YAML; None for others."""
    if not text.startswith(_CANONICAL):
        return None
    try:
        return Policy.model_validate(parse_json(text.encode()))
    except ValueError:
        return None
