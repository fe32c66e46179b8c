"""The command `halfwise diff`: what changes from one policy to another."""

import dataclasses
import json
from pathlib import Path

import click

from .cli_options import format_option, home_option
from .completing import complete_policy, complete_workload
from .echo import echo


@click.command(short_help="What changes from one policy to another: by layer, op list and price.")
@click.argument("before", metavar="A", shell_complete=complete_policy)
@click.argument("after", metavar="B", shell_complete=complete_policy)
@click.option(
    "--workload",
    metavar="NAME",
    shell_complete=complete_workload,
    help="Compile both on it: what changes op by op, and in the price.",
)
@click.option(
    "--price-for", metavar="ROW", default="a100-tf32", show_default=True, help="A row of `halfwise devices`."
)
@click.option(
    "--device-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Rows of your own, over the built-in ones.",
)
@home_option
@format_option
def diff(
    before: str,
    after: str,
    workload: str | None,
    price_for: str,
    device_file: Path | None,
    home: str | None,
    form: str,
) -> None:
    """Compare the policies A and B; exit code 0 whether they differ or not.

    Each is a level (O0 to O3, auto), a file, a text in braces, STUDY for what a study chose, or STUDY:NUMBER for
    one of its trials.
    """
    from ..evaluators.price.device_file import load_devices
    from ..evaluators.price.devices import find_device
    from .home import Home
    from .inspect_policy import inspect_policy
    from .named_policy import policy_named
    from .policy_diff import field_changes, op_changes
    from .policy_diff_words import field_lines, op_lines, price_lines

    row = find_device(price_for, load_devices(device_file))
    policies = [policy_named(text, Home.find(home)) for text in (before, after)]
    fields = field_changes(*policies)
    lines = [f"{before} -> {after}", *field_lines(fields)]
    document: dict[str, object] = {"fields": [dataclasses.asdict(each) for each in fields]}
    if workload is not None:
        a, b = (inspect_policy(policy, workload, row) for policy in policies)
        ops = op_changes(a.table, b.table)
        prices = [each.inspection.pricing for each in (a, b) if each.inspection.pricing is not None]
        lines += [*op_lines(workload, ops), *price_lines(*prices)]
        document |= {
            "workload": workload,
            "ops": [dataclasses.asdict(each) for each in ops],
            "prices": [each.model_dump(exclude={"lines"}) for each in prices],
        }
    echo(json.dumps(document, indent=1) if form == "json" else "\n".join(lines))
