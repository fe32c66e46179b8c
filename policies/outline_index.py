"""The names of a network's Cells, and which of them each pattern names: built once, for many policies."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from .outline import NetworkOutline
from .patterns import Pattern


class OutlineIndex:
    """Every name of every Cell by a number of its own; what holds a Cell comes before it.

    `holders` has for each name the number of the nearest name above it, -1 where none is; `of_cell` the numbers
    of each Cell's names, in the order of the outline.
    """

    def __init__(self, outline: NetworkOutline) -> None:
        """Sorts the names, and finds what holds each."""
        self.outline = outline
        given = [name for cell in outline.cells for name in cell.names]
        self.names = tuple(sorted(dict.fromkeys(given), key=_levels))
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self.holders = tuple(map(self._holder, self.names))
        self.of_cell = tuple(tuple(self._numbers[name] for name in cell.names) for cell in outline.cells)
        self._by_glob = lru_cache(maxsize=4096)(self._named_by_glob)
        self._by_type: dict[str, list[int]] = {}
        for cell, numbers in zip(outline.cells, self.of_cell, strict=True):
            for type_name in dict.fromkeys(cell.type_names):
                self._by_type.setdefault(type_name, []).extend(numbers)

    @property
    def type_names(self) -> Collection[str]:
        """Every class of every Cell."""
        return self._by_type.keys()

    def named_by(self, pattern: Pattern) -> Sequence[int]:
        """The numbers of all names that a pattern speaks of, its op aside."""
        if pattern.kind == "exact":
            return (self._numbers[pattern.name],) if pattern.name in self._numbers else ()
        if pattern.kind == "type":
            return self._by_type.get(pattern.name, ())
        return self._by_glob(pattern)

    def _named_by_glob(self, glob: Pattern) -> tuple[int, ...]:
        return tuple(number for number, name in enumerate(self.names) if glob.matches_path(name))

    def _holder(self, name: str) -> int:
        """The nearest name above that a Cell has; the network itself, "", holds all others."""
        while name:
            name = name.rpartition(".")[0]
            if name in self._numbers:
                return self._numbers[name]
        return -1


def _levels(name: str) -> int:
    return name.count(".") + 1 if name else 0
