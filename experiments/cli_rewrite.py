"""The command `halfwise rewrite`: pattern rules on a workload's network."""

from pathlib import Path

import click

from ..policies import Mode
from .cli_options import format_option
from .completing import complete_workload
from .echo import echo


@click.command(short_help="Apply rewrite rules to a workload's network: what changed, what was left, and why.")
@click.option(
    "--workload",
    required=True,
    metavar="NAME",
    shell_complete=complete_workload,
    help="A built-in workload, or my_module:make_workload.",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    required=True,
    metavar="RULE",
    help="fold-batchnorm, check-finite, clip-value=LIMIT or clip-norm=LIMIT; may be given several times.",
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    metavar="TYPE",
    help="Layers that check-finite and the clips go behind; by default nn.Dense and nn.Conv2d.",
)
@click.option(
    "--mode",
    type=click.Choice(["graph", "pynative"]),
    default="graph",
    show_default=True,
    help="MindSpore's mode in which the outputs are compared.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the rewritten constructs, to be read, into this Python file.",
)
@format_option
def rewrite(
    workload: str, rules: tuple[str, ...], layers: tuple[str, ...], mode: Mode, output: Path | None, form: str
) -> None:
    """Rewrite WORKLOAD's network with fresh weights and compare its outputs with the original's.

    Fails, exit code 1, when the rewritten network computes something else than the rules allow.
    """
    from .rewrite_rules import asked_rules
    from .rewrite_run import rewriting_of
    from .rewrite_words import rewriting_lines

    found = rewriting_of(workload, asked_rules(rules, layers), mode)
    if output is not None:
        output.write_text(found.source + "\n", encoding="utf-8")
    if form == "json":
        echo(found.model_dump_json(indent=1))
    else:
        echo("\n".join(rewriting_lines(found)))
