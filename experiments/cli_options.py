"""Options that several commands share."""

from typing import Any

import click


class Share(click.ParamType[float]):
    """A share from 0 to below 1, as a number or in percent: 0.005 or 0.5%."""

    name = "SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The share as a number; a usage error otherwise."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 <= share < 1:
            self.fail(f"must be at least 0 and below 1, such as 0.005 or 0.5%, but got {value!r}", param, ctx)
        return share


home_option = click.option(
    "--home",
    metavar="FOLDER",
    help="Where studies live; by default HALFWISE_HOME, else halfwise-studies in the working folder.",
)
quiet_option = click.option("--quiet", is_flag=True, help="Say nothing while running, only the result.")
storage_option = click.option(
    "--storage",
    metavar="URL",
    envvar="HALFWISE_STORAGE",
    help="A database for workers on several machines: postgresql://USER@HOST/DB; also HALFWISE_STORAGE.",
)
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print the result."
)
