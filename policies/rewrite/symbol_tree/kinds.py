"""Whether a value of a function can be a tensor: casts go around tensors, and `+` on tuples adds no numbers."""

import ast
from typing import Any, Literal

import mindspore as ms
from mindspore._c_expression import typing

from .objects import Made, Objects, OfLoop

Kind = Literal["plain", "container", "tensor", "any"]
"""Without tensors; a tuple, list or dict that may hold some; a tensor for sure; not known."""

_PLAIN_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "size", "itemsize"})
_PLAIN_CALLS = frozenset({"len", "range", "isinstance", "int", "float", "bool", "str", "type", "hasattr", "slice"})
_PLAIN_PRIMITIVES = frozenset({"Shape", "DType", "Rank", "Size"})
_PLAIN_FUNCTIONS = frozenset({"ops.shape", "ops.rank", "ops.size"})
_CONTAINERS = (ast.Tuple, ast.List, ast.Set, ast.Dict)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Kinds:
    """The kinds of the values of one function, by all that its names are set to."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def of(self, value: ast.expr) -> Kind:
        """What an expression of the function can be."""
        return self._of(value, frozenset()) or "any"

    def _of(self, value: ast.expr, seen: frozenset[str]) -> Kind | None:
        """As `of`; None for a name that is only set by way of itself."""
        if isinstance(value, ast.Constant | ast.JoinedStr):
            return "plain"
        if isinstance(value, _CONTAINERS):
            return "plain" if all(self._of(each, seen) == "plain" for each in _held(value)) else "container"
        if isinstance(value, _COMPREHENSIONS):
            return "container"
        if isinstance(value, ast.Name):
            return self._of_name(value, seen)
        if isinstance(value, ast.Attribute):
            return self._of_attribute(value)
        if isinstance(value, ast.Subscript | ast.Starred):
            return "plain" if self._of(value.value, seen) == "plain" else "any"
        if isinstance(value, ast.Call):
            return self._of_call(value)
        if isinstance(value, ast.BinOp):
            return _of_operator(value, self._of(value.left, seen), self._of(value.right, seen))
        if isinstance(value, ast.UnaryOp):
            return "plain" if isinstance(value.op, ast.Not) else self._of(value.operand, seen)
        if isinstance(value, ast.IfExp):
            return _joined([self._of(value.body, seen), self._of(value.orelse, seen)])
        return "any"

    def _of_attribute(self, value: ast.Attribute) -> Kind:
        owners = self._objects.of(value.value)
        of_tensor = owners is None or all(isinstance(each, ms.Tensor) for each in owners)
        return "plain" if of_tensor and value.attr in _PLAIN_ATTRIBUTES else self._of_objects(value)

    def _of_name(self, name: ast.Name, seen: frozenset[str]) -> Kind | None:
        if name.id in seen:
            return None
        if name.id not in self._objects.stores:
            return self._of_objects(name)
        stores = self._objects.stores[name.id]
        return _joined([self._of_store(store, seen | {name.id}) for store in stores])

    def _of_store(self, store: ast.expr | OfLoop | None, seen: frozenset[str]) -> Kind | None:
        if isinstance(store, OfLoop):
            return "plain" if self._of(store.iterated, seen) == "plain" else "any"
        return "any" if store is None else self._of(store, seen)

    def _of_objects(self, value: ast.expr) -> Kind:
        found = self._objects.of(value)
        return "any" if not found else _joined([_kind_of(each) for each in found]) or "any"

    def _of_call(self, call: ast.Call) -> Kind:
        words = ast.unparse(call.func)
        if words in _PLAIN_FUNCTIONS or (words in _PLAIN_CALLS and words not in self._objects.stores):
            return "plain"
        called = self._objects.of(call.func)
        names = {
            each.kind.__name__ if isinstance(each, Made) else getattr(each, "name", "") for each in called or ()
        }
        return "plain" if names and names <= _PLAIN_PRIMITIVES else "any"


def _held(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.Dict):
        return [each for each in (*value.keys, *value.values) if each is not None]
    return list(getattr(value, "elts", ()))


def _of_operator(value: ast.BinOp, left: Kind | None, right: Kind | None) -> Kind | None:
    if left is None or right is None:
        return left or right
    if "container" in (left, right):
        return "container"
    if left == right == "plain":
        return "plain"
    # Tuples can be added and repeated; not divided, and no number is added to them.
    repeats = isinstance(value.op, ast.Mult) and not any(map(_is_float, (value.left, value.right)))
    joins = isinstance(value.op, ast.Add) and "plain" not in (left, right)
    return "any" if (joins or repeats) and "tensor" not in (left, right) else "tensor"


def _is_float(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, float)


def _joined(kinds: list[Kind | None]) -> Kind | None:
    found: set[Kind] = {kind for kind in kinds if kind is not None}
    if not found:
        return None
    if found == {"plain", "container"}:
        return "container"
    return found.pop() if len(found) == 1 else "any"


def _kind_of(value: Any) -> Kind:
    if isinstance(value, ms.Tensor):
        return "tensor"
    if isinstance(value, bool | int | float | str | type | None.__class__):
        return "plain"
    if isinstance(value, tuple | list):
        return "plain" if all(_kind_of(each) == "plain" for each in value) else "container"
    return "plain" if isinstance(value, typing.Type) else "any"
