"""YAML (JSON reads too) as nodes that know their line and column; only what a policy file needs."""

from typing import Any, NoReturn, cast

import yaml
from yaml.reader import ReaderError

from .canonical import printable
from .errors import InputError
from .json_value import PlainText

MAX_CHARACTERS = 2**20
MAX_NESTING = 32
MAX_NODES = 100_000
_LONGEST_SHOWN = 60
_NULLS = ("", "~", "null", "Null", "NULL")


def place(source: str, mark: yaml.Mark) -> str:
    """`file:line:column`, both counted from 1."""
    return f"{source}:{mark.line + 1}:{mark.column + 1}"


def compose(text: str, source: str) -> yaml.MappingNode:
    """The top-level mapping of a document.

    Raises:
        InputError: not YAML, not one mapping, larger than 2^20 characters, more than 100,000 keys, values and
            items, nested deeper than 32 levels, a key that is not a single word or stands twice, or anything
            beyond plain data (anchors, aliases, tags, merges).
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{source}: is larger than {MAX_CHARACTERS} characters")
    try:
        node = _Loader(text, source).get_single_node()
    except yaml.MarkedYAMLError as error:
        where = place(source, error.problem_mark) if error.problem_mark else source
        problem = printable(", ".join(filter(None, (error.context, error.problem))))
        raise InputError(f"{where}: is not YAML: {problem}") from error
    except ReaderError as error:
        line, column = (
            text.count("\n", 0, error.position) + 1,
            error.position - text.rfind("\n", 0, error.position),
        )
        problem = f"the character U+{ord(text[error.position]):04X} must be written as an escape"
        raise InputError(f"{source}:{line}:{column}: is not YAML: {problem}") from error
    if isinstance(node, yaml.MappingNode):
        return node
    where = place(source, node.start_mark) if node else source
    raise InputError(f"{where}: must be a mapping of fields; got {_shown(node)}")


def to_plain(node: yaml.Node) -> Any:
    """Dicts, lists and strings; unquoted scalars are PlainText, or None where they mean null."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: to_plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [to_plain(item) for item in node.value]
    scalar = cast("yaml.ScalarNode", node)
    if scalar.style is not None:
        return scalar.value
    return None if scalar.value in _NULLS else PlainText(scalar.value)


def _shown(node: yaml.Node | None) -> str:
    if node is None:
        return "nothing"
    return "a list" if isinstance(node, yaml.SequenceNode) else repr(node.value[:_LONGEST_SHOWN])


class _Loader(yaml.SafeLoader):
    """PyYAML's composer, which refuses what plain data doesn't need while it reads."""

    def __init__(self, text: str, source: str) -> None:
        super().__init__(text)
        self._source = source
        self._nesting = self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = cast("Any", super()).peek_event()
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self._refuse(event.start_mark, "anchors and aliases are not allowed")
        if event.tag is not None:
            self._refuse(event.start_mark, f"tags are not allowed; got {printable(event.tag[:_LONGEST_SHOWN])}")
        if self._nodes == MAX_NODES:
            self._refuse(event.start_mark, f"must not hold more than {MAX_NODES:,} keys, values and items")
        self._nodes += 1
        if self._nesting == MAX_NESTING:
            self._refuse(event.start_mark, f"must not nest deeper than {MAX_NESTING} levels")
        self._nesting += isinstance(event, yaml.CollectionStartEvent)
        node = super().compose_node(parent, index)
        self._nesting -= isinstance(event, yaml.CollectionStartEvent)
        return node

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        node = super().compose_scalar_node(anchor)
        try:
            # JSON writes characters beyond U+FFFF as two escapes, which PyYAML leaves apart.
            node.value = node.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self._refuse(node.start_mark, "holds half of a surrogate pair")
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: dict[str, yaml.Mark] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(key.start_mark, "a key must be a single word")
            if key.value == "<<" and key.style is None:
                self._refuse(key.start_mark, "merge keys are not allowed")
            if key.value in seen:
                first = place(self._source, seen[key.value])
                self._refuse(key.start_mark, f"{key.value[:_LONGEST_SHOWN]!r} stands twice, first at {first}")
            seen[key.value] = key.start_mark
        return node

    def _refuse(self, mark: yaml.Mark, problem: str) -> NoReturn:
        raise InputError(f"{place(self._source, mark)}: {problem}")
