"""Runs a function of a test in a fresh process that has imported mindspore, as trials are run."""

import importlib
import tempfile
from pathlib import Path
from typing import Any

from pydantic import RootModel

from halfwise.evaluators.process import Failure, Limits, run_job
from halfwise.evaluators.request import Request


class Call(Request):
    """A function `module:name` of tests/support and what it is called with."""

    function: str
    arguments: dict[str, Any]


class Answer(RootModel[Any]):
    """What the function returned: plain data."""


def call(request: Call) -> Answer:
    """The job: look the function up and call it."""
    module, name = request.function.split(":")
    return Answer(getattr(importlib.import_module(module), name)(**request.arguments))


def in_fresh_process(function: str, **arguments: Any) -> Any:
    """The function's result; fails the test with the process's own words if it raised."""
    with tempfile.TemporaryDirectory() as folder:
        request = Call(folder=Path(folder), target="CPU", function=function, arguments=arguments)
        answer = run_job("fresh_process:call", request, Answer, Limits(time_s=120, memory_bytes=4 << 30))
        if isinstance(answer, Failure):
            log = (Path(folder) / "output.log").read_text(encoding="utf-8", errors="replace")
            raise AssertionError(f"{answer.cause}: {answer.message}\n{log[-4000:]}")
        return answer.root
