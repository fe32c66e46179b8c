"""How halfwise talks to a terminal, and to what is none."""

from typing import Any

from rich.console import Console

from ..policies.canonical import printable
from .front_plot import ASCII, UNICODE, Shapes
from .progress import Bar, Display, Lines


class PlainConsole(Console):
    """A console for texts from elsewhere: no markup is read in them, and nothing in them steers the terminal."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich's own, but texts are shown letter by letter."""
        shown = (printable(each) if isinstance(each, str) else each for each in objects)
        super().print(*shown, **{"markup": False, **options})


def make_console(stderr: bool = False) -> PlainConsole:
    """A console that never wraps what goes into a file or a pipe; colours follow the terminal and NO_COLOR."""
    console = PlainConsole(highlight=False, soft_wrap=True, stderr=stderr)
    return (
        console if console.is_terminal else PlainConsole(highlight=False, soft_wrap=True, stderr=stderr, width=200)
    )


def shapes_for(console: Console) -> Shapes:
    """What a plot is drawn with: ASCII where the terminal is dumb, NO_COLOR is set or the locale is not UTF-8."""
    plain = console.is_dumb_terminal or console.no_color or not console.encoding.startswith("utf")
    return ASCII if plain else UNICODE


def make_display(console: PlainConsole, quiet: bool) -> Display:
    """A bar on a terminal that can draw one, else a line for each trial; nothing if `quiet`."""
    if quiet:
        return Lines(lambda text: None)
    if console.is_terminal and not console.is_dumb_terminal:
        return Bar(console)
    return Lines(console.print)
