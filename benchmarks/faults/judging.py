"""What must be true of a study in the end, whatever was done to it."""

from collections.abc import Iterator
from pathlib import Path

from halfwise.evaluators.outcome import Outcome
from halfwise.search.told import Told

from .study import Snapshot, Standing


def doubled(trials: int, end: Snapshot, standing: Standing) -> Iterator[str]:
    """What counts twice or not at all: numbers are unique, the budget is kept, storage and disk say the same."""
    yield from (
        f"{times} trials are number {number}" for number, times in standing.handed_out.items() if times > 1
    )
    told = {each.number: each for each in standing.counted}
    if len(standing.counted) != trials:
        yield f"{len(standing.counted)} trials count, of {trials}"
    for number in sorted(told.keys() | end.outcomes.keys()):
        yield from _disagreement(number, told.get(number), end.outcomes.get(number))
    figures: dict[str, dict[int, float]] = {}
    for number, outcome in end.outcomes.items():
        first = figures.setdefault(outcome.digest, dict(outcome.quality_by_steps))
        if any(first.get(steps, quality) != quality for steps, quality in outcome.quality_by_steps.items()):
            yield f"trial {number} is another's policy, and came to something else"


def _disagreement(number: int, told: Told | None, outcome: Outcome | None) -> Iterator[str]:
    if outcome is None:
        yield f"trial {number} counts without an outcome"
    elif told is None:
        yield f"trial {number} is on the disk and does not count"
    else:
        there = (outcome.digest, outcome.status, outcome.quality)
        if (told.digest, told.status, told.quality) != there:
            yield f"trial {number} was told as {told.status}, {told.quality}, and is {there}"


def last_words(log: Path) -> str:
    """The end of what a program has printed."""
    return log.read_text(encoding="utf-8", errors="replace")[-1500:].strip()
