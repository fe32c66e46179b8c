"""The command line: `halfwise COMMAND`. Heavy packages are imported by the command that needs them."""

import signal
import sys
import traceback

import click

from ..policies.errors import HalfwiseError
from .cli_calibrate import calibrate
from .cli_completion import completion
from .cli_confirm import confirm
from .cli_diff import diff
from .cli_doctor import doctor
from .cli_explain import explain
from .cli_export import export
from .cli_init import init
from .cli_localize import localize
from .cli_policy import check, devices, ops, price
from .cli_profile import profile
from .cli_report import report
from .cli_rewrite import rewrite
from .cli_search import search
from .cli_selftest import selftest
from .cli_sensitivity import sensitivity
from .cli_study import front, ui
from .cli_suggest import suggest
from .cli_sync import sync
from .cli_widen import widen
from .cli_worker import worker
from .echo import echo
from .interrupts import Stopped, stopped_by_signals


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="halfwise")
@click.option("--debug", is_flag=True, help="Show where in the code an error came from.")
def halfwise(debug: bool) -> None:
    """Find out which parts of a MindSpore network may train in half precision."""


for command in (
    *(
        init,
        search,
        worker,
        front,
        report,
        explain,
        export,
        confirm,
        ui,
        sync,
        check,
        price,
        diff,
        ops,
        devices,
        profile,
    ),
    *(calibrate, selftest, sensitivity, suggest, widen, localize, rewrite, doctor, completion),
):
    halfwise.add_command(command)


def main() -> None:
    """The `halfwise` program: exit code 0 done, 1 something went wrong, 2 the input is wrong.

    128 and a signal's number (130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP): it was stopped by that signal.
    """
    try:
        with stopped_by_signals():
            code = halfwise.main(standalone_mode=False)
    except HalfwiseError as error:
        code = _report(_in_words(error), error.exit_code)
    except Stopped as error:
        code = _report(_in_words(error), error.exit_code)
    except click.exceptions.Abort as error:
        # What click makes of a KeyboardInterrupt, and of an EOFError, which nobody has asked for.
        if isinstance(error.__cause__, EOFError):
            raise error.__cause__ from None
        stopped = error.__cause__ if isinstance(error.__cause__, Stopped) else Stopped(signal.SIGINT)
        code = _report(_in_words(stopped), stopped.exit_code)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except OSError as error:
        code = _report(f"{error.filename or 'the system'}: {error.strerror or error}", 1)
    sys.exit(code)


def _in_words(error: BaseException) -> str:
    """What the error says, and what was noted about it on its way."""
    return "; ".join([str(error), *getattr(error, "__notes__", [])])


def _report(message: str, code: int) -> int:
    if "--debug" in sys.argv:
        traceback.print_exc()
    echo(f"halfwise: {message}", err=True)
    return code
