"""The command `halfwise explain`: why quality dropped, why nothing is faster, what the gradients do."""

import dataclasses
import json
from pathlib import Path

import click

from ..policies.errors import InputError
from .cli_options import format_option, home_option
from .completing import complete_policy
from .echo import echo


@click.command(short_help="Say why quality dropped, why it is no faster, and what the gradients do.")
@click.argument("subject", metavar="STUDY|STUDY:N|POLICY", shell_complete=complete_policy)
@click.option("--workload", metavar="NAME", help="Of a policy that is no study's: compile it on this workload.")
@click.option(
    "--price-for", metavar="ROW", help="A row of `halfwise devices`, by default the study's or a100-tf32."
)
@click.option(
    "--device-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Rows of your own, over the built-in ones.",
)
@home_option
@format_option
def explain(
    subject: str,
    workload: str | None,
    price_for: str | None,
    device_file: Path | None,
    home: str | None,
    form: str,
) -> None:
    """Answer three questions about a study's choice, one of its trials, or a policy; nothing is trained.

    Of a policy alone, which nobody has trained, only its speed can be explained: it needs --workload.
    """
    from .explaining import explain_policy, explain_trial
    from .home import Home
    from .named_policy import study_named

    named = study_named(subject, Home.find(home))
    if named is not None:
        title, answers = explain_trial(named, price_for, device_file)
    elif workload is None:
        raise InputError(f"{subject} is no study: say with --workload what it is to be compiled on")
    else:
        title, answers = explain_policy(subject, workload, price_for, device_file)
    if form == "json":
        document = {"subject": title, "answers": [dataclasses.asdict(answer) for answer in answers]}
        echo(json.dumps(document, indent=1))
        return
    echo("\n".join([title, *(line for answer in answers for line in answer)]))
