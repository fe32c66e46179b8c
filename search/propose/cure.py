"""The smallest set of sites whose return to float32 makes a failing policy train: names first, then halves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .delta_debugging import smallest


@dataclass(frozen=True)
class Verdict:
    """What came of returning some sites to float32: whether the run is cured, and else what it blames."""

    cured: bool
    blamed: tuple[str, ...] = ()


Test = Callable[[tuple[str, ...]], Verdict]
"""Trains with these sites in float32; it is asked for no set twice."""


def find_cure(sites: Sequence[str], test: Test, blamed: Sequence[str] = ()) -> tuple[str, ...] | None:
    """The sites that must return to float32, in their order; None if not even all of them together cure the run.

    First those that the failing run blames are returned, then those that the runs with them blame, as long as new
    ones are named; where names lead no further, all of them. What cured is cut down until no site can be left
    out. So a single hazard that is named costs one test, and one of n that nothing names about 2 log2(n).
    `sites` are those that are low; that with none returned the run fails is taken for granted.
    """
    memory = _Memory(sites, test)
    named = memory.followed(blamed)
    if named is not None:
        return memory.cut_down(named)
    # What was blamed on the way stands in front, where the first halves are.
    order = [*memory.blamed, *(site for site in sites if site not in memory.blamed)]
    return memory.cut_down(order) if memory.test(order).cured else None


class _Memory:
    """Asks for each set once; a set is the same in any order."""

    def __init__(self, sites: Sequence[str], test: Test) -> None:
        self._sites = sites
        self._test = test
        self._known: dict[frozenset[str], Verdict] = {frozenset(): Verdict(cured=False)}
        self.blamed: list[str] = []

    def test(self, chosen: Sequence[str]) -> Verdict:
        key = frozenset(chosen)
        if key not in self._known:
            self._known[key] = self._test(self._in_order(key))
        return self._known[key]

    def followed(self, blamed: Sequence[str]) -> list[str] | None:
        """The blamed sites that cure together, those that appear on the way included; None where they don't."""
        new = [site for site in dict.fromkeys(blamed) if site in self._sites]
        while new:
            self.blamed += new
            found = self.test(self.blamed)
            if found.cured:
                return self.blamed
            new = [s for s in dict.fromkeys(found.blamed) if s in self._sites and s not in self.blamed]
        return None

    def cut_down(self, chosen: Sequence[str]) -> tuple[str, ...]:
        return self._in_order(smallest(chosen, lambda part: self.test(part).cured))

    def _in_order(self, chosen: Sequence[str] | frozenset[str]) -> tuple[str, ...]:
        return tuple(site for site in self._sites if site in set(chosen))
