"""One function with casts in front of what computes: a construct, a method, or a function that they call."""

import ast
import copy
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.rewrite import Node, ScopedValue

from ...ops import OP_CLASSES
from ...precision import Precision
from ...regions import AskedOps
from ..patterns.code import CannotRead, read_function, where_in
from ..patterns.flatten import blocks
from ..patterns.parsing import parse
from .callees import Callees, Computes, Layer, Rewritable, Unknown
from .casts import CAST, EXTRA, PROMOTED, TENSOR, WIDEST, cast_floats
from .kinds import Kinds
from .objects import Objects

_COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)

_WAY_OUT = (
    "write it with functions of mindspore.ops, operators and layers, or leave this policy to autocast regions"
)

Rewrite = Callable[[Rewritable], types.FunctionType | None]
"""Rewrites a function that is called; gives the new one, or None for a method, which keeps its name."""


@dataclass
class Body:
    """A function's tree with casts in it, and the names that it needs besides its own.

    `changed` tells whether anything was done to it.
    """

    tree: ast.FunctionDef
    extra: dict[str, object] = field(default_factory=dict)
    changed: bool = False


def body_of(
    function: types.FunctionType, cell: nn.Cell, is_method: bool, asked: AskedOps, rewrite: Rewrite
) -> Body:
    """Read the function and put casts in front of everything in it that is asked to compute in a precision.

    Raises:
        CannotRead: the rewriter cannot take it, or it cannot be told what something in it computes.
    """
    return _Casting(function, cell, is_method, asked, rewrite).done()


