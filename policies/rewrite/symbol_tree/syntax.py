"""The statements of a function's syntax tree, what they compute, and the places of what that is computed from."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from ..patterns.flatten import blocks

COMPUTING = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript)
"""The expressions that may compute an op."""


@dataclass(frozen=True)
class Slot:
    """One place in a syntax tree: a field of a node, or an element of the list in that field."""

    owner: ast.AST
    field: str
    number: int | None = None

    def get(self) -> ast.expr:
        """What stands there."""
        value = getattr(self.owner, self.field)
        return value if self.number is None else value[self.number]

    def set(self, value: ast.expr) -> None:
        """Put something else there."""
        if self.number is None:
            setattr(self.owner, self.field, value)
        else:
            getattr(self.owner, self.field)[self.number] = value


def as_construct(tree: ast.FunctionDef, is_method: bool) -> ast.FunctionDef:
    """The tree as the rewriter wants it: under the name construct, with the Cell as first parameter."""
    made = copy.deepcopy(tree)
    made.name = "construct"
    if not is_method:
        first_parameters(made).insert(0, ast.arg("self"))
    return made


def first_parameters(tree: ast.FunctionDef) -> list[ast.arg]:
    """The list that holds the function's first parameter."""
    return tree.args.posonlyargs or tree.args.args


def statements_of(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement, those in branches and loops too."""
    for statement in block:
        yield statement
        for inner in blocks(statement):
            yield from statements_of(inner)


def computed_by(statement: ast.stmt) -> ast.expr | None:
    """What the statement computes in front of all else, if casts can go in front of that."""
    value = getattr(statement, "value", None) if isinstance(statement, ast.Assign | ast.Expr) else None
    return value if isinstance(value, COMPUTING) else None


def computing_in(statement: ast.stmt) -> Iterator[ast.expr]:
    """Everything in the statement itself that may compute, without the statements inside of it."""
    todo = [
        child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt | ast.ExceptHandler)
    ]
    while todo:
        each = todo.pop()
        if isinstance(each, COMPUTING):
            yield each
        todo += ast.iter_child_nodes(each)


def first_line(statement: ast.stmt) -> str:
    """The statement in words: of a branch or loop its head."""
    return ast.unparse(statement).splitlines()[0]
