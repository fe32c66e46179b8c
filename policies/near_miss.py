"""What the user may have meant."""

import difflib
from collections.abc import Iterable


def near_misses(word: str, candidates: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """The candidates that look most like `word`, best first; upper and lower case count as equal."""
    spellings = {candidate.lower(): candidate for candidate in candidates}
    close = difflib.get_close_matches(word.lower(), spellings, n=limit)
    return tuple(spellings[spelling] for spelling in close)


def hint(word: str, candidates: Iterable[str]) -> str:
    """A tail for an error message, such as "; did you mean 'MatMul'?", or nothing."""
    close = near_misses(word, candidates)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
