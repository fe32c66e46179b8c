"""The command `halfwise init`: files to begin with."""

import shlex
from pathlib import Path

import click

from .echo import echo


@click.command(short_help="Write an experiment file and a workload to begin with; they run as they are.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".", metavar="[DIR]")
def init(folder: Path) -> None:
    """Write search.yaml and my_workload.py into DIR, by default the working folder; nothing is overwritten."""
    from .starter_files import FILES, write_starter

    write_starter(folder)
    echo("\n".join(f"wrote {folder / name}" for name in FILES))
    echo(f"Try them as they are: {shlex.join(['halfwise', 'search', str(folder / 'search.yaml')])}")
    echo("Then put your own network, data and metric into my_workload.py.")
