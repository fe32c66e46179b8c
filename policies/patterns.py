"""The left side of a layer rule: which Cells it names, and perhaps one op of theirs.

    body.0.conv1        one path, exactly (`.` is the network itself)
    body.*.bn?          a glob: `*` and `?` stay within one name, `**` stands for any number of names
    nn.LayerNorm        MindSpore's layer class and its subclasses (`nn.` and a capital letter)
    type:MyNorm         a class of the user's, and its subclasses
    body.*.attn::Mul    one op of the Cells that the left part names; `::Mul` is that op of the network itself

A layer whose path looks like something else (`nn.Dense` as a path) is named with a `?` for one letter.
"""

import re
from dataclasses import dataclass
from typing import Literal

from .layer_types import LAYER_TYPES
from .near_miss import UnknownName
from .ops import check_op

PatternKind = Literal["exact", "glob", "type"]

_MINDSPORE_TYPE = re.compile(r"nn\.[A-Z][^.]*")


@dataclass(frozen=True)
class Pattern:
    """A parsed pattern; `name` is a path ("" is the network itself), a glob, or a type name."""

    text: str
    kind: PatternKind
    name: str
    op: str | None

    def matches_path(self, path: str) -> bool:
        """Whether this exact path or glob names the Cell at `path`; never for types."""
        if self.kind == "glob":
            return _glob_matches(self.name.split("."), path.split(".") if path else [])
        return self.kind == "exact" and self.name == path


def parse_pattern(text: str) -> Pattern:
    """Parse the left side of a rule.

    Raises:
        ValueError: the syntax is wrong, or it names an op or an `nn.` class that MindSpore doesn't have.
    """
    layers, colons, op = text.rpartition("::")
    if not colons:
        return _layers_pattern(text, text, op=None)
    check_op(op)
    if layers == ".":
        raise ValueError(f"the network itself needs no dot before the op: write '::{op}'; got {text!r}")
    return _layers_pattern(text, layers or ".", op=op)


def _layers_pattern(text: str, layers: str, op: str | None) -> Pattern:
    if layers == ".":
        return Pattern(text, "exact", "", op)
    if layers.startswith("type:"):
        return Pattern(text, "type", _user_type(layers.removeprefix("type:")), op)
    if _MINDSPORE_TYPE.fullmatch(layers):
        return Pattern(text, "type", _mindspore_type(layers), op)
    names = layers.split(".")
    if "" in names:
        raise ValueError(f"a layer path is names with dots between them; got {text!r}")
    if any("**" in name and name != "**" for name in names):
        raise ValueError(f"'**' stands for whole names: put dots around it; got {text!r}")
    return Pattern(text, "glob" if "*" in layers or "?" in layers else "exact", layers, op)


def _mindspore_type(name: str) -> str:
    if name not in LAYER_TYPES:
        raise UnknownName(f"must name a layer class of mindspore.nn; got {name!r}", name, LAYER_TYPES)
    return name


def _user_type(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"'type:' takes the bare name of a class, such as type:MyNorm; got {name!r}")
    return name


def _glob_matches(pattern: list[str], names: list[str]) -> bool:
    """Walk the pattern and keep every place in `names` that it may have come to."""
    places = {0}
    for part in pattern:
        if part == "**":
            places = set(range(min(places), len(names) + 1))
        else:
            places = {place + 1 for place in places if place < len(names) and _fits(part, names[place])}
        if not places:
            return False
    return len(names) in places


def _fits(part: str, name: str) -> bool:
    expression = re.escape(part).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(expression, name, re.DOTALL) is not None
