"""A mapping that nobody can change."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class FrozenMapping(Mapping[str, V], Generic[V]):
    """Entries sorted by key, so that the order in which somebody wrote them has no meaning; pickles."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        """Copies `entries`."""
        self._entries: dict[str, V] = dict(sorted((entries or {}).items()))

    def __getitem__(self, key: str) -> V:
        """The entry under `key`; KeyError if there is none."""
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        """The keys in order."""
        return iter(self._entries)

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def __hash__(self) -> int:
        """Equal mappings have equal hashes; the values must be hashable."""
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        """As a dict would show it."""
        return repr(self._entries)
