"""Policy files: YAML that people read and write."""

import os
from typing import Any

import yaml

from .document import read_document
from .json_value import plain_value
from .plain_file import read_text
from .policy import SCHEMA, Policy
from .whole_file import write_text

# Written even where they have their default values: a reader shouldn't have to know those.
_ALWAYS = ("default", "low_precision", "loss_scaling", "mode")
# Compact inside: their innermost lists and mappings stay on one line.
_COMPACT = ("ops", "loss_scaling")


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """The policy in a YAML or JSON file.

    Raises:
        InputError: no such file, not UTF-8, larger than 1 MiB, or not a policy (every problem with
            file:line:column).
    """
    return read_document(read_text(path), str(path), Policy, required=("schema",))


def save_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy file aside, then rename it: a reader sees the whole policy or the file that was there.

    Raises:
        NotWritten: the file can't be written.
    """
    write_text(path, _yaml(policy))


def _yaml(policy: Policy) -> str:
    changed = policy.model_dump(exclude_defaults=True)
    fields = {
        name: value
        for name, value in policy.model_dump(exclude={"schema_version"}).items()
        if name in changed or name in _ALWAYS
    }
    return "".join(_field(name, value) for name, value in ({"schema": SCHEMA} | fields).items())


def _field(name: str, value: Any) -> str:
    return yaml.dump(
        {name: value},
        Dumper=_Dumper,
        default_flow_style=None if name in _COMPACT else False,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )


class _Dumper(yaml.SafeDumper):
    """PyYAML's writer, but text that YAML 1.2 takes for a number or that isn't printable is double-quoted."""


def _text(_: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if text.isprintable() and isinstance(plain_value(text), str) else '"'
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
