"""Commands on a study that is there: `front`, `ui`."""

import click

from .cli_options import format_option, home_option
from .completing import complete_study
from .echo import echo


@click.command(short_help="Show a study's trials, its front, and the chosen policy.")
@click.argument("study", shell_complete=complete_study)
@click.option("--plot/--no-plot", default=None, help="Draw the front; by default on a terminal only.")
@format_option
@home_option
def front(study: str, plot: bool | None, form: str, home: str | None) -> None:
    """Show the trials of STUDY, its front, and the policy that was chosen and why."""
    from .home import Home
    from .study_report import print_study, study_json
    from .terminal import make_console, shapes_for

    place = Home.find(home)
    folder = place.existing_study(study)
    if form == "json":
        echo(study_json(folder))
    else:
        console = make_console()
        draws = console.is_terminal if plot is None else plot
        print_study(folder, place, console, shapes_for(console) if draws else None)


@click.command(short_help="Serve the MLflow pages of all studies.")
@click.option("--host", default="127.0.0.1", show_default=True, help="An address of this machine only.")
@click.option("--port", default=5000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@home_option
def ui(host: str, port: int, home: str | None) -> None:
    """Serve the MLflow pages of all studies; Ctrl-C ends it."""
    from .home import Home
    from .ui import Address, run_ui

    run_ui(Home.find(home), Address(host, port), echo)
