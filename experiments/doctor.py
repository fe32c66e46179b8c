"""Checks whether this machine can run a search, each with its remedy."""

import importlib.metadata
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.device_facts import DeviceFacts, learn_device
from ..evaluators.device_names import DeviceChoice
from ..policies.errors import HalfwiseError
from .home import Home
from .tracking_uri import without_password

# The versions that the private autocast calls were tried with; see policies/rewrite/adapter.py.
TESTED_MINDSPORE = "2.10"
_NEEDED_DISK_BYTES = 2 << 30


@dataclass(frozen=True)
class Finding:
    """One check: whether it is well, what was found, and what to do where it is not."""

    well: bool
    text: str
    remedy: str = ""


def examine(device: DeviceChoice, home: Home, tracking_uri: str | None = None) -> Iterator[Finding]:
    """Every check in turn; those on the device run in processes of their own and take some seconds.

    `tracking_uri` is the MLflow store that searches are to write to, by default the home's own.
    """
    yield _python()
    yield _mindspore()
    yield _numpy()
    yield from _device(device)
    yield _guarded(lambda: _home(home), "choose another folder with --home")
    yield _disk(home)
    yield _store(tracking_uri or home.tracking_uri)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    fits = (3, 11) <= sys.version_info[:2] < (3, 13)
    return Finding(fits, f"Python {version}", "use Python 3.11 or 3.12: MindSpore has no wheels for others")


def _mindspore() -> Finding:
    version = importlib.metadata.version("mindspore")
    return Finding(
        version.startswith(f"{TESTED_MINDSPORE}."),
        f"MindSpore {version}",
        f"halfwise relies on private calls that were tried with MindSpore {TESTED_MINDSPORE}: install that",
    )


def _numpy() -> Finding:
    version = importlib.metadata.version("numpy")
    return Finding(
        version.startswith("1."),
        f"NumPy {version}",
        'MindSpore is built against NumPy 1: pip install "numpy>=1.26,<2"',
    )


def _device(choice: DeviceChoice) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        try:
            facts = learn_device(choice, Path(scratch))
        except HalfwiseError as error:
            yield Finding(False, str(error), "choose another with --device, or look at the device's own driver")
            return
    yield Finding(True, f"device {facts.target}, autocast regions work there")
    yield _precisions(facts)
    if facts.target == "CPU":
        yield _convolution(facts)


def _precisions(facts: DeviceFacts) -> Finding:
    computes = ", ".join((*facts.low_precisions, "float32"))
    left_out = "; ".join(f"not {name} ({why})" for name, why in facts.missing.items())
    return Finding(
        bool(facts.low_precisions),
        f"{facts.target} computes {computes}" + (f"; {left_out}" if left_out else ""),
        "without a low precision there is nothing to search on this device",
    )


def _convolution(facts: DeviceFacts) -> Finding:
    if not facts.reference_convolution:
        return Finding(True, "oneDNN picks a fast convolution")
    fix = facts.environment(convolves=True)
    words = (
        "trials get " + " ".join(f"{name}={value}" for name, value in fix.items()) if fix else "your setting stays"
    )
    return Finding(True, f"oneDNN picks its slow reference convolution on this CPU; {words}")


def _home(home: Home) -> Finding:
    home.prepare()
    return Finding(True, f"studies and the MLflow store live in {home.path}")


def _disk(home: Home) -> Finding:
    place = next(folder for folder in (home.path, *home.path.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    return Finding(
        free >= _NEEDED_DISK_BYTES,
        f"{free / 2**30:.1f} GiB free for studies",
        f"a study needs up to {_NEEDED_DISK_BYTES / 2**30:.0f} GiB: free some space, or choose --home elsewhere",
    )


def _store(uri: str) -> Finding:
    from .tracking_look import look_at_store

    shown = without_password(uri)
    try:
        found = look_at_store(uri)
    except HalfwiseError as error:
        remedy = "start the server, or name another store with --tracking-uri; --no-mlflow searches without one"
        return Finding(False, str(error), remedy)
    return Finding(True, f"MLflow {importlib.metadata.version('mlflow')}, {found} at {shown}")


def _guarded(check: Callable[[], Finding], remedy: str) -> Finding:
    try:
        return check()
    except HalfwiseError as error:
        return Finding(False, str(error), remedy)
