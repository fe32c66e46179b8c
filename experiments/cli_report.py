"""The command `halfwise report`: a study as one page."""

from pathlib import Path

import click

from .cli_options import home_option
from .completing import complete_study
from .echo import echo


@click.command(short_help="Write a study as one HTML page that needs nothing else.")
@click.argument("study", shell_complete=complete_study)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="report.html",
    show_default=True,
    help="The page to write.",
)
@home_option
def report(study: str, output: Path, home: str | None) -> None:
    """Write STUDY as one page: answer, front, each layer's precision and why, curves, casts, all trials."""
    from ..policies.whole_file import write_text
    from .home import Home
    from .report import report_html

    page = report_html(Home.find(home).existing_study(study))
    write_text(output, page)
    echo(f"wrote {output} ({len(page.encode()) / 1e3:,.0f} kB): open it in a browser")
