"""From `my_module:make_workload` to the workload; whatever is wrong with it becomes one clear message."""

import contextlib
import importlib
import re
import sys
import traceback
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from types import ModuleType

from ..policies.errors import HalfwiseError, InputError
from ..policies.near_miss import hint
from .child import error_line
from .outcome import Metric
from .workload import Workload

_REFERENCE = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<function>[^\W\d]\w*)")


def load_workload(reference: str, search_path: Path | None) -> Workload:
    """Import the module, call the function, and check what it gives.

    The module is looked for in the folder `search_path` first, then where Python looks; the folder is on
    Python's path only while this function runs, so import neighbouring modules at the top of the file.

    Raises:
        InputError: the reference is malformed, its module is missing or cannot be imported, it has no such
            function, the function raises, or what it returns is not a workload or contradicts itself.
        MemoryError: there was not enough memory for the workload's data.
    """
    match = _REFERENCE.fullmatch(reference)
    if match is None or match["module"].endswith(".py"):
        raise InputError(
            f"a workload is named as module:function, but got {reference!r}; "
            "for make_workload in my_module.py write my_module:make_workload"
        )
    with _first_on_path(search_path):
        module = _import(match["module"], search_path)
        return _checked(_call(module, match["function"], search_path), reference)


@contextlib.contextmanager
def _first_on_path(folder: Path | None) -> Iterator[None]:
    if folder is None:
        yield
        return
    entry = str(folder)
    sys.path.insert(0, entry)
    # A file that was written a moment ago may be missing from what Python remembers of the folder.
    importlib.invalidate_caches()
    try:
        yield
    finally:
        # A module may have taken it away already.
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)


def _import(name: str, search_path: Path | None) -> ModuleType:
    try:
        return importlib.import_module(name)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and _is_part_of(error.name, name):
            raise InputError(_not_found(error.name or name, search_path)) from error
        raise InputError(f"workload module {name!r} cannot be imported: {_where(error, search_path)}") from error


def _is_part_of(missing: str | None, name: str) -> bool:
    """Whether the missing module is the one asked for or a package around it, not one that it imports."""
    return missing is not None and f"{name}.".startswith(f"{missing}.")


def _not_found(name: str, search_path: Path | None) -> str:
    neighbours = [path.stem for path in search_path.glob("*.py")] if search_path else []
    where = f"in {search_path} and then in Python's own path" if search_path else "in Python's path"
    return f"there is no workload module {name!r}: looked {where}{hint(name, neighbours)}"


def _call(module: ModuleType, name: str, search_path: Path | None) -> object:
    function = getattr(module, name, None)
    source = getattr(module, "__file__", None) or module.__name__
    if function is None:
        callables = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise InputError(f"there is no function {name!r} in {source}{hint(name, callables)}")
    if not callable(function):
        raise InputError(f"{name!r} in {source} must be a function, but it is {_kind(function)}")
    try:
        return function()
    except (MemoryError, HalfwiseError):
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{module.__name__}:{name} raised {_where(error, search_path)}") from error


def _where(error: BaseException, search_path: Path | None) -> str:
    """The last line of the traceback, and the innermost place in the user's own files that led to it."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg} ({error.filename}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if search_path and Path(frame.filename).is_relative_to(search_path)]
    place = (own or frames)[-1]
    return f"{error_line(error)} ({place.filename}:{place.lineno})"


def _checked(workload: object, reference: str) -> Workload:
    if not isinstance(workload, Workload):
        raise InputError(
            f"{reference} must return a halfwise.evaluators.workload.Workload, but returned {_kind(workload)}"
        )
    name, metric = getattr(workload, "name", None), getattr(workload, "metric", None)
    if not isinstance(name, str) or not name:
        raise InputError(f"{reference}: name must be a text that is not empty, but got {name!r}")
    if not isinstance(metric, Metric) or metric.direction not in ("maximize", "minimize"):
        raise InputError(f"{reference}: metric must be a Metric(name, direction), but got {metric!r}")
    for field in ("batch_size", "trial_steps", "full_steps"):
        _check_count(field, getattr(workload, field, None), reference)
    if 10 * workload.trial_steps > workload.full_steps:
        raise InputError(
            f"{reference}: trial_steps must be at most a tenth of full_steps, "
            f"but got trial_steps {workload.trial_steps} and full_steps {workload.full_steps}"
        )
    return workload


def _check_count(field: str, value: object, reference: str) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
        raise InputError(f"{reference}: {field} must be a whole number of 1 or more, but got {value!r}")


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
