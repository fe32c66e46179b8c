"""What a study was started with: a resumed one must be the same, or its trials could not be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..policies import Policy
from ..policies.errors import InputError
from .advisors import Advisor
from .front import Direction

Terms = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Setup:
    """The fixed terms of a study; `levels` are the policies that are tried before the sampler's.

    `judged_by` are more terms in words: what trials are compared by, and what bounds them.

    Raises:
        InputError: two levels share a name.
    """

    advisor: Advisor
    quality_direction: Direction
    levels: tuple[tuple[str, Policy], ...]
    judged_by: Terms = field(default_factory=dict[str, Sequence[str]])

    def __post_init__(self) -> None:
        """Check what neither the space nor the sampler checks."""
        names = [name for name, _ in self.levels]
        if len(set(names)) < len(names):
            raise InputError(f"each fixed policy must have a name of its own, but got {', '.join(names)}")

    def terms(self) -> dict[str, list[str]]:
        """The terms in words, which the study keeps: each a list of texts."""
        return {
            "quality direction": [self.quality_direction],
            "fixed policies": [f"{name} ({policy.digest})" for name, policy in self.levels],
            **{name: list(texts) for name, texts in self.judged_by.items()},
            **self.advisor.terms(),
        }


Changes = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""Terms that differ, by name: what was, and what is now."""


class OtherTerms(InputError):
    """A study was started with other terms than those it is to go on with; `changes` are the differences."""

    def __init__(self, changes: Changes) -> None:
        """Made of the differences."""
        said = "; ".join(_change(name, *both) for name, both in changes.items())
        super().__init__(
            f"this study was started with other terms, and its trials could not be compared: {said}. "
            "Go on with the old terms, or start a study under another name"
        )
        self.changes = changes


def changes_of(stored: Terms, now: Terms) -> Changes:
    """The terms that are not what they were, in their order."""
    both = {name: (list(stored.get(name, ())), list(now.get(name, ()))) for name in {**stored, **now}}
    return {name: (old, new) for name, (old, new) in both.items() if old != new}


def _change(name: str, old: Sequence[str], new: Sequence[str]) -> str:
    """The difference in one term, in words."""
    gone = [text for text in old if text not in new]
    added = [text for text in new if text not in old]
    if not gone and not added:
        return f"{name}: the same in another order"
    return f"{name}: was {', '.join(gone) or 'without these'}, is now {', '.join(added) or 'without these'}"
