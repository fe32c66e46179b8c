"""The constructs with casts of a whole network as one Python file, which puts them onto that network again."""

import ast
import textwrap
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...canonical import printable
from ..patterns.code import without_defaults
from .casts import EXTRA
from .rewritten_class import CastClass, Written
from .source_text import CLASSES, HEAD, LAYERS, SETTING

_EXPRESSIONS = {id(value): name for name, value in EXTRA.items()}


def source_file(made: Mapping[str, CastClass], title: str) -> str:
    """The file; `made` are the classes with casts by the path of their layer, `title` says whose they are."""
    changed = {path: each for path, each in made.items() if each.kind is not None}
    names: dict[int, str] = {}
    for each in changed.values():
        if each.kind is not None and id(each) not in names:
            names[id(each)] = _free(each.kind.__name__, names.values())
    parts = {
        names[id(each)]: _Class(each, names[id(each)], [path for path in changed if changed[path] is each])
        for each in changed.values()
    }
    layers = "".join(f"    {path!r}: {names[id(each)]!r},\n" for path, each in changed.items())
    texts = [text for each in parts.values() for text in each.functions()]
    classes = "".join(each.entry() for each in parts.values())
    # What people named may hold anything, and stands between quotes there.
    head = HEAD.format(title=_one_line(title).replace("\\", "/").replace('"', "'"))
    return head + "".join(texts) + CLASSES.format(classes=classes) + LAYERS.format(layers=layers) + SETTING


def without_place(made: Mapping[str, CastClass]) -> list[str]:
    """Functions that such a file cannot find again: those that are defined inside of others."""
    found = [written.original for each in made.values() for written in each.functions.values()]
    return sorted({f"{each.__module__}.{each.__qualname__}" for each in found if "<" in each.__qualname__})


class _Class:
    """One class of the file: its methods, and the functions of the user's that they call."""

    def __init__(self, made: CastClass, name: str, paths: list[str]) -> None:
        self._made = made
        self._name = name
        self._shown = _one_line(", ".join(path or "the network itself" for path in paths))
        self._functions = {
            id(function): f"{name}_{written.original.__name__}" for function, written in made.functions.items()
        }

    def functions(self) -> Iterator[str]:
        """Everything that it defines, each behind two empty lines."""
        for function, written in self._made.functions.items():
            name, original = self._functions[id(function)], written.original
            place = f"{original.__module__!r}, {original.__qualname__!r}"
            yield _maker(f"make_{name}", written)
            yield f"\n\n{name} = like({place}, make_{name}, {self._names(written)})\n"
        for method, written in self._made.methods.items():
            yield _maker(f"make_{self._name}_{method}", written, f"# {self._shown}\n")

    def entry(self) -> str:
        """What stands of it in the table of classes."""
        entries = [
            f"        {method!r}: (make_{self._name}_{method}, {self._names(written)}),\n"
            for method, written in self._made.methods.items()
        ]
        return f"    {self._name!r}: {{\n{''.join(entries)}    }},\n"

    def _names(self, written: Written) -> str:
        named = (f"{name!r}: {self._expression(value)}" for name, value in written.extra.items())
        return "{" + ", ".join(named) + "}"

    def _expression(self, value: object) -> str:
        return _EXPRESSIONS.get(id(value)) or self._functions[id(value)]


def _maker(name: str, written: Written, comment: str = "") -> str:
    """A function that makes the function, given all names that it takes from around it."""
    tree = ast.FunctionDef(
        written.tree.name, without_defaults(written.tree.args), written.tree.body, decorator_list=[]
    )
    text = ast.unparse(ast.fix_missing_locations(ast.copy_location(tree, written.tree)))
    inside = textwrap.indent(text, "    ")
    return f"\n\n{comment}def {name}({', '.join(_taken(written))}):\n{inside}\n\n    return {tree.name}\n"


def _taken(written: Written) -> list[str]:
    """The names of its surroundings that a function reads, builtins aside."""
    original: Any = written.original
    around = {*written.extra, *original.__globals__, *original.__code__.co_freevars}
    local = {each.arg for each in ast.walk(written.tree.args) if isinstance(each, ast.arg)}
    names = [each for each in ast.walk(written.tree) if isinstance(each, ast.Name)]
    local |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return sorted({each.id for each in names if each.id in around} - local)


def _one_line(text: str) -> str:
    return printable(text).replace("\n", " ")


def _free(wanted: str, taken: Collection[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
