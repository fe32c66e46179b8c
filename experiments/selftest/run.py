"""Runs the parts of a self-test one after the other and puts what they found into one small file."""

import getpass
import os
import platform
import re
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from ...evaluators.calibration.host import host_name
from ...evaluators.device_facts import learn_device
from ...evaluators.device_names import DeviceChoice
from ...evaluators.request import Target
from ...policies.errors import HalfwiseError
from ..progress import Display
from .parts import PARTS, Bench, Part

# Small, with a hazard that O1 avoids: a step takes milliseconds.
WORKLOAD = "tabular-mlp"
_PACKAGES = ("halfwise", "mindspore", "numpy")
_PATH = re.compile(r"(?<![\w/])/[^\s:,;'\"]+")


class PartResult(BaseModel):
    """What one part found, or why it found nothing."""

    model_config = ConfigDict(frozen=True)

    seconds: float
    found: dict[str, JsonValue] | None = None
    error: str | None = None


class SelfTest(BaseModel):
    """A self-test of one device: no name of a host or a person and no path of a machine is in it.

    `device` is the processor's or the card's model as far as MindSpore or the system names it.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/selftest/1"] = "halfwise/selftest/1"
    target: Target
    device: str
    system: str
    versions: dict[str, str]
    date: str
    parts: dict[str, PartResult]

    @property
    def passed(self) -> bool:
        """Whether every part found something."""
        return all(part.error is None for part in self.parts.values())


def run_selftest(
    choice: DeviceChoice, calibration_s: float, display: Display, parts: Mapping[str, Part] = PARTS
) -> SelfTest:
    """All parts on the device; one that fails is noted with its reason, and the rest goes on.

    `calibration_s` bounds the timing of kernels, and that of the speed of one policy.

    Raises:
        HalfwiseError: MindSpore cannot use the device at all.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-") as scratch:
        folder = Path(scratch)
        target = learn_device(choice, folder / "device").target
        bench = Bench(target, WORKLOAD, folder, calibration_s, display)
        found = {name: _tried(name, part, bench) for name, part in parts.items()}
    return SelfTest(
        target=target,
        device=host_name(target),
        system=f"{sys.platform} {platform.machine()}, Python {platform.python_version()}",
        versions={name: version(name) for name in _PACKAGES},
        date=time.strftime("%Y-%m-%d"),
        parts=found,
    )


def anonymous(text: str) -> str:
    """The text without paths of this machine and the names of its host and user."""
    names = {socket.gethostname(), os.environ.get("USER", ""), _user()} - {"", "root", "localhost"}
    hidden = _PATH.sub("…", text)
    for name in sorted(names, key=len, reverse=True):
        hidden = re.sub(rf"\b{re.escape(name)}\b", "…", hidden)
    return hidden


def _tried(name: str, part: Part, bench: Bench) -> PartResult:
    bench.display.note(f"{name}: {(part.__doc__ or '').splitlines()[0]}")
    started = time.monotonic()
    try:
        found = _anonymous(part(bench))
    except HalfwiseError as error:
        return PartResult(seconds=round(time.monotonic() - started, 1), error=anonymous(str(error)))
    return PartResult(seconds=round(time.monotonic() - started, 1), found=found)


def _anonymous(value: Any) -> Any:
    kinds: dict[type, Callable[[Any], Any]] = {
        str: anonymous,
        dict: lambda each: {key: _anonymous(inner) for key, inner in each.items()},
        list: lambda each: [_anonymous(inner) for inner in each],
    }
    return kinds.get(type(value), lambda each: each)(value)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
