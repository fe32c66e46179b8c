"""A Cell's class with casts in its construct, its methods, and the functions of the user's that they call."""

import ast
import types
from dataclasses import dataclass
from typing import Any

from mindspore import nn

from ...precision import Precision
from ...regions import AskedOps
from ..patterns.code import CannotRead, replaced_function, replaced_methods, where, where_in
from .body import Body, body_of
from .callees import Rewritable
from .casts import CAST, EXTRA


@dataclass(frozen=True)
class CastClass:
    """The class to put in place of a Cell's own, None where no cast is needed, and the source of its functions."""

    kind: type[nn.Cell] | None
    functions: tuple[str, ...]


def class_with_casts(cell: nn.Cell, asked: AskedOps, border: Precision | None) -> CastClass:
    """Read what the Cell runs and write it anew with casts; the Cell itself is not touched.

    `border` is what the construct's own inputs are cast to before all else.

    Raises:
        CannotRead: some of it cannot be rewritten.
    """
    return _Writer(cell, asked).written(border)


class _Writer:
    def __init__(self, cell: nn.Cell, asked: AskedOps) -> None:
        self._cell = cell
        self._asked = asked
        self._methods: dict[str, Body] = {}
        self._functions: dict[types.FunctionType, types.FunctionType | None] = {}
        self._texts: list[str] = []
        self._open: list[types.FunctionType] = []

    def written(self, border: Precision | None) -> CastClass:
        if self._cell.has_bprop and (self._asked.precisions or border):
            raise CannotRead(
                "it defines its own bprop, which a rewritten construct would not fit: take it out",
                where(self._cell),
            )
        self._method("construct")
        construct = self._methods["construct"]
        if border is not None:
            _cast_inputs(construct, border)
        changed = {name: (body.tree, body.extra) for name, body in self._methods.items() if body.changed}
        kind = replaced_methods(type(self._cell), changed) if changed else None
        return CastClass(kind, tuple(self._texts))

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
        self._texts.append(ast.unparse(body.tree))
        return replaced_function(function, body.tree, body.extra)

    def _body(self, function: types.FunctionType, is_method: bool) -> Body:
        if function in self._open:
            raise CannotRead("it calls itself: write it as a loop", where_in(type(self._cell).__name__, function))
        self._open.append(function)
        body = body_of(function, self._cell, is_method, self._asked, self._rewrite)
        self._open.pop()
        return body


def _cast_inputs(body: Body, precision: Precision) -> None:
    """Cast every parameter of the construct first."""
    given = body.tree.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)][1:]
    cast, target = _name(body, CAST), _name(body, precision)
    casts = [ast.parse(f"{name} = {cast}({target}, {name})").body[0] for name in names]
    body.tree.body[:0] = casts
    body.changed = True


def _name(body: Body, wanted: str) -> str:
    known = EXTRA[wanted]
    name = next((name for name, value in body.extra.items() if value is known), wanted)
    body.extra[name] = known
    return name
