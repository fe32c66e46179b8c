"""What a rewriting did, as frozen values: each change, and each layer that was left, with the reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """One match that a rule changed.

    `layers` are the paths of the matched layers, in the pattern's order; calls of functions and operators stand
    in their own words. `made` is the path of the new layer, `where` class, file and line of the last call.
    """

    rule: str
    layers: tuple[str, ...]
    made: str
    where: str


@dataclass(frozen=True)
class Left:
    """A layer that the rule's pattern could have ended in and that stays as it was.

    `matched` tells whether the pattern did match there: then the rule itself left it.
    """

    rule: str
    layer: str
    where: str
    reason: str
    matched: bool = False


@dataclass(frozen=True)
class Report:
    """Everything that the rules changed and left, in the order of rules and layers."""

    changes: tuple[Change, ...]
    left: tuple[Left, ...]

    @property
    def matched(self) -> int:
        """How many matches there were: those changed, and those that a rule left."""
        return len(self.changes) + sum(left.matched for left in self.left)
