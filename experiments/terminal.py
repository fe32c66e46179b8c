"""How halfwise talks to a terminal, and to what is none."""

from typing import Any

from rich.console import Console

from ..policies.canonical import printable
from .progress import Bar, Display, Lines


class PlainConsole(Console):
    """A console for texts from elsewhere: no markup is read in them, and nothing in them steers the terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich's own, but texts are shown letter by letter."""
        shown = (printable(each) if isinstance(each, str) else each for each in objects)
        super().print(*shown, **{"markup": False, **options})


def make_console() -> PlainConsole:
    """A console that never wraps what goes into a file or a pipe; colours follow the terminal and NO_COLOR."""
    console = PlainConsole(highlight=False, soft_wrap=True)
    return console if console.is_terminal else PlainConsole(highlight=False, soft_wrap=True, width=200)


def make_display(console: PlainConsole, quiet: bool) -> Display:
    """A bar on a terminal that can draw one, else a line for each trial; nothing if `quiet`."""
    if quiet:
        return Lines(lambda text: None)
    if console.is_terminal and not console.is_dumb_terminal:
        return Bar(console)
    return Lines(console.print)
