"""Options that several commands share."""

import click

home_option = click.option(
    "--home",
    metavar="FOLDER",
    help="Where studies live; by default HALFWISE_HOME, else halfwise-studies in the working folder.",
)
quiet_option = click.option("--quiet", is_flag=True, help="Say nothing while running, only the result.")
format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print the result."
)
