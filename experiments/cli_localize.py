"""The command `halfwise localize`: where a failing policy leaves float32, and the least that cures it."""

import json
from pathlib import Path

import click

from .cli_options import format_option
from .completing import complete_level, complete_workload
from .echo import echo


@click.command(short_help="Say where a policy leaves float32 first, and the least that must return to it.")
@click.option(
    "--workload",
    required=True,
    metavar="NAME",
    shell_complete=complete_workload,
    help="A built-in workload, or my_module:make_workload.",
)
@click.option(
    "--policy", shell_complete=complete_level, required=True, help="A level, a policy file, or a text in braces."
)
@click.option("--steps", type=click.IntRange(min=1), help="Steps of each training; by default a trial's length.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of weights and batches.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, max=1),
    default=0.02,
    show_default=True,
    help="The share of float32's quality that may be lost.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the cured policy into this file.",
)
@format_option
def localize(
    workload: str,
    policy: str,
    steps: int | None,
    seed: int,
    tolerance: float,
    output: Path | None,
    form: str,
) -> None:
    """Train WORKLOAD under POLICY and in float32, compare a step op by op, and try what must return to float32."""
    from ..policies import save_policy
    from .inspect_policy import read_policy
    from .localize import localize as find
    from .localize_words import as_data, localized_lines, with_reasons

    found = find(workload, read_policy(policy), steps, seed, tolerance)
    if output is not None and found.cure is not None:
        save_policy(with_reasons(found, found.cure), output)
    echo(json.dumps(as_data(found), indent=1) if form == "json" else "\n".join(localized_lines(found)))
    if output is not None:
        echo(f"wrote {output}" if found.cure else f"{output} was not written: there is no cure", err=True)
