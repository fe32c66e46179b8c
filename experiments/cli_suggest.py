"""The command `halfwise suggest`: a policy with its reasons from one float32 run, without a search."""

import json
from pathlib import Path

import click

from .cli_options import format_option
from .completing import complete_workload
from .echo import echo


@click.command(
    short_help="Suggest a policy with a reason for each layer from one float32 run; nothing is searched."
)
@click.option(
    "--workload",
    required=True,
    metavar="NAME",
    shell_complete=complete_workload,
    help="A built-in workload, or my_module:make_workload.",
)
@click.option(
    "--keep", multiple=True, metavar="PATTERN", help="Stays float32 whatever the rules say: nn.LayerNorm, a path."
)
@click.option(
    "--precision",
    type=click.Choice(["float16", "bfloat16"]),
    default="float16",
    show_default=True,
    help="What everything else computes in.",
)
@click.option(
    "--price-for", metavar="ROW", default="a100-tf32", show_default=True, help="A row of `halfwise devices`."
)
@click.option("--steps", type=click.IntRange(min=1), help="Steps of the float32 run; by default a trial's length.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="suggested.yaml",
    show_default=True,
    help="The policy file to write.",
)
@format_option
def suggest(
    workload: str, keep: tuple[str, ...], precision, price_for: str, steps: int | None, output: Path, form: str
) -> int:
    """Train WORKLOAD shortly in float32, judge each layer's values by rules, and write what they suggest.

    The policy is compiled, proven and priced, but not trained: `halfwise confirm` does that. Exit code 1 if the
    compiled step is not what it asks.
    """
    from ..evaluators.price.device_file import load_devices
    from ..evaluators.price.devices import find_device
    from ..policies import save_policy
    from .heuristics.suggest import suggest as suggest_policy

    found = suggest_policy(workload, keep, precision, find_device(price_for, load_devices()), steps)
    save_policy(found.policy, output)
    if form == "json":
        echo(json.dumps({**found.document(), "file": str(output)}, indent=1))
    else:
        echo("\n".join([*found.lines(str(output)), f"Policy file: {output}"]))
    return 0 if found.applied else 1
