"""Where else a layer is reached: a call may only be replaced where nothing else reads its layer."""

import ast
import inspect
import types
from functools import cache

from mindspore import nn

from ..network_outline import CONTAINERS, named_cells
from .code import reaches_any_layer, read_function

Owner = tuple[nn.Cell, str]
"""An owner and the name that it has for the layer."""


class Places:
    """The owners of every Cell of a network, and what their classes read of them beside the construct."""

    def __init__(self, network: nn.Cell):
        # Kept no longer than this object: they hold classes, whose source files go when they do.
        self._functions, self._attributes = cache(_functions), cache(_attributes)
        self._owners: dict[int, list[Owner]] = {}
        seen: set[int] = set()
        for _, cell in named_cells(network):
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            for name, child in cell._cells.items():
                if child is not None:
                    self._owners.setdefault(id(child), []).append((cell, name))
        self._kinds = {type(cell) for _, cell in named_cells(network) if is_users(type(cell))}

    def owners(self, cell: nn.Cell) -> list[Owner]:
        """Who holds the Cell; a shared Cell has several owners, the network itself none."""
        return self._owners.get(id(cell), [])

    def read_elsewhere(self, owner: nn.Cell, name: str) -> str | None:
        """Where a layer of `owner` is read outside its construct, in a user's words, or None."""
        for kind in self._kinds:
            for function in self._functions(kind):
                for each in self._attributes(function):
                    if each.attr == name and not _of_self(each) and not _of_module(each, function):
                        return f"as {ast.unparse(each)} in {kind.__name__}"
        if not is_users(type(owner)):
            return None
        return next(filter(None, (_read_by(function, name) for function in self._functions(type(owner)))), None)

    def only_called(self, cell: nn.Cell) -> bool:
        """Whether every owner calls the Cell as a whole and takes nothing out of it."""
        return all(self._calls(owner, name) for owner, name in self.owners(cell))

    def _calls(self, owner: nn.Cell, name: str) -> bool:
        if type(owner).construct is nn.SequentialCell.construct:
            return self.only_called(owner)
        if isinstance(owner, CONTAINERS) or not is_users(type(owner)) or self.read_elsewhere(owner, name):
            return False
        tree = read_function(type(owner).construct)
        if tree is None:
            return False
        called = [id(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)]
        read = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute) and each.attr == name]
        return bool(read) and all(id(each) in called for each in read)


def _read_by(function: types.FunctionType, name: str) -> str | None:
    if function.__name__ == "construct":
        return None
    tree = read_function(function)
    if tree is None:
        return f"perhaps in {function.__qualname__}, whose source cannot be read"
    if any(each.attr == name for each in _attributes(function)):
        return f"in {function.__qualname__}"
    reaching = reaches_any_layer(tree)
    return reaching and f"perhaps in {function.__qualname__}, by {reaching}"


def is_users(kind: type) -> bool:
    """Whether a class is the user's own, not one of MindSpore's."""
    return kind.__module__.split(".")[0] != "mindspore"


def _functions(kind: type) -> tuple[types.FunctionType, ...]:
    """The construct of a class and its own methods and properties that are called from there on."""
    found: dict[str, types.FunctionType] = {}
    wanted = ["construct"]
    while wanted:
        name = wanted.pop()
        function = _function(inspect.getattr_static(kind, name, None))
        if name in found or function is None or function.__module__.split(".")[0] == "mindspore":
            continue
        found[name] = function
        wanted += [each.attr for each in _attributes(function) if _of_self(each)]
    return tuple(found.values())


def _function(member: object) -> types.FunctionType | None:
    if isinstance(member, property):
        member = member.fget
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    return member if isinstance(member, types.FunctionType) else None


def _attributes(function: types.FunctionType) -> tuple[ast.Attribute, ...]:
    tree = read_function(function)
    return () if tree is None else tuple(each for each in ast.walk(tree) if isinstance(each, ast.Attribute))


def _of_module(attribute: ast.Attribute, function: types.FunctionType) -> bool:
    name = attribute.value.id if isinstance(attribute.value, ast.Name) else ""
    return isinstance(function.__globals__.get(name), types.ModuleType)


def _of_self(attribute: ast.Attribute) -> bool:
    return isinstance(attribute.value, ast.Name) and attribute.value.id == "self"
