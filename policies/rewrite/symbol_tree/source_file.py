"""The constructs with casts of a whole network as one Python file, which puts them onto that network again."""

import textwrap
from collections.abc import Collection, Iterator, Mapping

from .casts import EXTRA
from .rewritten_class import CastClass, Written
from .source_text import HEAD, LAYERS, SETTING

_EXPRESSIONS = {id(value): name for name, value in EXTRA.items()}


def source_file(made: Mapping[str, CastClass], title: str) -> str:
    """The file; `made` are the classes with casts by the path of their layer, `title` says whose they are."""
    changed = {path: each for path, each in made.items() if each.kind is not None}
    names: dict[int, str] = {}
    parts: list[str] = []
    for path, each in changed.items():
        if id(each) not in names:
            paths = [other for other, same in changed.items() if same is each]
            names[id(each)] = _free(each.kind.__name__ if each.kind else path, (*names.values(), *EXTRA))
            parts += _Class(each, names[id(each)], paths).text()
    layers = "".join(f"    {path!r}: {names[id(each)]},\n" for path, each in changed.items())
    return HEAD.format(title=title) + "".join(parts) + LAYERS.format(layers=layers) + SETTING


class _Class:
    """One class of the file, with the functions that its methods call."""

    def __init__(self, made: CastClass, name: str, paths: list[str]) -> None:
        self._made = made
        self._name = name
        self._paths = paths
        self._functions = {
            id(function): f"{name}_{written.original.__name__}" for function, written in made.functions.items()
        }

    def text(self) -> Iterator[str]:
        """Its functions, then the class, each behind two empty lines."""
        for function, written in self._made.functions.items():
            yield self._function(self._functions[id(function)], written)
        shown = ", ".join(path or "the network itself" for path in self._paths)
        yield f"\n\n# {shown}\nclass {self._name}:\n"
        for written in self._made.methods.values():
            yield textwrap.indent(written.source, "    ") + "\n\n"
        named = {name: value for written in self._made.methods.values() for name, value in written.extra.items()}
        yield f"    NAMES = {self._names(named)}\n"

    def _function(self, name: str, written: Written) -> str:
        original = written.original
        text = written.source.replace(f"def {original.__name__}(", f"def {name}(", 1)
        place = f"{original.__module__!r}, {original.__qualname__!r}"
        return f"\n\n{text}\n\n\n{name} = like({place}, {name}, {self._names(written.extra)})\n"

    def _names(self, extra: Mapping[str, object]) -> str:
        return "{" + ", ".join(f"{name!r}: {self._expression(value)}" for name, value in extra.items()) + "}"

    def _expression(self, value: object) -> str:
        return _EXPRESSIONS.get(id(value)) or self._functions[id(value)]


def without_place(made: Mapping[str, CastClass]) -> list[str]:
    """Functions that such a file cannot find again: those that are defined inside of others."""
    found = [written.original for each in made.values() for written in each.functions.values()]
    return sorted({f"{each.__module__}.{each.__qualname__}" for each in found if "<" in each.__qualname__})


def _free(wanted: str, taken: Collection[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
