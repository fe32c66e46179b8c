"""The command `halfwise sensitivity`: which layers are likely to fail in low precision, and why."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from .cli_options import format_option
from .completing import complete_workload
from .echo import echo


@click.command(short_help="Say which layers are likely to fail in low precision, and why, without a search.")
@click.option(
    "--workload",
    required=True,
    metavar="NAME",
    shell_complete=complete_workload,
    help="A built-in workload, or my_module:make_workload.",
)
@click.option("--steps", type=click.IntRange(min=1), help="Steps of the float32 run; by default a trial's length.")
@click.option(
    "--figure", type=click.Path(dir_okay=False, path_type=Path), help="Draw the groups' bars into this PNG file."
)
@format_option
def sensitivity(workload: str, steps: int | None, figure: Path | None, form: str) -> None:
    """Train WORKLOAD shortly in float32, look at every op's values, then try each group alone in low precision."""
    from .sensitivity_run import sensitivity_of
    from .sensitivity_words import rows, sensitivity_lines

    found = sensitivity_of(workload, steps)
    if figure is not None:
        from .sensitivity_figure import save_sensitivity_figure

        save_sensitivity_figure(rows(found), f"{found.workload}: harm in low precision", figure)
    if form == "json":
        beliefs = [asdict(belief) for row in rows(found) for belief in row.beliefs.values()]
        echo(json.dumps({**found.model_dump(mode="json"), "beliefs": beliefs}, indent=1))
        return
    echo("\n".join(sensitivity_lines(found)))
