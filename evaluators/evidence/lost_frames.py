"""Finds stacks of source positions from which the frame of a Cell is missing.

The op that a Cell returns may lose its Cell's own frame: its stack then leads from the line that calls the Cell
(`x = block(x)`) straight into the function that made the op (`def add`), so that the op seems to be written in the
caller. What gives it away is that the line calls a Cell, and what follows is not that Cell's `construct`.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...policies.outline import NetworkOutline
from .ir_text import Position
from .layer_marks import layer_number
from .step_parts import innermost_mark

_DEFINED = re.compile(r"\s*def (\w+)\(")
_FIRST_CALL = re.compile(r"[\w.\[\]]+\(")


@dataclass(frozen=True)
class LostFrame:
    """A call that may be of a Cell, whose frame is missing; `cell` is its path where the source names it."""

    cell: str | None


def lost_frame(stack: Sequence[Position], outline: NetworkOutline) -> LostFrame | None:
    """The first such call in an op's stack, from the innermost marked Cell on; None where every frame fits.

    A call that names no attribute of a Cell (`block(x)`) counts unless a function of that name follows.
    """
    number = innermost_mark(stack)
    if number is None:
        return None
    first = max(place for place, position in enumerate(stack) if layer_number(position.file) == number)
    callers = _Callees(outline, outline.cells[number].path)
    frames = [*stack[first:], None]
    for place, (frame, following) in enumerate(pairwise(frames)):
        call = _call(frame) if frame else None
        if call is None or (following is None and place > 0) or _name(call) == _defined(following):
            continue
        found = callers.cell(call)
        if found is not None:
            return found
    return None


class _Callees:
    """Tells which calls that are written in one Cell may be of a Cell of the network."""

    def __init__(self, outline: NetworkOutline, caller: str) -> None:
        self._paths = {name: cell.path for cell in outline.cells for name in (cell.path, *cell.aliases)}
        self._caller = caller

    def cell(self, callee: ast.expr) -> LostFrame | None:
        root, names, whole = _chain(callee)
        if root == "self":
            path = ".".join(name for name in (self._caller, *names) if name)
            if path in self._paths:
                return LostFrame(self._paths[path] if whole else None)
            return None
        if not names:
            return LostFrame(None) if isinstance(callee, ast.Name) else None
        return LostFrame(None) if any(path.rpartition(".")[2] == names[-1] for path in self._paths) else None


def _call(frame: Position) -> ast.expr | None:
    """What the expression at a position calls; None if it is no call."""
    start, _, end = frame.columns.partition("~")
    if not end:
        return None
    code = frame.code.encode()
    written = code[int(start) : int(end)].decode(errors="ignore")
    try:
        parsed = ast.parse(written, mode="eval").body
    except SyntaxError:
        # An expression over several lines: what stands before its first bracket is called.
        begun = _FIRST_CALL.match(code[int(start) :].decode(errors="ignore"))
        parsed = _parsed(f"{begun[0]})") if begun else None
    return parsed.func if isinstance(parsed, ast.Call) else None


def _parsed(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def _chain(callee: ast.expr) -> tuple[str | None, list[str], bool]:
    """`self.blocks[0]` as its root name, the names below it, and whether these are all that there is."""
    if isinstance(callee, ast.Name):
        return callee.id, [], True
    if isinstance(callee, ast.Attribute):
        root, names, whole = _chain(callee.value)
        return root, [*names, callee.attr] if whole else names, whole
    if isinstance(callee, ast.Subscript):
        root, names, whole = _chain(callee.value)
        index = callee.slice.value if isinstance(callee.slice, ast.Constant) else None
        return (root, [*names, str(index)], True) if whole and index is not None else (root, names, False)
    return None, [], False


def _name(callee: ast.expr) -> str:
    return callee.attr if isinstance(callee, ast.Attribute) else getattr(callee, "id", "")


def _defined(frame: Position | None) -> str | None:
    """The name of the function that a frame is of."""
    found = _DEFINED.match(frame.code) if frame else None
    return found[1] if found else None