class _Casting:
    def __init__(
        self, function: types.FunctionType, cell: nn.Cell, is_method: bool, asked: AskedOps, rewrite: Rewrite
    ) -> None:
        self._function, self._cell, self._asked, self._rewrite = function, cell, asked, rewrite
        self._name = type(cell).__name__ if is_method else function.__name__
        tree = self._read()
        self._symbols = parse(_as_construct(tree, is_method), cell, self._name, function)
        self._tree: ast.FunctionDef = self._symbols.get_handler().get_ast_root()
        self._tree.name = tree.name
        if not is_method:
            del _first_parameters(self._tree)[0]
        self._objects = Objects(self._tree, function, cell if is_method else None)
        self._callees = Callees(self._objects, Kinds(self._objects), cell)
        self._kinds = Kinds(self._objects)
        self._nodes = {id(each.get_handler().get_ast()): each for each in self._symbols.nodes(all_nodes=True)}
        self._taken = {each.id for each in ast.walk(self._tree) if isinstance(each, ast.Name)}
        self._taken |= set(function.__code__.co_names) | set(self._objects.parameters)
        self._body = Body(self._tree)

    def _read(self) -> ast.FunctionDef:
        decorated = not isinstance(self._function, types.FunctionType) or hasattr(self._function, "__wrapped__")
        tree = None if decorated else read_function(self._function)
        if tree is None or tree.decorator_list:
            raise CannotRead(
                "its source cannot be read, is not what runs, or is decorated: save it in a file, plain",
                where_in(self._name, self._function),
            )
        return tree

    def done(self) -> Body:
        for statement in list(_statements(self._tree.body)):
            self._refuse_written_elements(statement)
            value = _computed(statement)
            for each in _expressions(statement):
                if each is not value:
                    self._look_inside(each, statement)
            if value is not None:
                self._in_front(value, statement)
        return self._body

    def _refuse_written_elements(self, statement: ast.stmt) -> None:
        """Elements of a tensor are written by ops of many kinds."""
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for each in targets:
            if isinstance(each, ast.Subscript) and self._kinds.of(each.value) not in ("plain", "container"):
                words = f"what writes {ast.unparse(each)} computes"
                raise self._cannot(f"it is not known {words}: {_WAY_OUT}", statement)

    def _in_front(self, value: ast.expr, statement: ast.stmt) -> None:
        called = self._callees.of(value)
        if isinstance(called, Rewritable) and isinstance(value, ast.Call):
            self._redirect(value, called)
        elif isinstance(called, Unknown):
            raise self._cannot(f"it is not known what {called.words} computes: {_WAY_OUT}", statement)
        elif isinstance(called, Computes):
            self._cast_operands(value, called.ops, statement)

    def _look_inside(self, value: ast.expr, statement: ast.stmt) -> None:
        """What stands inside an expression that is computed only sometimes must need no cast."""
        called = self._callees.of(value)
        if isinstance(called, Layer):
            return
        if not isinstance(called, Computes) or self._wanted(called.ops, value, statement) or called.ops & PROMOTED:
            raise self._cannot(
                f"`{ast.unparse(value)}` is computed inside another expression, where no cast can stand in front "
                "of it: give it a statement of its own",
                statement,
            )

    def _wanted(self, ops: frozenset[str], value: ast.expr, statement: ast.stmt) -> Precision | None:
        """The one precision that is asked of all these ops; None where they follow their inputs."""
        answers = {op: self._precision(op) for op in sorted(ops) if op in OP_CLASSES}
        if len(set(answers.values())) > 1:
            words = ", ".join(f"{op} {precision or 'as its inputs are'}" for op, precision in answers.items())
            raise self._cannot(
                f"`{ast.unparse(value)}` computes several ops, of which the policy asks {words}: "
                "give them one precision, or call them one by one",
                statement,
            )
        return next(iter(answers.values()), None)

    def _precision(self, op: str) -> Precision | None:
        if self._asked.is_white(op):
            return self._asked.low
        return "float32" if self._asked.is_black(op) else None

    def _cast_operands(self, value: ast.expr, ops: frozenset[str], statement: ast.stmt) -> None:
        slots = [slot for slot in self._slots(value) if self._kinds.of(slot.get()) != "plain"]
        precision: str | None = self._wanted(ops, value, statement)
        if precision is not None:
            precision = self._extra(precision)
        elif ops & PROMOTED:
            given = ", ".join(ast.unparse(slot.get()) for slot in slots)
            precision = f"{self._extra(WIDEST)}({given})"
        if precision is None:
            return
        if any(OP_CLASSES.get(op) == "inplace_normalization" for op in ops):
            # The rest are Parameters that it updates in place.
            slots = slots[:1]
        casts = [self._cast(slot.get(), precision, self._may_join(value), statement) for slot in slots]
        for slot, cast in zip(slots, casts, strict=True):
            slot.set(cast)

    def _may_join(self, value: ast.expr) -> bool:
        """Whether it may be tuples that are joined or repeated."""
        return isinstance(value, ast.BinOp) and self._kinds.of(value) != "tensor"

    def _cast(self, value: ast.expr, precision: str, only_tensor: bool, statement: ast.stmt) -> ast.Name:
        """Insert a cast of the value in front of the statement; its name.

        `precision` is what stands for it in the source.
        """
        base = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "value")
        name = self._free_name(f"{base}_{precision.partition('(')[0]}")
        source = ast.unparse(value)
        text = f"{self._extra(CAST)}({precision}, {source})"
        if only_tensor:
            text += f" if isinstance({source}, {self._extra(TENSOR)}) else {source}"
        self._insert(name, text, statement)
        return ast.Name(name, ast.Load())

    def _insert(self, name: str, text: str, statement: ast.stmt) -> None:
        """Let the rewriter put `name = text` in front of the statement."""
        target = ScopedValue.create_naming_value(name)
        call = Node.create_call_cell(
            cast_floats, targets=[target], args=[target], name=self._free_name("halfwise")
        )
        self._symbols.insert(self._position(statement), call)
        # The rewriter calls what it inserts as an attribute of the Cell, and knows no two calls in one.
        written: Any = ast.parse(f"{name} = {text}").body[0]
        made = call.get_handler().get_ast()
        made.targets, made.value = written.targets, written.value
        self._body.changed = True

    def _position(self, statement: ast.stmt) -> Any:
        node = self._nodes.get(id(statement))
        # The rewriter gives no place beside what it does not parse.
        position = None if node is None else self._symbols.before(node)
        if position is None:
            raise self._cannot(
                f"MindSpore's rewriter does not follow `{_first_line(statement)}`, so no cast can stand in front "
                "of it: write a plain assignment or call outside of try and with",
                statement,
            )
        return position

    def _redirect(self, call: ast.Call, called: Rewritable) -> None:
        """Call the rewritten function; a rewritten method has the old one's name."""
        made = self._rewrite(called)
        if made is not None:
            name = self._free_name(f"{called.function.__name__}_cast")
            self._body.extra[name] = made
            call.func = ast.Name(name, ast.Load())
            self._body.changed = True

    def _extra(self, wanted: str) -> str:
        """The name under which a cast or a precision is known in the function."""
        known = EXTRA[wanted]
        name = next((name for name, value in self._body.extra.items() if value is known), None)
        if name is None:
            name = self._free_name(wanted)
            self._body.extra[name] = known
        return name

    def _free_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _cannot(self, reason: str, statement: ast.stmt) -> CannotRead:
        lines = [each.lineno for each in ast.walk(statement) if isinstance(each, ast.Call | ast.BinOp)]
        line = min(lines, default=getattr(statement, "lineno", None))
        return CannotRead(reason, where_in(self._name, self._function, line))

    def _slots(self, value: ast.expr) -> list["_Slot"]:
        """Where the values stand that a call or operator computes with."""
        if isinstance(value, ast.BinOp):
            return [_Slot(value, "left"), _Slot(value, "right")]
        if isinstance(value, ast.UnaryOp):
            return [_Slot(value, "operand")]
        if not isinstance(value, ast.Call):
            return []
        given = [
            _Slot(each, "value") if isinstance(each, ast.Starred) else _Slot(value, "args", number)
            for number, each in enumerate(value.args)
        ]
        named = [_Slot(each, "value") for each in value.keywords]
        return [*self._receiver(value), *given, *named]

    def _receiver(self, call: ast.Call) -> list["_Slot"]:
        """The tensor whose method is called."""
        if not isinstance(call.func, ast.Attribute):
            return []
        owners = self._objects.of(call.func.value)
        is_tensor = owners is None or all(isinstance(each, ms.Tensor) for each in owners)
        return [_Slot(call.func, "value")] if is_tensor else []


