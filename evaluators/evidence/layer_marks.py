"""Makes a compiled graph say which layer each op belongs to.

MindSpore parses a function such as `ops.tanh` or the `+` of a construct once and keeps the scope of its first
caller, so in the graph the ops of three blocks of one class all carry the name of the first. What it keeps
truly is the stack of source positions: which function called which, down to the op. So before the step is
compiled each Cell's `construct` is given a code object of its own that differs in nothing but its file name,
`halfwise-layers/<number of the Cell>/<file>`, a link to the user's file. The innermost such file in an op's
stack is its Cell. The compiled graph is the same graph: names of files are its only trace.
"""

import functools
import inspect
import linecache
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspore import nn

from ...policies.rewrite.network_outline import named_cells

_FOLDER = "halfwise-layers"
# Where a marked Cell keeps the construct that it had of its own; None if it only has its class's.
_KEPT = "halfwise_unmarked_construct"
_MARK = re.compile(rf"{_FOLDER}/(\d+)/")


def mark_layers(network: nn.Cell, folder: Path) -> None:
    """Mark every Cell of `network` with its number in `read_outline(network).cells`.

    Call it after the policy is applied and before the step is compiled, in graph mode. `folder` gets links to
    the source files, which MindSpore reads whenever it compiles a Cell of the network: before they are deleted,
    take the marks off with `remove_marks`. A shared Cell has one mark. What runs op by op is not changed.
    """
    cells = {id(cell): cell for _, cell in named_cells(network)}
    for number, cell in enumerate(cells.values()):
        _mark(cell, folder.resolve() / _FOLDER / str(number))


def remove_marks(network: nn.Cell) -> None:
    """Take the marks off again; what is compiled already stays compiled."""
    for _, cell in named_cells(network):
        if _KEPT in cell.__dict__:
            kept = cell.__dict__.pop(_KEPT)
            cell.__dict__.pop("construct", None)
            if kept is not None:
                cell.construct = kept


def layer_number(file: str) -> int | None:
    """The number of the Cell whose mark a source file's name carries, or None."""
    found = _MARK.search(file)
    return int(found[1]) if found else None


def has_marks(folder: Path) -> bool:
    """Whether `mark_layers` has marked a network for a dump into `folder`."""
    return (folder / _FOLDER).is_dir()


def unmarked(text: str, folder: Path) -> str:
    """A message of MindSpore's with the user's own file names in place of the marks that lie in `folder`."""
    for mark in (folder.resolve() / _FOLDER).glob("*/*"):
        text = text.replace(str(mark), str(mark.resolve()))
    return text


def _mark(cell: nn.Cell, folder: Path) -> None:
    bound = cell.construct
    cell.__dict__.setdefault(_KEPT, cell.__dict__.get("construct"))
    written = inspect.unwrap(bound.__func__)
    file = _linked(written, folder)
    code = written.__code__.replace(co_filename=str(file))
    marked: Any = types.FunctionType(
        code, written.__globals__, written.__name__, written.__defaults__, written.__closure__
    )
    functools.update_wrapper(marked, written)
    marked.__kwdefaults__ = written.__kwdefaults__
    # Graph mode reads what a wrapper wraps: without the link to the original it finds the marked code.
    del marked.__wrapped__
    cell.construct = types.MethodType(_wrapper(bound.__func__, marked), cell)


def _wrapper(runs: Callable[..., Any], is_read: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(is_read)
    def construct(*args, **kwargs):
        return runs(*args, **kwargs)

    return construct


def _linked(function: types.FunctionType, folder: Path) -> Path:
    """A file in `folder` that reads as the function's own source file."""
    source = Path(function.__code__.co_filename)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / re.sub(r"[^\w.-]", "_", source.name)
    file.unlink(missing_ok=True)
    if source.exists():
        file.symlink_to(source.resolve())
    else:  # A notebook's cell lives in Python's cache of source lines only.
        lines = linecache.getlines(str(source), function.__globals__)
        file.write_text("".join(lines), encoding="utf-8")
    return file
