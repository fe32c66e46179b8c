"""The smallest part of a set that does what the whole does, found by trying parts (delta debugging).

A. Zeller and R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE Transactions on Software
Engineering 28(2), 2002: the algorithm `ddmin`.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")


def smallest(items: Sequence[Item], works: Callable[[tuple[Item, ...]], bool]) -> tuple[Item, ...]:
    """A part of `items`, in their order, that works and from which no single item can be left out.

    That all of them together work is taken for granted and not asked. Parts are asked for in halves, quarters and
    so on, earlier items first, and none twice: about 2 log2(n) times where one of n items does it, at most
    n^2 + 3n times whatever `works` answers. Where several parts would do it is one of them, not the least of all.
    """
    known: dict[tuple[int, ...], bool] = {tuple(range(len(items))): True}

    def asked(part: Sequence[int]) -> bool:
        key = tuple(part)
        if key not in known:
            known[key] = works(tuple(items[place] for place in key))
        return known[key]

    kept = list(range(len(items)))
    if asked([]):
        return ()
    pieces = 2
    while len(kept) > 1:
        fewer = next((cut for cut in _cuts(kept, pieces) if asked(cut.left)), None)
        if fewer is not None:
            kept, pieces = fewer
        elif pieces < len(kept):
            pieces = min(2 * pieces, len(kept))
        else:
            break
    return tuple(items[place] for place in kept)


class _Cut(NamedTuple):
    """What is left, and into how many pieces to cut it next."""

    left: list[int]
    pieces: int


def _cuts(kept: Sequence[int], pieces: int) -> Iterator[_Cut]:
    """Each piece alone, which starts anew in halves; then all but each, which stays as finely cut as it was."""
    ends = [number * len(kept) // pieces for number in range(pieces + 1)]
    for start, end in pairwise(ends):
        yield _Cut(list(kept[start:end]), 2)
    for start, end in pairwise(ends) if pieces > 2 else ():
        yield _Cut([*kept[:start], *kept[end:]], pieces - 1)
