"""Commands on a study that is there: `front`, `export`, `ui`."""

from pathlib import Path

import click

from ..policies.errors import InputError
from .cli_options import Share, format_option, home_option
from .echo import echo


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
        echo(study_json(folder))
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
@click.option("--rule", help="A trial's policy: best (the default), fastest, accurate or trial:N.")
@click.option(
    "--min-speedup", type=click.FloatRange(min=1, min_open=True), help="Priced at least so many times float32."
)
@click.option("--max-quality-drop", type=Share(), help="Expected to lose no more of float32's quality: 0.5%.")
@click.option("--price-for", metavar="ROW", help="Priced on this device, not the study's (see halfwise devices).")
@click.option("--confirm", is_flag=True, help="Train what was only predicted, before it is written.")
@home_option
def export(
    study: str,
    output: Path,
    rule: str | None,
    min_speedup: float | None,
    max_quality_drop: float | None,
    price_for: str | None,
    confirm: bool,
    home: str | None,
) -> None:
    """Write one policy of STUDY to a file for your own training script.

    With a speed-up, a drop or a device the study answers from what it has learnt: nothing is trained, unless you
    --confirm.
    """
    from ..policies import save_policy
    from ..search.choice import parse_rule
    from .exporting import export_answer, export_confirmed, export_trial
    from .home import Home
    from .prediction import Target
    from .terminal import make_console, make_display

    trial_rule = parse_rule(rule or "best")
    folder = Home.find(home).existing_study(study)
    asks = min_speedup is not None or max_quality_drop is not None or price_for is not None
    if asks and rule is not None:
        raise InputError("--rule names a trial: give it, or --min-speedup, --max-quality-drop and --price-for")
    if confirm and not asks:
        raise InputError("--confirm trains an answer: ask with --min-speedup, --max-quality-drop or --price-for")
    target = Target(min_speedup, max_quality_drop)
    if not asks:
        found = export_trial(folder, trial_rule)
    elif confirm:
        found = export_confirmed(folder, target, price_for, make_display(make_console(), quiet=False))
    else:
        found = export_answer(folder, target, price_for)
    save_policy(found.policy, output)
    first, *rest = found.lines
    echo("\n".join([f"{output}: {first}", *rest]))


@click.command(short_help="Serve the MLflow pages of all studies.")
@click.option("--host", default="127.0.0.1", show_default=True, help="An address of this machine only.")
@click.option("--port", default=5000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@home_option
def ui(host: str, port: int, home: str | None) -> None:
    """Serve the MLflow pages of all studies; Ctrl-C ends it."""
    from .home import Home
    from .ui import Address, run_ui

    run_ui(Home.find(home), Address(host, port), echo)
