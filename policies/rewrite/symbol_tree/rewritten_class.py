"""A Cell's class with casts in its construct, its methods, and the functions of the user's that they call."""

import ast
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mindspore import nn

from ..patterns.code import CannotRead, replaced_function, replaced_methods, where, where_in
from .body import Body, body_of
from .callees import Rewritable
from .wanted import Wanted


@dataclass(frozen=True)
class Written:
    """A function with casts: its tree, the names that it is given besides, and what it was made of."""

    tree: ast.FunctionDef
    extra: Mapping[str, object]
    original: types.FunctionType


@dataclass(frozen=True)
class CastClass:
    """The class to put in place of a Cell's own, None where no cast is needed.

    `methods` are what was written of it, by name; `functions` what these call of the user's, by the new function.
    """

    kind: type[nn.Cell] | None
    methods: Mapping[str, Written]
    functions: Mapping[types.FunctionType, Written]


def class_with_casts(cell: nn.Cell, wanted: Wanted) -> CastClass:
    """Read what the Cell runs and write it anew with casts; the Cell itself is not touched.

    Raises:
        CannotRead: some of it cannot be rewritten.
    """
    return _Writer(cell, wanted).written()


class _Writer:
    def __init__(self, cell: nn.Cell, wanted: Wanted) -> None:
        self._cell = cell
        self._wanted = wanted
        self._methods: dict[str, Body] = {}
        self._functions: dict[types.FunctionType, types.FunctionType | None] = {}
        self._written: dict[types.FunctionType, Written] = {}
        self._open: list[types.FunctionType] = []

    def written(self) -> CastClass:
        if self._cell.has_bprop and self._wanted.asked.precisions:
            raise CannotRead(
                "it defines its own bprop, which a rewritten construct would not fit: take it out",
                where(self._cell),
            )
        self._method("construct")
        changed = {name: body for name, body in self._methods.items() if body.changed}
        trees = {name: (body.tree, body.extra) for name, body in changed.items()}
        kind = replaced_methods(type(self._cell), trees) if trees else None
        methods = {name: _written(body, getattr(type(self._cell), name)) for name, body in changed.items()}
        return CastClass(kind, methods, self._written)

    def _method(self, name: str) -> None:
        if name not in self._methods:
            function: Any = getattr(type(self._cell), name)
            self._methods[name] = self._body(function, is_method=True)

    def _rewrite(self, called: Rewritable) -> types.FunctionType | None:
        if called.method is not None:
            self._method(called.method)
            return None
        function: Any = called.function
        if function not in self._functions:
            self._functions[function] = self._function(function)
        return self._functions[function]

    def _function(self, function: types.FunctionType) -> types.FunctionType | None:
        """The function with casts, None where it needs none."""
        body = self._body(function, is_method=False)
        if not body.changed:
            return None
        made = replaced_function(function, body.tree, body.extra)
        self._written[made] = _written(body, function)
        return made

    def _body(self, function: types.FunctionType, is_method: bool) -> Body:
        if function in self._open:
            raise CannotRead("it calls itself: write it as a loop", where_in(type(self._cell).__name__, function))
        self._open.append(function)
        body = body_of(function, self._cell, is_method, self._wanted, self._rewrite)
        self._open.pop()
        return body


def _written(body: Body, original: types.FunctionType) -> Written:
    return Written(body.tree, body.extra, original)
