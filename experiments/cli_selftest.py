"""The command `halfwise selftest`: try a device out, for those who have none like it."""

from pathlib import Path

import click

from ..evaluators.device_names import DeviceChoice
from .cli_options import quiet_option
from .echo import echo


@click.command(short_help="Try a device out in minutes and write one small file that you can send.")
@click.option(
    "--device",
    type=click.Choice(["auto", "CPU", "GPU", "Ascend"]),
    default="auto",
    show_default=True,
    help="What to try; auto takes the first of Ascend, GPU, CPU.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("selftest.json"),
    show_default=True,
    help="The file to write.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=10),
    default=60,
    show_default=True,
    help="How long kernels are timed, and how long the speed of one policy is.",
)
@quiet_option
def selftest(device: DeviceChoice, output: Path, seconds: float, quiet: bool) -> int:
    """Find out what the device computes and whether policies hold on it; exit code 1 if a part fails.

    It takes 10 minutes at most. The file holds no path and no name of a host or a person: you can send it to those
    who have no such device.
    """
    from ..policies.whole_file import write_text
    from .selftest import run_selftest
    from .terminal import make_console, make_display

    found = run_selftest(device, seconds, make_display(make_console(), quiet))
    write_text(output, found.model_dump_json(indent=1))
    for name, part in found.parts.items():
        echo(f"{name}: {'passed' if part.error is None else f'FAILED: {part.error}'} ({part.seconds:.0f} s)")
    echo(f"wrote {output}: {found.device}, {', '.join(f'{k} {v}' for k, v in found.versions.items())}")
    return 0 if found.passed else 1
