"""`halfwise calibrate`: what this device takes for each kind of kernel, as a row for `halfwise price`."""

from pathlib import Path

import click

from ..evaluators.device_names import DeviceChoice
from .echo import echo


@click.command(short_help="Time this device's kernels; the device file lets `halfwise price` price for it.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("this-device.yaml"),
    show_default=True,
    help="The device file to write.",
)
@click.option("--name", default=None, metavar="ROW", help="The row's name; this-cpu, this-gpu or this-ascend.")
@click.option(
    "--device", type=click.Choice(["auto", "CPU", "GPU", "Ascend"]), default="auto", help="What to calibrate."
)
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    help="Time this workload's own kernels first: its prices get closer. May be given several times.",
)
@click.option(
    "--seconds", type=click.FloatRange(min=30), default=120, show_default=True, help="How long it may take in all."
)
@click.option("--quiet", is_flag=True, help="Say nothing while running, only the result.")
def calibrate(
    output: Path, name: str | None, device: DeviceChoice, workloads: tuple[str, ...], seconds: float, quiet: bool
) -> None:
    """Time single kernels on this device and write them, with rates and bandwidth, into a device file.

    Nothing else should run meanwhile. Price for it on the same kind of machine:

        halfwise price O2 --workload W --price-for this-cpu --device-file FILE
    """
    from .calibrate import calibrate_device

    def say(line: str) -> None:
        if not quiet:
            echo(line, err=True)

    made = calibrate_device(output, name, device, workloads, seconds, say)
    echo("\n".join(made.lines))
