"""Printing, so that a name or a message from elsewhere is only shown and steers no terminal."""

import click

from ..policies.canonical import printable


def echo(text: str, err: bool = False, nl: bool = True) -> None:
    """Print a text as it is, but for control characters, which are escaped as JSON does it."""
    click.echo(printable(text), err=err, nl=nl)
