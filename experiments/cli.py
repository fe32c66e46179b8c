"""The command line: `halfwise COMMAND`. Heavy packages are imported by the command that needs them."""

import sys
import traceback

import click

from ..policies.errors import HalfwiseError
from .cli_calibrate import calibrate
from .cli_confirm import confirm
from .cli_doctor import doctor
from .cli_localize import localize
from .cli_policy import check, devices, ops, price
from .cli_rewrite import rewrite
from .cli_search import search
from .cli_sensitivity import sensitivity
from .cli_study import export, front, ui


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="halfwise")
@click.option("--debug", is_flag=True, help="Show where in the code an error came from.")
def halfwise(debug: bool) -> None:
    """Find out which parts of a MindSpore network may train in half precision."""


for command in (
    *(search, front, export, confirm, ui, check, price, ops, devices),
    *(calibrate, sensitivity, localize, rewrite, doctor),
):
    halfwise.add_command(command)


def main() -> None:
    """The `halfwise` program: exit code 0 done, 1 something went wrong, 2 the input is wrong."""
    try:
        code = halfwise.main(standalone_mode=False)
    except HalfwiseError as error:
        code = _report(str(error), error.exit_code)
    except click.exceptions.Abort:
        code = _report("stopped by Ctrl-C", 1)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except OSError as error:
        code = _report(f"{error.filename or 'the system'}: {error.strerror or error}", 1)
    sys.exit(code)


def _report(message: str, code: int) -> int:
    if "--debug" in sys.argv:
        traceback.print_exc()
    click.echo(f"halfwise: {message}", err=True)
    return code
