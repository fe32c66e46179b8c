"""Commands on a study that is there: `front`, `export`, `ui`."""

from pathlib import Path

import click

from .cli_options import format_option, home_option


@click.command(short_help="Show a study's trials, its front, and the chosen policy.")
@click.argument("study")
@format_option
@home_option
def front(study: str, form: str, home: str | None) -> None:
    """Show the trials of STUDY, its front, and the policy that was chosen and why."""
    from .home import Home
    from .study_report import print_study, study_json
    from .terminal import make_console

    place = Home.find(home)
    folder = place.existing_study(study)
    if form == "json":
        click.echo(study_json(folder))
    else:
        print_study(folder, place, make_console())


@click.command(short_help="Write one policy of a study to a file.")
@click.argument("study")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="policy.yaml",
    show_default=True,
    help="The policy file to write.",
)
@click.option("--rule", default="best", show_default=True, help="best, fastest, accurate or trial:N.")
@home_option
def export(study: str, output: Path, rule: str, home: str | None) -> None:
    """Write one policy of STUDY to a file for your own training script."""
    from ..evaluators.json_file import read_json
    from ..policies import save_policy
    from ..search.choice import parse_rule
    from .conclusion import annotated
    from .home import Home
    from .reasons import reasons_of
    from .study_file import StudyFile, criteria_of, point_of, read_records

    chooser = parse_rule(rule)
    folder = Home.find(home).existing_study(study)
    info = read_json(StudyFile, folder.study_file).info
    records = read_records(folder)
    points = [point_of(record, info) for record in records]
    choice = chooser.choose(points, criteria_of(info, points, records))
    record = next(record for record in records if record.number == choice.point.number)
    reasons = reasons_of(record.policy, folder, records)
    save_policy(annotated(info, record, choice.reason, reasons), output)
    click.echo(f"{output}: {choice.reason}")


@click.command(short_help="Serve the MLflow pages of all studies.")
@click.option("--host", default="127.0.0.1", show_default=True, help="An address of this machine only.")
@click.option("--port", default=5000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@home_option
def ui(host: str, port: int, home: str | None) -> None:
    """Serve the MLflow pages of all studies; Ctrl-C ends it."""
    from .home import Home
    from .ui import Address, run_ui

    run_ui(Home.find(home), Address(host, port), click.echo)
