"""Who is told of the training steps that were run, so that a search can keep to a budget."""

from typing import Protocol


class Spending(Protocol):
    """Takes down training steps as they are run: those of trials, of repeats, of confirmations, of diagnosis."""

    def add(self, steps: int) -> None:
        """So many more were run."""
        ...


class NotCounted:
    """For evaluations outside of a search."""

    def add(self, steps: int) -> None:
        """Nothing."""
