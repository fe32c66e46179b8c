"""Why MindSpore cannot compile a training step: its own words, and the place in the user's code."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from mindspore import nn

from ..policies.errors import HalfwiseError
from ..policies.rewrite.network_outline import named_cells
from .evidence import unmarked

# How MindSpore names a place in its messages.
_PLACE = re.compile(r"In file (\S+?:\d+)")
_OWN_FOLDERS = tuple(f"{Path(__file__).parents[1] / folder}/" for folder in ("evaluators", "policies"))
_UNSUPPORTED = re.compile(r"Unsupported statement '(\w+)'")
_JOIN = re.compile(r"Cannot join the return values.*?Type Join Failed: dtype1 = (\w+), dtype2 = (\w+)", re.DOTALL)


class DoesNotCompile(HalfwiseError):
    """Graph mode cannot compile the step; the message is MindSpore's, with the user's file and line."""


def failure_of(error: Exception, network: nn.Cell, folder: Path) -> DoesNotCompile:
    """What MindSpore said first, and the innermost line of the user's own code that it speaks of.

    Where it speaks of none: the line of the statement that it says it does not support, or else the network's
    `construct`. `folder` holds the marks that the network carried (`mark_layers`).
    """
    text = unmarked(str(error), folder)
    lines = (line.strip() for line in text.splitlines())
    said = next((line for line in lines if line and not line.startswith(("-", "In file"))), "no message")
    named = (place for place in _PLACE.findall(text) if _is_users(place))
    place = next(named, None) or next(_unsupported(text, network), None) or _place(type(network).construct)
    if joined := _JOIN.search(text):
        return DoesNotCompile(_unjoined(joined[1], joined[2], place, network))
    return DoesNotCompile(f"{type(error).__name__}: {said}" + (f" ({place})" if place else ""))


def is_unjoined(error: Exception) -> bool:
    """Whether MindSpore says that branches of a tensor `if` end in different precisions."""
    return _JOIN.search(str(error)) is not None


def _unjoined(first: str, second: str, place: str, network: nn.Cell) -> str:
    kind = next((f"{name}, " for name in _classes_at(place, network)), "")
    return (
        f"Type Join Failed: branches of a tensor `if` end in {first.lower()} and {second.lower()}, and graph mode "
        f"joins equal types only ({kind}{place}); under this policy the network runs in PyNative mode only"
    )


def _classes_at(place: str, network: nn.Cell) -> Iterator[str]:
    """The user's classes of Cells whose source holds the line."""
    file, _, line = place.rpartition(":")
    for kind in {type(cell): None for _, cell in named_cells(network)}:
        try:
            source, first = inspect.getsourcelines(kind)
        except (OSError, TypeError):  # No source: written in an interpreter.
            continue
        if inspect.getfile(kind) == file and first <= int(line) < first + len(source):
            yield kind.__name__


def _is_users(place: str) -> bool:
    return "/site-packages/mindspore/" not in place and not place.startswith(_OWN_FOLDERS)


def _unsupported(text: str, network: nn.Cell) -> Iterator[str]:
    """Where statements of the kind that MindSpore refuses stand in the user's Cells; it names the kind alone."""
    refused = _UNSUPPORTED.search(text)
    kinds = {type(cell) for _, cell in named_cells(network)} if refused else set()
    for construct in {kind.construct for kind in kinds if not kind.__module__.startswith("mindspore.")}:
        for statement in ast.walk(_parsed(construct)):
            if refused and isinstance(statement, ast.stmt) and type(statement).__name__ == refused[1]:
                yield _place(construct, statement.lineno - 1)


def _parsed(function) -> ast.AST:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):  # No source: written in an interpreter.
        return ast.Module([], [])


def _place(function, lines_below: int = 0) -> str:
    code = inspect.unwrap(function).__code__
    return f"{code.co_filename}:{code.co_firstlineno + lines_below}"
