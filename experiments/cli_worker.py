"""`halfwise worker`: make trials for a study that a search has begun."""

from pathlib import Path

import click

from ..evaluators.device_names import DeviceChoice
from .cli_options import home_option, quiet_option, storage_option
from .completing import complete_study


@click.command(short_help="Make trials for a study, here or on another machine.")
@click.argument("study", shell_complete=complete_study)
@storage_option
@click.option(
    "--experiment",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Refuse to start if this file is not the study's experiment.",
)
@click.option(
    "--search-path",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    help="The folder of the workload's module; by default the working folder.",
)
@click.option("--device", type=click.Choice(["auto", "CPU", "GPU", "Ascend"]), default="auto")
@click.option("--device-id", type=click.IntRange(min=0), metavar="N", help="Which of several accelerators.")
@click.option("--name", metavar="NAME", help="What this worker is called; made up if left out.")
@home_option
@quiet_option
def worker(
    study: str,
    storage: str | None,
    experiment: Path | None,
    search_path: Path,
    device: DeviceChoice,
    device_id: int | None,
    name: str | None,
    home: str | None,
    quiet: bool,
) -> None:
    """Make trials for STUDY until it has ended or its budget is used up.

    The study must have been begun by `halfwise search` with the same storage; without one it lies in a home folder
    that both see. Workers come and go as they like.
    """
    from .home import Home
    from .joining import Application, run_worker
    from .terminal import make_console, make_display

    application = Application(
        study=study,
        home=Home.find(home),
        search_path=search_path.absolute(),
        storage=storage,
        device=device,
        device_id=device_id,
        experiment=experiment,
        name=name,
    )
    run_worker(application, make_display(make_console(), quiet))
