"""One function with casts in front of what computes: a construct, a method, or a function that they call."""

import ast
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.rewrite import Node, ScopedValue

from ...ops import OP_CLASSES
from ...precision import Precision
from ..patterns.code import CannotRead, read_function, where_in
from ..patterns.parsing import parse
from .callees import Callees, Computes, Layer, Rewritable, Unknown
from .casts import CAST, CAST_IN_BRANCH, EXTRA, PROMOTED, TENSOR, WIDEST, cast_floats
from .kinds import Kinds
from .objects import Objects
from .syntax import Slot, as_construct, computed_by, computing_in, first_line, first_parameters, statements_of
from .wanted import Wanted

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
    function: types.FunctionType, cell: nn.Cell, is_method: bool, wanted: Wanted, rewrite: Rewrite
) -> Body:
    """Read the function and put casts in front of everything in it that is asked to compute in a precision.

    Raises:
        CannotRead: the rewriter cannot take it, or it cannot be told what something in it computes.
    """
    return _Casting(function, cell, is_method, wanted, rewrite).done()


class _Casting:
    def __init__(
        self, function: types.FunctionType, cell: nn.Cell, is_method: bool, wanted: Wanted, rewrite: Rewrite
    ) -> None:
        self._function, self._cell, self._wanted, self._rewrite = function, cell, wanted, rewrite
        self._name = type(cell).__name__ if is_method else function.__name__
        tree = self._read()
        self._symbols = parse(as_construct(tree, is_method), cell, self._name, function)
        self._tree: ast.FunctionDef = self._symbols.get_handler().get_ast_root()
        self._tree.name = tree.name
        if not is_method:
            del first_parameters(self._tree)[0]
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
        own = list(statements_of(self._tree.body))
        if self._tree.name == "construct" and self._wanted.border is not None:
            self._cast_parameters(self._wanted.border)
        for statement in own:
            self._refuse_written_elements(statement)
            self._refuse_in_place(statement)
            value = computed_by(statement)
            for each in computing_in(statement):
                if each is not value:
                    self._look_inside(each, statement)
            if value is not None:
                self._in_front(value, statement)
        return self._body

    def _cast_parameters(self, precision: Precision) -> None:
        """Cast what enters before all else."""
        first = self._tree.body[0]
        for name in self._objects.parameters[1:]:
            self._insert(name, f"{self._extra(CAST)}({self._extra(precision)}, {name})", first)

    def _refuse_written_elements(self, statement: ast.stmt) -> None:
        """Elements of a tensor are written by ops of many kinds."""
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for each in targets:
            if isinstance(each, ast.Subscript) and self._kinds.of(each.value) not in ("plain", "container"):
                words = first_line(statement)
                raise self._cannot(f"it is not known what is computed by `{words}`: {_WAY_OUT}", statement)

    def _refuse_in_place(self, statement: ast.stmt) -> None:
        """Graph mode has an op of its own for `x += y`, which no policy names; PyNative mode computes `x + y`."""
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
            return
        computed = ast.BinOp(ast.Name(statement.target.id, ast.Load()), statement.op, statement.value)
        called = self._callees.of(computed)
        ops = called.ops if isinstance(called, Computes) else frozenset[str]()
        if self._wanted.mode == "pynative" and any(self._wanted.precisions_of(ops).values()):
            words = first_line(statement)
            raise self._cannot(
                f"`{words}` is one op in graph mode and another in PyNative mode, which this policy is for: write "
                f"`{statement.target.id} = {ast.unparse(computed)}`",
                statement,
            )

    def _in_front(self, value: ast.expr, statement: ast.stmt) -> None:
        called = self._callees.of(value)
        if isinstance(called, Rewritable) and isinstance(value, ast.Call):
            self._redirect(value, called)
        elif isinstance(called, Unknown):
            raise self._cannot(f"it is not known what is computed by {called.words}: {_WAY_OUT}", statement)
        elif isinstance(called, Computes):
            self._cast_operands(value, called.ops, statement)

    def _look_inside(self, value: ast.expr, statement: ast.stmt) -> None:
        """What stands inside an expression that is computed only sometimes must need no cast."""
        called = self._callees.of(value)
        if isinstance(called, Layer):
            return
        if not isinstance(called, Computes) or self._one_of(called.ops, value, statement) or called.ops & PROMOTED:
            raise self._cannot(
                f"`{ast.unparse(value)}` is computed inside another expression, where no cast can stand in front "
                "of it: give it a statement of its own",
                statement,
            )

    def _one_of(self, ops: frozenset[str], value: ast.expr, statement: ast.stmt) -> Precision | None:
        """The one precision that is asked of all these ops; None where they follow their inputs."""
        answers = self._wanted.precisions_of(ops)
        if len(set(answers.values())) > 1:
            words = ", ".join(f"{op} {precision or 'as its inputs are'}" for op, precision in answers.items())
            raise self._cannot(
                f"`{ast.unparse(value)}` computes several ops, of which the policy asks {words}: "
                "give them one precision, or call them one by one",
                statement,
            )
        return next(iter(answers.values()), None)

    def _cast_operands(self, value: ast.expr, ops: frozenset[str], statement: ast.stmt) -> None:
        slots = [slot for slot in self._slots(value) if self._kinds.of(slot.get()) != "plain"]
        precision: str | None = self._one_of(ops, value, statement)
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
        top = any(statement is each for each in self._tree.body)
        text = f"{self._extra(CAST if top else CAST_IN_BRANCH)}({precision}, {source})"
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
                f"MindSpore's rewriter does not follow `{first_line(statement)}`, so no cast can stand in front "
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

    def _slots(self, value: ast.expr) -> list["Slot"]:
        """Where the values stand that a call or operator computes with."""
        if isinstance(value, ast.BinOp):
            return [Slot(value, "left"), Slot(value, "right")]
        if isinstance(value, ast.UnaryOp):
            return [Slot(value, "operand")]
        if not isinstance(value, ast.Call):
            return []
        given = [
            Slot(each, "value") if isinstance(each, ast.Starred) else Slot(value, "args", number)
            for number, each in enumerate(value.args)
        ]
        named = [Slot(each, "value") for each in value.keywords]
        return [*self._receiver(value), *given, *named]

    def _receiver(self, call: ast.Call) -> list["Slot"]:
        """The tensor whose method is called."""
        if not isinstance(call.func, ast.Attribute):
            return []
        owners = self._objects.of(call.func.value)
        is_tensor = owners is None or all(isinstance(each, ms.Tensor) for each in owners)
        return [Slot(call.func, "value")] if is_tensor else []
