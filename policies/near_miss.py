"""What the user may have meant."""

import difflib
from collections.abc import Collection, Iterable


class UnknownName(ValueError):
    """A name that stands for nothing; what was meant is looked up only when somebody reads the message.

    A file may hold thousands of wrong names, and each look-up takes milliseconds.
    """

    def __init__(self, rule: str, name: str, candidates: Collection[str]) -> None:
        """`rule` says what is allowed, and what was found."""
        super().__init__(rule)
        self.rule, self.name, self.candidates = rule, name, candidates

    def __str__(self) -> str:
        """The rule, and near misses."""
        return self.rule + hint(self.name, self.candidates)


def near_misses(word: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """The candidates that look most like `word`, best first; upper and lower case count as equal."""
    spellings = {candidate.lower(): candidate for candidate in candidates}
    close = difflib.get_close_matches(word.lower(), spellings, n=limit)
    return tuple(spellings[spelling] for spelling in close)


def hint(word: str, candidates: Iterable[str]) -> str:
    """A tail for an error message, such as "; did you mean 'MatMul'?", or nothing."""
    close = near_misses(word, candidates)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
