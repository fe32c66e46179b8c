"""`halfwise search`: launch a search and say what came of it."""

import shlex
import sys
from pathlib import Path

import click

from .cli_options import format_option, home_option, quiet_option, storage_option
from .echo import echo


@click.command(short_help="Search for the fastest policy that trains.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--study", help="Name of the study; by default the file's `study`, else the file's own name.")
@click.option("--trials", type=click.IntRange(min=1), help="Number of policies to try, instead of the file's.")
@click.option("--time-limit", metavar="TIME", help="End after this much time, such as 20m or 2h.")
@click.option("--full-runs", type=float, metavar="X", help="Spend at most X whole trainings' worth of steps.")
@click.option("--patience", type=int, metavar="N", help="End after N trials in a row that change nothing.")
@click.option("--rungs", metavar="N", help="Number of lengths of training; 1: all trials are equally long.")
@click.option(
    "--sampler", help="ladder, exhaustive, aimet, bisect, reinforce, tpe, nsga2 or random, instead of the file's."
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of everything random, instead of the file's.")
@click.option("--device", type=click.Choice(["auto", "CPU", "GPU", "Ascend"]), help="Instead of the file's.")
@click.option(
    "--price-for", metavar="ROW", help="Compare by the price on this device (halfwise devices lists them)."
)
@click.option("--measured", is_flag=True, help="Compare by the speed measured here, instead of a price.")
@click.option("--max-memory", metavar="SIZE", help="The most memory a policy may need, such as 16GB.")
@click.option("--warm-start", metavar="STUDY", help="Start from what this earlier study found out.")
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Make trials in N processes side by side."
)
@click.option("--devices", metavar="IDS", help="One worker for each of these accelerators, such as 0,1.")
@storage_option
@click.option("--new", "is_new", is_flag=True, help="Start a new study beside one of that name, as NAME-2.")
@click.option(
    "--resume-anyway", is_flag=True, help="Go on although versions, lengths, sampler or workload have changed."
)
@click.option(
    "--max-failures", type=click.IntRange(min=1), metavar="N", help="Stop after N failed trials in a row."
)
@click.option("--no-levels", is_flag=True, help="Leave out the amp levels O1, O2, O3 and auto.")
@click.option("--tracking-uri", help="An MLflow server or database; by default the home's own.")
@click.option("--no-mlflow", is_flag=True, help="Write nothing to MLflow.")
@home_option
@quiet_option
@format_option
def search(
    file: Path,
    study: str | None,
    trials: int | None,
    time_limit: str | None,
    full_runs: float | None,
    patience: int | None,
    rungs: str | None,
    sampler: str | None,
    seed: int | None,
    device: str | None,
    price_for: str | None,
    measured: bool,
    max_memory: str | None,
    warm_start: str | None,
    workers: int | None,
    devices: str | None,
    storage: str | None,
    is_new: bool,
    resume_anyway: bool,
    max_failures: int | None,
    no_levels: bool,
    tracking_uri: str | None,
    no_mlflow: bool,
    home: str | None,
    quiet: bool,
    form: str,
) -> None:
    """Search for the fastest policy that trains, as the experiment FILE says.

    Goes on with the study of that name if it is there already. With --format json the result is JSON, and what is
    said meanwhile goes to standard error.
    """
    from .experiment_file import load_experiment
    from .home import Home
    from .resuming import free_name
    from .runner import Launch, run_search
    from .study_report import print_study, study_json
    from .terminal import make_console, make_display

    changes = {
        "trials": trials,
        "time_limit": time_limit,
        "full_runs": full_runs,
        "patience": patience,
        "rungs": rungs,
        "sampler": sampler,
        "seed": seed,
        "device": device,
        "levels": False if no_levels else None,
        "speed": {"priced": price_for} if price_for else "measured" if measured else None,
        "max_memory": max_memory,
        "warm_start": warm_start,
        "workers": workers,
        "devices": None if devices is None else devices.split(","),
        "storage": storage,
        "max_failures": max_failures,
    }
    experiment = load_experiment(file, {name: value for name, value in changes.items() if value is not None})
    place = Home.find(home)
    name = study or experiment.study or file.stem
    if is_new:
        name = free_name(name, place, experiment.storage)
    launch = Launch(
        experiment=experiment,
        name=name,
        search_path=file.absolute().parent,
        home=place,
        command=_shown_command(experiment.storage, tracking_uri),
        resume_anyway=resume_anyway,
    )
    console = make_console(stderr=form == "json")
    display = make_display(console, quiet)
    uri = None if no_mlflow else tracking_uri or place.tracking_uri
    run_search(launch, _tracker(uri, place, display), display)
    if form == "json":
        echo(study_json(place.study_folder(name)))
    else:
        print_study(place.study_folder(name), place, console)


def _shown_command(storage: str | None, tracking_uri: str | None) -> str:
    """The command line as it may be shown and kept: without the passwords of the storage and of MLflow."""
    from .tracking_uri import without_password

    words = ["halfwise", *sys.argv[1:]]
    if tracking_uri is not None:
        words = [word.replace(tracking_uri, without_password(tracking_uri)) for word in words]
    if storage is not None:
        from ..search.storage_address import StorageAddress

        shown = str(StorageAddress.parse(storage, Path()))
        words = [word.replace(storage, shown) for word in words]
    return shlex.join(words)


def _tracker(uri, place, display):
    from .tracking import NoTracker

    if uri is None:
        return NoTracker()
    from .tracking_background import BackgroundTracker
    from .tracking_mlflow import MlflowCopy

    return BackgroundTracker(MlflowCopy(uri, place.artifact_root), display.note)
