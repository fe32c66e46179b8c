"""The construct of a user's Cell, read, matched and edited as a tree of MindSpore's rewriter.

MindSpore's `SymbolTree` flattens the construct to one call a statement, says what it could not parse, and takes
the edits. Its data flow is not used: it knows of no reader inside a branch or a method call (`y.sum()`), and its
PatternEngine would fold a layer whose output they read.
"""

import ast
import operator
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from mindspore import nn
from mindspore.rewrite import Node, NodeType, ScopedValue

from .code import CannotRead, read_construct, replaced_construct, where
from .flow import Call, Flow, Statement, Step, flow_of
from .match import Found
from .parsing import looked_up, parse

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.MatMult: operator.matmul,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
_CALLS = (NodeType.CallCell, NodeType.CallPrimitive, NodeType.CallFunction, NodeType.MathOps)


class Construct:
    """A construct under the rewriter's hands; nothing reaches the Cell before `install`.

    Raises:
        CannotRead: the rewriter cannot take it, or would change what it computes.
    """

    def __init__(self, cell: nn.Cell):
        self.cell = cell
        self._new: dict[str, nn.Cell] = {}
        self._gone: set[str] = set()
        if cell.has_bprop:
            raise CannotRead("it defines its own bprop, which a rewritten construct would not fit", where(cell))
        construct = read_construct(cell)
        self._tree = parse(construct, cell, type(cell).__name__, type(cell).construct)
        self._function: ast.FunctionDef = self._tree.get_handler().get_ast_root()
        self._known = _names(construct) | set(self.parameters)

    def layers(self) -> dict[str, nn.Cell]:
        """The layers by name, as edited: those that are called no more are gone."""
        kept = {name: cell for name, cell in self.cell._cells.items() if name not in self._gone - self._new.keys()}
        return {**kept, **self._new}

    def reads(self, name: str) -> int:
        """How often the construct, as it now stands, calls or reads the layer of this name."""
        own = self._function.args.args[0].arg
        reads = [
            each for each in ast.walk(self._function) if isinstance(each, ast.Attribute) and each.attr == name
        ]
        return sum(_name(each.value) == own for each in reads)

    def where(self, line: int | None = None) -> str:
        """The class, and file and line of its construct."""
        return where(self.cell, line)

    @property
    def parameters(self) -> list[str]:
        """The names of the construct's parameters, without the Cell itself."""
        arguments = self._function.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return [each.arg for each in (*named[1:], arguments.vararg, arguments.kwarg) if each is not None]

    @property
    def flow(self) -> Flow:
        """How values flow through it, as it now stands."""
        return self._flow

    @cached_property
    def _flow(self) -> Flow:
        return flow_of(map(self._statement, self._function.body), self.parameters)

    @cached_property
    def _nodes(self) -> dict[int, Node]:
        """What the rewriter has for each statement that it took for a call, by the statement's id."""
        calls = [node for node in self._tree.nodes() if node.get_node_type() in _CALLS]
        return {id(node.get_handler().get_ast()): node for node in calls}

    def _node(self, step: Step) -> Node:
        return self._nodes[id(self._function.body[step.place])]

    def names(self, value: int, place: int) -> bool:
        """Whether the value still has a name just before the statement at `place`."""
        return self.flow.name_at(value, place) is not None

    def key(self, step: Step) -> object:
        """What tells the step from others, whatever is edited around it."""
        return self._node(step).get_handler()

    def replace(self, found: Found, cell: nn.Cell) -> str:
        """Put one call of `cell` in the place of the match; the name of the new layer.

        The layers that are no longer called go, and the first of them leaves its name to the new one. Every input
        must have a name at the match's last call.
        """
        root = found.root
        names = [self.flow.name_at(value, root.place) for value in found.inputs if value is not None]
        erased = [step for step in found.steps[:-1] if step not in found.kept]
        gone = [step.call.attribute for step in (*erased, root) if step.call.attribute]
        attribute = gone[0] if gone else self._free_name(type(cell).__name__.lower())
        call = Node.create_call_cell(
            cell,
            targets=self._node(root).get_targets(),
            args=[ScopedValue.create_naming_value(name) for name in names if name is not None],
            name=self._free_name("halfwise"),
        )
        self._tree.replace(self._node(root), [call])
        for step in sorted(erased, key=lambda each: -each.place):
            self._tree.erase(self._node(step))
        self._gone.update(gone)
        return self._made(call, attribute, cell, root.line or 0)

    def follow(self, step: Step, cell: nn.Cell, suffix: str) -> str:
        """Send the step's output through `cell` before anything reads it; the name of the new layer."""
        attribute = self._free_name(f"{step.call.attribute or 'value'}_{suffix}")
        (target,) = self._node(step).get_targets()
        call = Node.create_call_cell(cell, targets=[target], args=[target], name=self._free_name("halfwise"))
        self._tree.insert(self._tree.after(self._node(step)), call)
        return self._made(call, attribute, cell, step.line or 0)

    def install(self, made: dict[tuple[type, str], type[nn.Cell]]) -> bool:
        """Give the Cell the edited construct and its layers; whether anything was edited.

        `made` holds the classes made so far, so that equal constructs of one class share theirs.
        """
        if not self._new:
            return False
        key = (type(self.cell), ast.unparse(self._function))
        if key not in made:
            made[key] = replaced_construct(self.cell, self._function)
        layers = OrderedDict(self.layers())
        self.cell.__class__ = made[key]
        self.cell.__dict__["_cells"] = layers
        return True

    def _made(self, call: Node, attribute: str, cell: nn.Cell, line: int) -> str:
        made = call.get_handler().get_ast()
        made.value.func.attr = attribute
        # The rewriter writes every name of its own statements as if it were set there.
        fresh: Any = ast.parse(ast.unparse(made)).body[0]
        made.targets, made.value = fresh.targets, fresh.value
        each: Any
        for each in ast.walk(fresh):
            if hasattr(each, "lineno"):
                each.lineno = each.end_lineno = line
        self._new[attribute] = cell
        for cached in ("_flow", "_nodes", "_known_locals"):
            self.__dict__.pop(cached, None)
        return attribute

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while hasattr(self.cell, name) or name in self._new or name in self._known:
            number += 1
            name = f"{wanted}_{number}"
        return name

    def _statement(self, tree: ast.stmt) -> Statement:
        sets = _names(tree, (ast.Store, ast.Del))
        call = self._call(tree) if len(sets) == 1 else None
        # A branch or loop may leave a name as it was, so setting it counts as reading it too.
        mentions = _names(tree, (ast.Load,)) if call is not None or _plain(tree) else _names(tree)
        lines = [each.lineno for each in ast.walk(tree) if isinstance(each, ast.Call | ast.BinOp)]
        line = min(lines, default=getattr(tree, "lineno", None))
        return Statement(mentions, sets, _short(tree), line, call)

    def _call(self, tree: ast.stmt) -> Call | None:
        if (
            id(tree) not in self._nodes
            or not isinstance(tree, ast.Assign)
            or not isinstance(tree.targets[0], ast.Name)
        ):
            return None
        value = tree.value
        if isinstance(value, ast.BinOp | ast.UnaryOp):
            operands = (value.left, value.right) if isinstance(value, ast.BinOp) else (value.operand,)
            return Call(_OPERATORS.get(type(value.op)), f"`{_short(value)}`", tuple(map(_name, operands)))
        if not isinstance(value, ast.Call):
            return None
        attribute, callee = self._callee(value.func)
        plain = not value.keywords and not any(isinstance(each, ast.Starred) for each in value.args)
        return Call(callee, ast.unparse(value.func), tuple(map(_name, value.args)), attribute, plain)

    def _callee(self, function: ast.expr) -> tuple[str | None, object]:
        """The layer's name, if it is one, and the object that is called, if that is sure."""
        parts = ast.unparse(function).split(".")
        if not all(part.isidentifier() for part in parts):
            return None, None
        if parts[0] == self._function.args.args[0].arg:
            return self._member(parts[1]) if len(parts) == 2 else (None, None)
        return None, looked_up(parts, self._known_locals, type(self.cell).construct)

    @cached_property
    def _known_locals(self) -> frozenset[str]:
        return _names(self._function, (ast.Store,)) | frozenset(self.parameters)

    def _member(self, name: str) -> tuple[str | None, object]:
        if name in self._new:
            return name, self._new[name]
        if name in self.cell._cells:
            return name, self.cell._cells[name]
        return None, self.cell._primitives.get(name)


def _names(tree: ast.AST, contexts: tuple[type, ...] = (ast.Load, ast.Store, ast.Del)) -> frozenset[str]:
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, contexts)}
    caught = {each.name for each in ast.walk(tree) if isinstance(each, ast.ExceptHandler) and each.name}
    return frozenset(names | caught if ast.Store in contexts else names)


def _plain(tree: ast.AST) -> bool:
    return isinstance(tree, ast.Assign | ast.Return) and not any(map(_opens_scope, ast.walk(tree)))


def _opens_scope(tree: ast.AST) -> bool:
    return isinstance(tree, ast.comprehension | ast.Lambda | ast.NamedExpr)


def _name(value: ast.expr) -> str | None:
    return value.id if isinstance(value, ast.Name) else None


def _short(tree: ast.AST) -> str:
    first: Iterator[str] = iter(ast.unparse(tree).splitlines())
    text = next(first)
    return text if len(text) <= 60 else f"{text[:57]}..."
