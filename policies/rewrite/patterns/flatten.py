"""Gives every call of a construct a statement of its own, in the order in which Python runs them.

MindSpore's rewriter flattens too, but backwards: of `f(self.a(x), self.b(x))` it runs b first, which changes what
random layers draw. After this it finds no calls to move, and `restored` tells whether what it made of the rest is
still the same construct.
"""

import ast
import copy
import itertools
from collections.abc import Iterator
from typing import Any

# Parts of these run only sometimes, or more than once: they stay whole.
_WHOLE = (
    ast.IfExp,
    ast.BoolOp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.NamedExpr,
    ast.JoinedStr,
)


def flattened(function: ast.FunctionDef) -> ast.FunctionDef:
    """A copy with one call a statement, each result under a new name; its docstring is gone.

    An assignment to several targets becomes several, and an annotated one a plain one.
    """
    made = copy.deepcopy(function)
    if ast.get_docstring(made, clean=False) is not None:
        made.body = made.body[1:] or [ast.copy_location(ast.Pass(), made)]
    taken = {each.id for each in ast.walk(made) if isinstance(each, ast.Name)}
    taken |= {each.arg for each in ast.walk(made) if isinstance(each, ast.arg)}
    _Flattener(taken).block(made)
    return ast.fix_missing_locations(made)


def restored(function: ast.FunctionDef, original: ast.FunctionDef) -> bool:
    """Whether the function is the original with some parts of its expressions moved into names of their own."""
    own = {each.id for each in ast.walk(original) if isinstance(each, ast.Name)}
    own |= {each.arg for each in ast.walk(original) if isinstance(each, ast.arg)}
    made = copy.deepcopy(function)
    _Restorer(own).block(made)
    return [ast.dump(each) for each in made.body] == [ast.dump(each) for each in original.body]


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements inside a statement or function."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(tree, field, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(tree, "handlers", ()):
        yield handler.body


class _Flattener(ast.NodeTransformer):
    def __init__(self, taken: set[str]):
        self.taken = taken
        self.before: list[ast.stmt] = []

    def block(self, tree: ast.AST) -> None:
        for statements in blocks(tree):
            statements[:] = [each for statement in statements for each in self.statement(statement)]

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        self.before = []
        if isinstance(statement, ast.AnnAssign) and statement.simple and statement.value is not None:
            plain = ast.Assign([statement.target], statement.value)
            statement = ast.copy_location(plain, statement)
        if isinstance(statement, ast.Assign):
            after = self.assignments(statement)
        else:
            field = {ast.Return: "value", ast.If: "test", ast.For: "iter"}.get(type(statement))
            if field is not None and getattr(statement, field) is not None:
                setattr(statement, field, self.visit(getattr(statement, field)))
            elif isinstance(statement, ast.Expr):
                statement.value = self.inside(statement.value)
            elif isinstance(statement, ast.AugAssign):
                # The rewriter leaves this statement as it is, with whatever it computes inside.
                statement.value = self.simple(self.visit(statement.value))
            after = [statement]
        found = [*self.before, *after]
        self.block(statement)
        return found

    def assignments(self, statement: ast.Assign) -> list[ast.stmt]:
        if len(statement.targets) == 1:
            statement.value = self.inside(statement.value)
            return [statement]
        value = self.visit(statement.value)
        if not isinstance(value, ast.Name):
            value = self.named(value, "value")
        return [ast.copy_location(ast.Assign([target], value), statement) for target in statement.targets]

    def inside(self, value: ast.expr) -> Any:
        """The value with the calls inside it moved out; a call itself stays, it has a statement already."""
        if isinstance(value, _WHOLE):
            return value
        return self.generic_visit(value) if isinstance(value, ast.Call) else self.visit(value)

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "call")
            return self.named(self.generic_visit(node), name)
        if isinstance(node, _WHOLE) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
            calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
            return self.named(node, "value") if calls and not isinstance(node, ast.Lambda) else node
        node = self.generic_visit(node)
        if isinstance(node, ast.Dict):
            # The rewriter takes names in a container in a dict for text.
            nested = (ast.Tuple, ast.List, ast.Dict)
            node.values = [
                self.named(each, "value") if isinstance(each, nested) else self.simple(each)
                for each in node.values
            ]
        return node

    def simple(self, value: Any) -> Any:
        """The value, under a name of its own if it is computed by an operator."""
        return self.named(value, "value") if isinstance(value, ast.BinOp | ast.UnaryOp) else value

    def named(self, value: Any, base: str) -> ast.Name:
        names = itertools.chain([f"{base}_out"], (f"{base}_out_{number}" for number in itertools.count(2)))
        name = next(each for each in names if each not in self.taken)
        self.taken.add(name)
        assign = ast.Assign([ast.Name(name, ast.Store())], value)
        self.before.append(ast.copy_location(assign, value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)


class _Restorer(ast.NodeTransformer):
    def __init__(self, own: set[str]):
        self.own = own
        self.moved: dict[str, ast.expr] = {}

    def block(self, tree: ast.AST) -> None:
        for statements in blocks(tree):
            statements[:] = [each for each in map(self.statement, statements) if each is not None]

    def statement(self, statement: ast.stmt) -> ast.stmt | None:
        for field, value in ast.iter_fields(statement):
            if isinstance(value, ast.expr):
                setattr(statement, field, self.visit(value))
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and target.id not in self.own:
            self.moved[target.id] = statement.value
            return None
        self.block(statement)
        return statement

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.moved.pop(node.id, node)
