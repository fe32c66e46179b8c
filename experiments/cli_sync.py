"""The command `halfwise sync`: bring to MLflow what is missing there."""

import click

from .cli_options import home_option
from .completing import complete_study
from .echo import echo


@click.command(short_help="Bring to MLflow what it lacks of a study.")
@click.argument("study", shell_complete=complete_study)
@click.option(
    "--tracking-uri", help="An MLflow server or database; by default the study's own, else the home's own."
)
@home_option
def sync(study: str, tracking_uri: str | None, home: str | None) -> None:
    """Bring to MLflow what it lacks of STUDY: runs, figures, files, and how the search ended.

    For when MLflow was away during the search, or the search was made without it. Nothing is there twice
    afterwards, however often it is brought.
    """
    from .home import Home
    from .sync import sync_study
    from .tracking_file import read_tracking
    from .tracking_mlflow import MlflowCopy

    place = Home.find(home)
    folder = place.existing_study(study)
    kept = read_tracking(folder)
    uri = tracking_uri or (place.tracking_uri if kept is None else kept.uri)
    echo(str(sync_study(folder, MlflowCopy(uri, place.artifact_root))))
