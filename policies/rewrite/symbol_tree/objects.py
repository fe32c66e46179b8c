"""What names and attributes in a function stand for, as far as that is sure before it runs."""

import ast
import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mindspore as ms
from mindspore import nn
from mindspore.ops import Primitive

from ..network_outline import CONTAINERS
from ..patterns.parsing import looked_up


@dataclass(frozen=True)
class Made:
    """An object that the function itself makes: a primitive of this class."""

    kind: type


@dataclass(frozen=True)
class OfLoop:
    """An element of what a loop goes through, under one of the targets of `for i, layer in enumerate(...)`."""

    iterated: ast.expr
    place: tuple[int, ...]


class Objects:
    """The objects behind the expressions of one function of a Cell."""

    def __init__(self, tree: ast.FunctionDef, function: types.FunctionType, cell: nn.Cell | None) -> None:
        """`cell` is what the first parameter stands for, None for a function that is no method."""
        self._tree = tree
        self._function = function
        self._cell = cell

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters."""
        given = self._tree.args
        named = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        return tuple(each.arg for each in named if each is not None)

    @cached_property
    def stores(self) -> dict[str, list[ast.expr | OfLoop | None]]:
        """What each local name is set to; None for what is not followed."""
        found: dict[str, list[ast.expr | OfLoop | None]] = {}
        for name, value in self._stored():
            found.setdefault(name, []).append(value)
        own = self.parameters[:1] if self._cell is not None else ()
        for name in self.parameters:
            if name not in own:
                found.setdefault(name, []).append(None)
        return found

    @cached_property
    def _set_attributes(self) -> frozenset[str]:
        stored = (each for each in ast.walk(self._tree) if isinstance(each, ast.Attribute))
        return frozenset(each.attr for each in stored if isinstance(each.ctx, ast.Store))

    def of(self, expression: ast.expr, seen: frozenset[str] = frozenset()) -> tuple[Any, ...] | None:
        """Every object that the expression may stand for, or None where that is not sure."""
        if isinstance(expression, ast.Name):
            return self._of_name(expression.id, seen)
        if isinstance(expression, ast.Attribute):
            return self._attributes(self.of(expression.value, seen), expression.attr)
        if isinstance(expression, ast.Subscript):
            return _elements(self.of(expression.value, seen), expression.slice)
        if isinstance(expression, ast.Call):
            kinds = self.of(expression.func, seen)
            made = kinds is not None and all(
                isinstance(kind, type) and issubclass(kind, Primitive) for kind in kinds
            )
            return tuple(Made(kind) for kind in kinds) if kinds and made else None
        return None

    def _of_name(self, name: str, seen: frozenset[str]) -> tuple[Any, ...] | None:
        if name in self.parameters[:1] and self._cell is not None and name not in self.stores:
            return (self._cell,)
        if name not in self.stores:
            found = looked_up([name], frozenset(), self._function)
            return None if found is None else (found,)
        if name in seen:
            return None
        found = [self._of_store(store, seen | {name}) for store in self.stores[name]]
        return None if None in found else tuple(each for group in found if group for each in group)

    def _of_store(self, store: ast.expr | OfLoop | None, seen: frozenset[str]) -> tuple[Any, ...] | None:
        if isinstance(store, OfLoop):
            return self._of_loop(store.iterated, store.place, seen)
        return None if store is None else self.of(store, seen)

    def _of_loop(self, iterated: ast.expr, place: tuple[int, ...], seen: frozenset[str]) -> tuple[Any, ...] | None:
        if isinstance(iterated, ast.Name) and iterated.id in self.stores and iterated.id not in seen:
            stores = self.stores[iterated.id]
            if len(stores) == 1 and isinstance(stores[0], ast.expr):
                return self._of_loop(stores[0], place, seen | {iterated.id})
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and place:
            if iterated.func.id == "enumerate" and place[0] == 1:
                return self._of_loop(iterated.args[0], place[1:], seen)
            if iterated.func.id == "zip" and place[0] < len(iterated.args):
                return self._of_loop(iterated.args[place[0]], place[1:], seen)
        return None if place else _elements(self.of(iterated, seen), None)

    def _attributes(self, owners: tuple[Any, ...] | None, name: str) -> tuple[Any, ...] | None:
        if owners is None:
            return None
        if name in self._set_attributes:
            return None
        found = [_attribute(owner, name) for owner in owners]
        return None if any(each is _UNSURE for each in found) else tuple(found)

    def _stored(self) -> Iterator[tuple[str, ast.expr | OfLoop | None]]:
        for each in ast.walk(self._tree):
            if isinstance(each, ast.Assign) and len(each.targets) == 1:
                yield from _targets(each.targets[0], each.value)
            elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
                target = ast.Name(each.target.id, ast.Load())
                yield each.target.id, ast.BinOp(target, each.op, each.value)
            elif isinstance(each, ast.For | ast.comprehension):
                yield from _loop_targets(each.target, each.iter, ())
            elif isinstance(each, ast.Assign | ast.NamedExpr | ast.With | ast.ExceptHandler | ast.Lambda):
                yield from ((name, None) for name in _set_inside(each))


_UNSURE = object()


def _attribute(owner: Any, name: str) -> Any:
    """The attribute; unsure where reading it would run the user's code, or it is not there."""
    if isinstance(inspect.getattr_static(type(owner), name, None), property):
        return _UNSURE
    try:
        return getattr(owner, name)
    except AttributeError:
        # A layer that is only there with certain settings is called behind a condition that then does not hold.
        return None if isinstance(owner, nn.Cell) else _UNSURE


def _elements(held: tuple[Any, ...] | None, index: ast.expr | None) -> tuple[Any, ...] | None:
    """What a subscript or a loop gives of Cells' containers, lists and tuples of known objects."""
    found: list[Any] = []
    for each in held or ():
        if isinstance(each, ms.Tensor) or not isinstance(each, (*CONTAINERS, list, tuple)):
            return None
        elements = list(each._cells.values()) if isinstance(each, nn.Cell) else list(each)
        number = index.value if isinstance(index, ast.Constant) else None
        sure = isinstance(number, int) and number < len(elements)
        found += [elements[number]] if sure and isinstance(number, int) else elements
    return tuple(found) if held is not None else None


def _targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        yield target.id, value
        return
    for each in ast.walk(target):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id, None


def _loop_targets(
    target: ast.expr, iterated: ast.expr, place: tuple[int, ...]
) -> Iterator[tuple[str, OfLoop | None]]:
    if isinstance(target, ast.Name):
        yield target.id, OfLoop(iterated, place)
    elif isinstance(target, ast.Tuple | ast.List):
        for number, each in enumerate(target.elts):
            yield from _loop_targets(each, iterated, (*place, number))
    else:
        yield from ((name, None) for name in _set_inside(target))


def _set_inside(tree: ast.AST) -> Iterator[str]:
    if isinstance(tree, ast.ExceptHandler) and tree.name:
        yield tree.name
    if isinstance(tree, ast.Lambda):
        yield from (each.arg for each in ast.walk(tree.args) if isinstance(each, ast.arg))
        return
    heads = [tree.items] if isinstance(tree, ast.With) else [[tree]]
    for head in (one for group in heads for one in group):
        inside = ast.walk(head) if not isinstance(head, ast.ExceptHandler) else iter(())
        for each in inside:
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                yield each.id
