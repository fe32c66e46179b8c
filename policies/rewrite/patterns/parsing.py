"""Hands one function to MindSpore's rewriter, and refuses what that would change or cannot take.

`SymbolTree` is shown the function on a stand-in that holds placeholders for the layers: so it follows no call into
other Cells or functions, makes no class, writes no file and changes no Cell of the user's.
"""

import ast
import builtins
import copy
import threading
import types
from typing import Any

from mindspore import nn
from mindspore.rewrite import SymbolTree
from mindspore.rewrite.ast_helpers import AstFlattener
from mindspore.rewrite.parsers import ParserRegister
from mindspore.rewrite.symbol_tree import SymbolTreeBuilder

from .code import CannotRead, reaches_any_layer, where_in
from .flatten import flattened, restored
from .shell import HalfwiseShell

_NESTED = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Match)
_PARSER = threading.Lock()


def parse(tree: ast.FunctionDef, cell: nn.Cell, name: str, function: types.FunctionType) -> SymbolTree:
    """The rewriter's tree of a function's syntax tree, whose first parameter is the Cell.

    `name` is the class or function as messages call it; `function` is what the tree was read from.

    Raises:
        CannotRead: the rewriter cannot take it, or would change what it computes.
    """
    refuse(tree, name, function)
    flat = flattened(tree)
    with _PARSER:
        made = _parsed(copy.deepcopy(flat), cell, where_in(name, function))
    if not restored(made.get_handler().get_ast_root(), flat):
        raise CannotRead(
            "MindSpore's rewriter makes something else of its construct: write it in simpler statements",
            where_in(name, function),
        )
    return made


def _parsed(original: ast.FunctionDef, cell: nn.Cell, place: str) -> SymbolTree:
    shell = HalfwiseShell(auto_prefix=False)
    for name in cell._cells:
        # The base class takes any inputs, and is no user's class that would be parsed in its turn.
        shell._cells[name] = nn.Cell()
    shell._primitives.update(cell._primitives)
    kind = HalfwiseShell.__name__
    module = ast.Module([ast.ClassDef(kind, bases=[], keywords=[], body=[original], decorator_list=[])], [])
    builder = SymbolTreeBuilder(shell)
    # The builder has read the stand-in's own source.
    builder._ast_root = ast.fix_missing_locations(module)
    conditions, parser = set(AstFlattener.ast_if_test_cache), ParserRegister.instance().get_parser(ast.Assign)
    depth = len(parser._variables_cache)
    try:
        return SymbolTree(builder.build())
    except Exception as error:
        while len(parser._variables_cache) > depth:
            parser.restore_env()
        raise CannotRead(
            f"MindSpore's rewriter cannot parse its construct ({type(error).__name__}: {error}): write it with "
            "plain calls and assignments",
            place,
        ) from error
    finally:
        for added in set(AstFlattener.ast_if_test_cache) - conditions:
            del AstFlattener.ast_if_test_cache[added]


def refuse(tree: ast.FunctionDef, owner: str, function: types.FunctionType) -> None:
    """Refuse what the rewriter parses and then gives back as something else.

    Raises:
        CannotRead: there is such a thing in the function.
    """
    for each in ast.walk(tree):
        place = where_in(owner, function, getattr(each, "lineno", None))
        name = getattr(each, "attr", getattr(each, "id", ""))
        if name.startswith("__") and not name.endswith("__"):
            raise CannotRead(f"its construct uses the private name {name}: rename it", place)
        if isinstance(each, _NESTED) and each is not tree:
            raise CannotRead("its construct defines or imports names of its own: move that out", place)
        if isinstance(each, ast.Name) and each.id == "super":
            raise CannotRead("its construct calls super(): write out what that computes", place)
        if isinstance(each, ast.BoolOp) and isinstance(each.op, ast.Or) and _has_call(each.values[1:]):
            raise CannotRead("MindSpore's rewriter computes both sides of its `or`: write it as an `if`", place)
        if isinstance(each, ast.Compare) and _has_call(each.comparators[1:]):
            raise CannotRead(
                "MindSpore's rewriter computes all of its chained comparison: write it with `and`", place
            )
    reaching = reaches_any_layer(tree)
    if reaching is not None:
        raise CannotRead(
            f"its construct may reach any layer by {reaching}: call layers by name", where_in(owner, function)
        )


def looked_up(parts: list[str], local: frozenset[str], function: types.FunctionType) -> object:
    """What a dotted name stands for in a function, through modules only; None if it is local or not sure."""
    if parts[0] in local:
        return None
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if parts[0] in closure:
        found: Any = closure[parts[0]].cell_contents
    else:
        found = function.__globals__.get(parts[0], getattr(builtins, parts[0], None))
    for part in parts[1:]:
        if not isinstance(found, types.ModuleType):
            return None
        found = getattr(found, part, None)
    return found


def _has_call(values: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Call) for value in values for each in ast.walk(value))
