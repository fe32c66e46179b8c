"""`halfwise doctor`: can this machine run a search?"""

import json
from dataclasses import asdict

import click

from ..evaluators.device_names import DeviceChoice
from .cli_options import format_option, home_option
from .echo import echo


@click.command(short_help="Check whether this machine can run a search.")
@click.option(
    "--device", type=click.Choice(["auto", "CPU", "GPU", "Ascend"]), default="auto", help="The device to check."
)
@click.option("--tracking-uri", help="An MLflow server or database to look at; by default the home's own.")
@format_option
@home_option
def doctor(device: DeviceChoice, tracking_uri: str | None, form: str, home: str | None) -> int:
    """Check versions, device, precisions, convolutions, disk and MLflow; says what to do where something is wrong.

    Exit code 1 if anything is wrong.
    """
    from .doctor import examine
    from .home import Home

    findings = []
    for finding in examine(device, Home.find(home), tracking_uri):
        findings.append(finding)
        if form == "text":
            echo(f"{'ok   ' if finding.well else 'WRONG'} {finding.text}")
            if not finding.well:
                echo(f"      {finding.remedy}")
    if form == "json":
        echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    return 0 if all(finding.well for finding in findings) else 1
