"""The command `halfwise widen`: from a level, one list entry after the other, trained after each."""

import json
from pathlib import Path

import click

from ..policies.errors import InputError
from .cli_options import format_option, quiet_option
from .completing import complete_workload
from .echo import echo


@click.command(short_help="Widen a precision list one entry at a time, and train after each, as is often advised.")
@click.option(
    "--workload",
    required=True,
    metavar="NAME",
    shell_complete=complete_workload,
    help="A built-in workload, or my_module:make_workload.",
)
@click.option(
    "--from", "start", type=click.Choice(["O1", "O3"]), default="O3", show_default=True, help="The first list."
)
@click.option(
    "--towards",
    type=click.Choice(["float32", "low"]),
    help="Widen the list of what stays float32, or of what goes low; by default float32 from O3, low from O1.",
)
@click.option(
    "--price-for", metavar="ROW", default="a100-tf32", show_default=True, help="A row of `halfwise devices`."
)
@click.option("--steps", type=click.IntRange(min=1), help="Steps of each training; by default a trial's length.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of every training.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where each step is kept, so that the same command goes on; by default widen-WORKLOAD.",
)
@format_option
@quiet_option
def widen(
    workload: str,
    start,
    towards,
    price_for: str,
    steps: int | None,
    seed: int,
    folder: Path | None,
    form: str,
    quiet: bool,
) -> int:
    """Train WORKLOAD with a level's list, then with one more entry each time: layer classes and ops.

    Towards float32 the likeliest harm comes first, and it ends where the list trains as well as float32; towards
    low precision the least likely harm comes first, and it ends where the list breaks. Exit code 1 if none holds.
    """
    from ..evaluators.price.device_file import load_devices
    from ..evaluators.price.devices import find_device
    from .heuristics.widen import Wish
    from .heuristics.widen import widen as widen_list
    from .terminal import make_console, make_display

    direction = towards or ("float32" if start == "O3" else "low")
    if start == "O3" and direction == "low":
        raise InputError("--from O3 --towards low: all is low in O3 already; go towards float32, or start at O1")
    wish = Wish(workload=workload, start=start, towards=direction, row=price_for, seed=seed, steps=steps)
    place = (folder or Path(f"widen-{workload.partition(':')[2] or workload}")).absolute()
    display = make_display(make_console(stderr=form == "json"), quiet)
    found = widen_list(wish, find_device(price_for, load_devices()), place, display)
    echo(json.dumps(found.document(), indent=1) if form == "json" else "\n".join(found.lines()))
    return 0 if found.best is not None else 1
