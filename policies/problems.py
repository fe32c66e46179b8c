"""One pydantic error in a user's words, and the node of the document that it is about."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import yaml
from pydantic_core import ErrorDetails

from .canonical import printable
from .near_miss import hint

_KEY = "[key]"
_LONGEST_RULE, _LONGEST_KEY = 400, 80


@dataclass(frozen=True)
class Problem:
    """Where a rule is broken, which field that is, and the rule with what was found instead."""

    mark: yaml.Mark
    field: str
    rule: str


def describe(details: ErrorDetails, root: yaml.MappingNode, schema: Mapping[str, Any]) -> Problem:
    """The problem behind one pydantic error; `schema` is the JSON Schema of the document's model."""
    mark, path = _find(root, details)
    if details["type"] in ("missing", "union_tag_not_found"):
        path = (*path, _missing_key(details))
    rule = _rule(details, schema)
    short = rule if len(rule) <= _LONGEST_RULE else f"{rule[:_LONGEST_RULE]}..."
    return Problem(mark, _dotted(path) or "the document", short)


def _find(root: yaml.MappingNode, details: ErrorDetails) -> tuple[yaml.Mark, tuple[str | int, ...]]:
    """Follow the error's location as far as the document goes; what isn't in it names a union's branch."""
    node: yaml.Node = root
    mark = root.start_mark
    path: list[str | int] = []
    location = list(details["loc"])
    if details["type"] == "union_tag_invalid":
        location.append(_discriminator(details))
    at_key = details["type"] == "extra_forbidden" or location[-1:] == [_KEY]
    for part in location:
        entry = _entry(node, part)
        if entry is not None:
            key, node = entry
            mark = key.start_mark if at_key else node.start_mark
            path.append(part)
    return mark, tuple(path)


def _entry(node: yaml.Node, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part], node.value[part]
    return None


def _dotted(path: tuple[str | int, ...]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{_printable(part)}" for part in path)
    return text.removeprefix(".")


def _printable(key: str) -> str:
    shown = key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}..."
    return shown if shown.isprintable() and shown.strip() == shown != "" else repr(shown)


def _missing_key(details: ErrorDetails) -> str:
    return _discriminator(details) if details["type"] == "union_tag_not_found" else str(details["loc"][-1])


def _discriminator(details: ErrorDetails) -> str:
    return str(details.get("ctx", {})["discriminator"]).strip("'")


def _rule(details: ErrorDetails, schema: Mapping[str, Any]) -> str:
    context = details.get("ctx", {})
    found = details["input"]
    match details["type"]:
        case "missing" | "union_tag_not_found":
            return "is required"
        case "extra_forbidden":
            keys = _keys(schema, details["loc"][:-1])
            key = str(details["loc"][-1])
            return f"unknown key; allowed here: {', '.join(keys)}{hint(key, keys)}"
        case "literal_error":
            return _one_of(context["expected"], found)
        case "union_tag_invalid":
            return _one_of(context["expected_tags"], context["tag"])
        case "value_error":
            return printable(str(context["error"]))
        case "unknown_name":
            return details["msg"] + hint(context["name"], context["candidates"])
        case "rule":
            return details["msg"]
        case _:
            return f"{_plainly(details)}; got {_shown(found)}"


def _one_of(expected: str, found: object) -> str:
    allowed = re.findall(r"'([^']*)'", expected)
    choice = f"one of {', '.join(allowed)}" if len(allowed) > 1 else allowed[0]
    near = hint(found, allowed) if isinstance(found, str) and len(allowed) > 1 else ""
    return f"must be {choice}; got {_shown(found)}{near}"


def _plainly(details: ErrorDetails) -> str:
    kind = details["type"]
    if kind in ("model_type", "dict_type", "mapping_type", "model_attributes_type"):
        return "must be a mapping"
    if kind in ("tuple_type", "list_type"):
        return "must be a list"
    message = details["msg"].partition(", unable to parse")[0]
    return message.replace("Input should be", "must be")


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _keys(schema: Mapping[str, Any], location: tuple[str | int, ...]) -> list[str]:
    """The keys that the model allows at a location; a union's branch is told by its tag."""
    node: Mapping[str, Any] = schema
    for part in location:
        node = _below(_resolved(node, schema), part)
    return sorted(_resolved(node, schema).get("properties", {}))


def _resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in node:
        return node
    return schema["$defs"][node["$ref"].rpartition("/")[2]]


def _below(node: Mapping[str, Any], part: str | int) -> Mapping[str, Any]:
    branches = cast("Mapping[str, Any]", node.get("discriminator", {})).get("mapping", {})
    if part in branches:
        return {"$ref": branches[part]}
    if isinstance(part, int):
        return node.get("items", {})
    return node.get("properties", {}).get(part) or node.get("additionalProperties") or {}
