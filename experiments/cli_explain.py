"""The command `halfwise explain`: why quality dropped, why nothing is faster, what the gradients do."""

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..policies.errors import InputError
from .cli_options import format_option, home_option, quiet_option
from .completing import complete_policy
from .echo import echo

if TYPE_CHECKING:
    from .explain import Answer, Subject


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
@click.option(
    "--leave-one-out",
    type=click.IntRange(min=1),
    metavar="N",
    help="Of a trial that lost quality: train it with each of its N likeliest culprits back in float32.",
)
@home_option
@format_option
@quiet_option
def explain(
    subject: str,
    workload: str | None,
    price_for: str | None,
    device_file: Path | None,
    leave_one_out: int | None,
    home: str | None,
    form: str,
    quiet: bool,
) -> None:
    """Answer three questions about a study's choice, one of its trials, or a policy.

    Nothing is trained, but with --leave-one-out: that says by training which layers made quality drop, and the
    shortest list to keep in float32. Of a policy alone, which nobody has trained, only its speed can be explained:
    it needs --workload.
    """
    from .explain import subject_of
    from .explaining import explain_policy, explain_trial
    from .home import Home
    from .named_policy import study_named

    named = study_named(subject, Home.find(home))
    if named is None and leave_one_out is not None:
        raise InputError(f"{subject} is no study: --leave-one-out is for a trial of one")
    if named is not None:
        found = subject_of(named.folder, named.trial)
        title, answers = explain_trial(found, price_for, device_file)
        if leave_one_out is not None:
            answers = (*answers, _trained(found, leave_one_out, quiet or form == "json"))
    elif workload is None:
        raise InputError(f"{subject} is no study: say with --workload what it is to be compiled on")
    else:
        title, answers = explain_policy(subject, workload, price_for, device_file)
    if form == "json":
        document = {"subject": title, "answers": [dataclasses.asdict(answer) for answer in answers]}
        echo(json.dumps(document, indent=1))
        return
    echo("\n".join([title, *(line for answer in answers for line in answer)]))


def _trained(subject: "Subject", most: int, quiet: bool) -> "Answer":
    from .leaving_out import why_by_training
    from .terminal import make_console, make_display

    return why_by_training(subject, most, make_display(make_console(), quiet))