@dataclass(frozen=True)
class _Slot:
    """One place in a syntax tree: a field of a node, or an element of the list in that field."""

    owner: ast.AST
    field: str
    number: int | None = None

    def get(self) -> ast.expr:
        value = getattr(self.owner, self.field)
        return value if self.number is None else value[self.number]

    def set(self, value: ast.expr) -> None:
        if self.number is None:
            setattr(self.owner, self.field, value)
        else:
            getattr(self.owner, self.field)[self.number] = value


def _as_construct(tree: ast.FunctionDef, is_method: bool) -> ast.FunctionDef:
    """The tree as the rewriter wants it: under the name construct, with the Cell as first parameter."""
    made = copy.deepcopy(tree)
    made.name = "construct"
    if not is_method:
        _first_parameters(made).insert(0, ast.arg("self"))
    return made


def _first_parameters(tree: ast.FunctionDef) -> list[ast.arg]:
    return tree.args.posonlyargs or tree.args.args


def _statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement, those in branches and loops too."""
    for statement in block:
        yield statement
        for inner in blocks(statement):
            yield from _statements(inner)


def _computed(statement: ast.stmt) -> ast.expr | None:
    """What the statement computes in front of all else, if casts can go in front of that."""
    value = getattr(statement, "value", None) if isinstance(statement, ast.Assign | ast.Expr) else None
    return value if isinstance(value, _COMPUTING) else None


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Everything in the statement itself that may compute, without the statements inside of it."""
    todo = [
        child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt | ast.ExceptHandler)
    ]
    while todo:
        each = todo.pop()
        if isinstance(each, _COMPUTING):
            yield each
        todo += ast.iter_child_nodes(each)


def _first_line(statement: ast.stmt) -> str:
    return ast.unparse(statement).splitlines()[0]
