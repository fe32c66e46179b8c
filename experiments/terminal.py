"""How halfwise talks to a terminal, and to what is none."""

from rich.console import Console

from .progress import Bar, Display, Lines


def make_console() -> Console:
    """A console that never wraps what goes into a file or a pipe; colours follow the terminal and NO_COLOR."""
    console = Console(highlight=False, soft_wrap=True)
    return console if console.is_terminal else Console(highlight=False, soft_wrap=True, width=200)


def make_display(console: Console, quiet: bool) -> Display:
    """A bar on a terminal that can draw one, else a line for each trial; nothing if `quiet`."""
    if quiet:
        return Lines(lambda text: None)
    if console.is_terminal and not console.is_dumb_terminal:
        return Bar(console)
    return Lines(lambda text: console.print(text, markup=False, highlight=False))
