"""The command `halfwise confirm`: train policies on the device that they are for, against float32."""

import click

from ..policies.errors import InputError
from .cli_options import format_option, home_option, quiet_option
from .completing import complete_policy, complete_workload
from .echo import echo


@click.command(short_help="Train policies, or a study's shortlist, on a device against float32.")
@click.argument("names", nargs=-1, required=True, metavar="STUDY | POLICY...", shell_complete=complete_policy)
@click.option(
    "--workload",
    metavar="NAME",
    shell_complete=complete_workload,
    help="What the policies are for; a study knows its own.",
)
@click.option("--device", type=click.Choice(["auto", "CPU", "GPU", "Ascend"]), help="By default the study's.")
@click.option("--steps", type=click.IntRange(min=1), help="Steps of each training; by default twice a trial's.")
@click.option(
    "--speed-budget", type=click.FloatRange(min=0, min_open=True), help="Seconds to measure each policy's speed."
)
@format_option
@home_option
@quiet_option
def confirm(
    names: tuple[str, ...],
    workload: str | None,
    device: str | None,
    steps: int | None,
    speed_budget: float | None,
    form: str,
    home: str | None,
    quiet: bool,
) -> int:
    """Train each POLICY, or the shortlist of STUDY, with fresh seeds, and float32 with the same ones.

    Says what is lost in quality and how fast it is, both measured; exit code 1 if a policy does not hold.
    """
    from .confirming_on import Wish, confirm_policies, confirm_study
    from .home import Home
    from .terminal import make_console, make_display

    display = make_display(make_console(), quiet or form == "json")
    wish = Wish(device, steps, speed_budget)
    if workload is not None:
        found = confirm_policies(names, workload, wish, display)
    elif len(names) == 1:
        place = Home.find(home)
        folder = place.existing_study(names[0])
        found = confirm_study(folder, wish, display)
        _track(folder, place, display)
    else:
        raise InputError("say what these policies are for with --workload, or name one study")
    if form == "json":
        echo(found.model_dump_json(indent=1))
    else:
        echo("\n".join(line for each in found.policies for line in each.lines(found.device)))
    return 0 if found.holds else 1


def _track(folder, place, display) -> None:
    """Bring it to the MLflow store that has the study, if one has."""
    from ..policies.errors import HalfwiseError
    from .tracking_file import read_tracking

    if (kept := read_tracking(folder)) is None:
        return
    from .sync import sync_study
    from .tracking_mlflow import MlflowCopy

    try:
        sync_study(folder, MlflowCopy(kept.uri, place.artifact_root))
    except HalfwiseError as error:
        display.note(f"{error}; `halfwise sync {folder.name}` brings it there")
