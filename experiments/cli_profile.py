"""The command `halfwise profile`: where the time of a training step goes, measured and priced."""

import json
from pathlib import Path

import click

from ..evaluators.device_names import DeviceChoice
from .cli_options import format_option
from .completing import complete_level, complete_workload
from .echo import echo


@click.command(short_help="Where a training step's time goes: by precision, casts, and the costliest float32 ops.")
@click.option(
    "--workload",
    required=True,
    metavar="NAME",
    shell_complete=complete_workload,
    help="A built-in workload, or my_module:make_workload.",
)
@click.option(
    "--policy",
    shell_complete=complete_level,
    default="O0",
    show_default=True,
    help="A level, a policy file, or a text in braces.",
)
@click.option("--steps", type=click.IntRange(min=1), default=20, show_default=True, help="Training steps to time.")
@click.option(
    "--device",
    type=click.Choice(["auto", "CPU", "GPU", "Ascend"]),
    default="auto",
    show_default=True,
    help="Where to train; auto takes the first of Ascend, GPU, CPU.",
)
@click.option(
    "--price-for",
    metavar="ROW",
    default="a100-tf32",
    show_default=True,
    help="A row of `halfwise devices`, priced beside.",
)
@click.option(
    "--device-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Rows of your own, over the built-in ones.",
)
@format_option
def profile(
    workload: str,
    policy: str,
    steps: int,
    device: DeviceChoice,
    price_for: str,
    device_file: Path | None,
    form: str,
) -> None:
    """Train WORKLOAD for a few steps under POLICY with MindSpore's profiler on."""
    from ..evaluators.price.device_file import load_devices
    from ..evaluators.price.devices import find_device
    from .inspect_policy import read_policy
    from .profile_words import profile_lines
    from .profiling import profile_workload

    row = find_device(price_for, load_devices(device_file))
    found = profile_workload(workload, read_policy(policy), row, steps, device)
    echo(json.dumps(found.model_dump(), indent=1) if form == "json" else "\n".join(profile_lines(policy, found)))
