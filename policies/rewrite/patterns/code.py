"""From a construct to its syntax tree and back, without touching the user's files or modules.

What is read is checked against the code that runs: a source that has changed, another class of the same name, or
one that Python itself rewrote gives other bytecode. What is written lies in a temporary folder, where MindSpore's
graph mode looks for it at each compilation, as long as the class lives.
"""

import ast
import functools
import inspect
import linecache
import tempfile
import textwrap
import types
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mindspore import nn

# The attribute by which halfwise knows a construct that it wrote itself.
_OWN = "halfwise_rewritten"
_REACHES_ANY_LAYER = frozenset(
    {"getattr", "cells", "name_cells", "cells_and_names", "get_sub_cell", "_cells", "__dict__", "vars"}
)


class CannotRead(Exception):
    """Why a construct cannot be rewritten: the reason with its way out, and where in the user's file."""

    def __init__(self, reason: str, where: str):
        super().__init__(reason)
        self.where = where


def where(cell: nn.Cell, line: int | None = None) -> str:
    """The Cell's class, and its construct's file and line: "Block, nets.py:12"."""
    return where_in(type(cell).__name__, type(cell).construct, line)


def where_in(name: str, function: object, line: int | None = None) -> str:
    """The same for any function, under the name of its class or its own."""
    code = getattr(function, "__code__", None)
    return name if code is None else f"{name}, {Path(code.co_filename).name}:{line or code.co_firstlineno}"


def read_construct(cell: nn.Cell) -> ast.FunctionDef:
    """The syntax tree of the construct that the Cell runs, with the line numbers of its file.

    Raises:
        CannotRead: it is not the class's own plain function, or its source is not to be had or not what runs.
    """
    function = type(cell).construct
    if not isinstance(function, types.FunctionType) or hasattr(function, "__wrapped__"):
        raise CannotRead("its construct is decorated or no plain function: take the decorator off", where(cell))
    tree = read_function(function)
    if tree is None:
        raise CannotRead(
            "the source of its construct cannot be read, or is not what runs: save it in a file and import it",
            where(cell),
        )
    return tree


def read_function(function: types.FunctionType) -> ast.FunctionDef | None:
    """The syntax tree of a function, or None where its source is not to be had or not the code that runs."""
    try:
        lines, first = inspect.getsourcelines(function)
        # Not dedented: that would change strings of several lines.
        module = ast.parse("if True:\n" + "".join(lines) if lines[0][:1].isspace() else "".join(lines))
        if not _is_what_runs(function):
            return None
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    tree = next((each for each in ast.walk(module) if isinstance(each, ast.FunctionDef)), None)
    return tree and ast.increment_lineno(tree, first - tree.lineno)


def _is_what_runs(function: types.FunctionType) -> bool:
    """Whether the file, compiled as it now is, holds this very code; what halfwise wrote does not change."""
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename))
    return hasattr(function, _OWN) or any(_equal(code, each) for each in _codes(text, code.co_name))


@functools.lru_cache(maxsize=256)
def _codes(text: str, name: str) -> tuple[types.CodeType, ...]:
    todo, found = [compile(text, "source", "exec", dont_inherit=True)], []
    while todo:
        inner = [each for each in todo.pop().co_consts if isinstance(each, types.CodeType)]
        found += [each for each in inner if each.co_name == name]
        todo += inner
    return tuple(found)


def replaced_construct(cell: nn.Cell, tree: ast.FunctionDef) -> type[nn.Cell]:
    """A subclass of the Cell's class, under the same name, whose construct is the tree."""
    return replaced_methods(type(cell), {"construct": (tree, {})})


