"""The command `halfwise completion`: what a shell needs to complete commands, studies and policies."""

import click
from click.shell_completion import get_completion_class

from .echo import echo

PROGRAM, VARIABLE = "halfwise", "_HALFWISE_COMPLETE"


@click.command(short_help="Print what bash, zsh or fish need to complete commands and names.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    bash and zsh: eval "$(halfwise completion bash)" in ~/.bashrc or ~/.zshrc; fish: halfwise completion fish |
    source in config.fish.
    """
    script = get_completion_class(shell)
    # click has one for each of these shells.
    assert script is not None
    echo(script(context.find_root().command, {}, PROGRAM, VARIABLE).source())
