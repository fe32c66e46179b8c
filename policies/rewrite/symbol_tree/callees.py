"""What a call or operator computes: known ops, nothing with floats, a layer, or a function to look into."""

import ast
import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.ops import Primitive

from .function_ops import NUMBER_OVER_TENSOR, OPERATORS, function_ops, method_ops, without_ops
from .kinds import Kinds
from .objects import Made, Objects

_CONVERTERS = (int, float, bool, str, tuple, list, dict, set, range, slice, zip, enumerate, reversed, type)


@dataclass(frozen=True)
class Computes:
    """These ops, with the floats that it is given; none where it computes with no floats."""

    ops: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Layer:
    """A Cell: what it computes is its own affair."""


@dataclass(frozen=True)
class Rewritable:
    """A function of the user's, or a method of the Cell, whose own calls are to be looked at."""

    function: types.FunctionType
    method: str | None


@dataclass(frozen=True)
class Unknown:
    """It cannot be told what is called."""

    words: str


Called = Computes | Layer | Rewritable | Unknown


class Callees:
    """Answers for the calls, operators and subscripts of one function of a Cell."""

    def __init__(self, objects: Objects, kinds: Kinds, cell: nn.Cell) -> None:
        self._objects = objects
        self._kinds = kinds
        self._cell = cell

    def of(self, expression: ast.expr) -> Called:
        """What the expression itself computes, not what stands inside of it."""
        if isinstance(expression, ast.Call):
            return self._of_call(expression)
        if isinstance(expression, ast.BinOp):
            return self._of_operator(expression, expression.op, (expression.left, expression.right))
        if isinstance(expression, ast.UnaryOp) and not isinstance(expression.op, ast.Not):
            return self._of_operator(expression, expression.op, (expression.operand,))
        if isinstance(expression, ast.Subscript):
            return self._of_subscript(expression)
        return Computes()

    def _of_operator(self, whole: ast.expr, op: ast.AST, operands: tuple[ast.expr, ...]) -> Called:
        kinds = [self._kinds.of(each) for each in operands]
        if all(kind in ("plain", "container") for kind in kinds) or "container" in kinds:
            return Computes()
        if isinstance(op, ast.Div) and kinds[0] == "plain":
            return Computes(NUMBER_OVER_TENSOR)
        name = type(op).__name__
        return Computes(OPERATORS[name]) if name in OPERATORS else Unknown(f"the operator of `{_short(whole)}`")

    def _of_subscript(self, expression: ast.Subscript) -> Called:
        """Numbers, slices and None only look at a tensor; an index that may be a tensor gathers."""
        if self._kinds.of(expression.value) == "plain" or self._objects.of(expression.value):
            return Computes()
        parts = expression.slice.elts if isinstance(expression.slice, ast.Tuple) else [expression.slice]
        if all(isinstance(each, ast.Slice) or self._kinds.of(each) == "plain" for each in parts):
            return Computes()
        return Unknown(f"the index of `{_short(expression)}`, which may be a tensor")

    def _of_call(self, call: ast.Call) -> Called:
        called = self._objects.of(call.func)
        if called:
            return _one([self._of_object(each, call) for each in called], call)
        if isinstance(call.func, ast.Attribute):
            return self._of_method(call.func, call)
        return Unknown(f"`{_short(call)}`, of which it is not sure what it calls")

    def _of_method(self, function: ast.Attribute, call: ast.Call) -> Called:
        if self._kinds.of(function.value) == "plain":
            return Computes()
        known = method_ops()
        if function.attr in known:
            return Computes(known[function.attr])
        return Unknown(f"the method .{function.attr}() of `{_short(call)}`")

    def _of_object(self, called: Any, call: ast.Call) -> Called:
        if isinstance(called, nn.Cell):
            return Layer()
        if isinstance(called, Primitive):
            return Computes(frozenset({called.name}))
        if isinstance(called, Made):
            return Computes(frozenset({called.kind.__name__}))
        if isinstance(called, type):
            return self._of_class(called, call)
        if isinstance(called, types.MethodType):
            return self._of_bound(called, call)
        if isinstance(called, types.FunctionType):
            known = function_ops()
            return Computes(known[called]) if called in known else self._of_function(called, None, call)
        # None stands for what is not there, and so is not called.
        plain = called is None or without_ops(called) or self._all_plain(call)
        return Computes() if plain else Unknown(f"`{_short(call)}`")

    def _all_plain(self, call: ast.Call) -> bool:
        given = [*call.args, *(each.value for each in call.keywords)]
        return all(self._kinds.of(each) == "plain" for each in given)

    def _of_class(self, called: type, call: ast.Call) -> Called:
        plain = called in _CONVERTERS or issubclass(called, Primitive | ms.Tensor | BaseException)
        return Computes() if plain else Unknown(f"`{_short(call)}`, which makes a {called.__name__}")

    def _of_bound(self, called: types.MethodType, call: ast.Call) -> Called:
        if isinstance(called.__self__, ms.Tensor) and isinstance(call.func, ast.Attribute):
            return self._of_method(call.func, call)
        if called.__self__ is self._cell and isinstance(called.__func__, types.FunctionType):
            return self._of_function(called.__func__, called.__func__.__name__, call)
        return Unknown(f"`{_short(call)}`, a method of another object")

    def _of_function(self, called: types.FunctionType, method: str | None, call: ast.Call) -> Called:
        own = (called.__module__ or "").split(".")[0] == "mindspore"
        # MindSpore's checks of shapes and types are named so throughout; they give no tensor.
        if own and called.__name__.lstrip("_").startswith("check_"):
            return Computes()
        if own and method is None:
            return Unknown(f"`{_short(call)}`")
        return Rewritable(called, method)


def _one(answers: Iterable[Called], call: ast.Call) -> Called:
    """The answer that all objects share; ops of several are one set."""
    found = list(dict.fromkeys(answers))
    if all(isinstance(each, Computes) for each in found):
        return Computes(frozenset(op for each in found if isinstance(each, Computes) for op in each.ops))
    if len(found) == 1:
        return found[0]
    # A layer that may be left out (None) is still a layer.
    if set(found) == {Layer(), Computes()}:
        return Layer()
    return Unknown(f"`{_short(call)}`, which calls one thing or another")


def _short(expression: ast.AST) -> str:
    text = " ".join(ast.unparse(expression).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