def replaced_methods(
    kind: type[nn.Cell], methods: Mapping[str, tuple[ast.FunctionDef, Mapping[str, object]]]
) -> type[nn.Cell]:
    """A subclass of `kind`, under the same name, whose methods of these names are the trees.

    They share globals and closures with the originals; beside each tree stand names that it is given before all
    others. The source file goes when the class does, or the process ends.
    """
    body = "\n\n".join(textwrap.indent(ast.unparse(tree), "    ") for tree, _ in methods.values())
    text = f"class {kind.__name__}:\n\n{body}\n"
    folder, file = _saved(kind.__name__, text)
    written = {each.name: each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)}
    made_methods = {
        name: _like(original, _compiled(written[name], original, file, extra), extra)
        for name, (_, extra) in methods.items()
        if (original := getattr(kind, name))
    }
    names = {**made_methods, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    metaclass: Any = type(kind)
    made = metaclass(kind.__name__, (kind,), {**names, "__doc__": kind.__doc__})
    weakref.finalize(made, folder.cleanup)
    return made


def replaced_function(
    original: types.FunctionType, tree: ast.FunctionDef, extra: Mapping[str, object]
) -> types.FunctionType:
    """A function like the original whose body is the tree's; as `replaced_methods`."""
    text = ast.unparse(tree) + "\n"
    folder, file = _saved(original.__name__, text)
    (written,) = (each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef))
    made = _like(original, _compiled(written, original, file, extra), extra)
    weakref.finalize(made, folder.cleanup)
    return made


def _saved(name: str, text: str) -> tuple[tempfile.TemporaryDirectory[str], str]:
    folder = tempfile.TemporaryDirectory(prefix="halfwise-")
    file = Path(folder.name) / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    return folder, str(file)


def _like(original: types.FunctionType, code: types.CodeType, extra: Mapping[str, object]) -> types.FunctionType:
    """A function of this code with everything else of the original's."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in extra.items()}
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, original.__globals__, original.__name__, original.__defaults__, closure)
    made.__kwdefaults__ = original.__kwdefaults__
    made.__qualname__ = original.__qualname__
    setattr(made, _OWN, True)
    return made


def source_of(cell: nn.Cell) -> str:
    """The source text of a replaced construct."""
    return Path(type(cell).construct.__code__.co_filename).read_text(encoding="utf-8")


def reaches_any_layer(tree: ast.AST) -> str | None:
    """What in a function may reach a layer by a computed name (`getattr`, `cells()`), or None."""
    for each in ast.walk(tree):
        name = each.id if isinstance(each, ast.Name) else each.attr if isinstance(each, ast.Attribute) else None
        if name in _REACHES_ANY_LAYER:
            return name
    return None


def _compiled(
    tree: ast.FunctionDef, original: types.FunctionType, file: str, extra: Mapping[str, object]
) -> types.CodeType:
    """The function's code, compiled inside one that holds the names of its closure and the extra ones."""
    bare = ast.FunctionDef(tree.name, without_defaults(tree.args), tree.body, decorator_list=[])
    ast.copy_location(bare, tree)
    names = dict.fromkeys((*original.__code__.co_freevars, *extra))
    outer = ast.FunctionDef(
        name="closure",
        args=ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []),
        body=[bare],
        decorator_list=[],
    )
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, file, "exec", dont_inherit=True)
    return _inner(_inner(code, "closure"), tree.name)


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


def without_defaults(arguments: ast.arguments) -> ast.arguments:
    """The parameters with nothing that is computed where the function is defined: None stands for each default."""
    # Defaults and annotations are values of the original already; a default must stand where one is expected.
    none: Any = ast.Constant(None)
    plain = [
        [ast.arg(each.arg) for each in group]
        for group in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)
    ]
    return ast.arguments(
        posonlyargs=plain[0],
        args=plain[1],
        vararg=arguments.vararg and ast.arg(arguments.vararg.arg),
        kwonlyargs=plain[2],
        kw_defaults=[default and none for default in arguments.kw_defaults],
        kwarg=arguments.kwarg and ast.arg(arguments.kwarg.arg),
        defaults=[none for _ in arguments.defaults],
    )


def _equal(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether two code objects compute the same: everything but their lines and file names."""
    if len(one.co_consts) != len(other.co_consts):
        return False
    same = [
        _equal(mine, theirs)
        if isinstance(mine, types.CodeType) and isinstance(theirs, types.CodeType)
        else (type(mine), mine) == (type(theirs), theirs)
        for mine, theirs in zip(one.co_consts, other.co_consts, strict=True)
    ]
    names = (
        "co_code",
        "co_firstlineno",
        "co_names",
        "co_varnames",
        "co_freevars",
        "co_cellvars",
        "co_argcount",
        "co_kwonlyargcount",
    )
    return all(same) and all(getattr(one, name) == getattr(other, name) for name in names)
