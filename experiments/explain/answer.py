"""An answer to one question, in words: what is so, with numbers, what that rests on, and what to do next."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """`short` is one sentence, `lines` the numbers behind it, `next_commands` what a person would type now.

    `rests_on` says of what kind the figures are: measured, priced, or predicted by rules and beliefs.
    """

    question: str
    short: str
    lines: tuple[str, ...]
    rests_on: str
    next_commands: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[str]:
        """The lines for a terminal."""
        yield f"{self.question} {self.short}"
        yield from (f"  {line}" for line in self.lines)
        yield f"  rests on: {self.rests_on}"
        yield from (f"  next: {command}" for command in self.next_commands)
