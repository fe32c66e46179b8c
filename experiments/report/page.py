"""Puts a study's report together: one page with its style, script and figures inside."""

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...policies.canonical import printable
from ..home import StudyFolder
from .contents import Contents, contents_of

REPORT, FRONT = "report.html", "front.html"
_HERE = Path(__file__).parent
_ENDS_OF_PARTS = re.compile(r"(?<=[.:])(?=[^.:])")


def report_html(folder: StudyFolder) -> str:
    """The whole page; everything that a study holds is text in it, never markup.

    Raises:
        HalfwiseError: a file of the study cannot be read.
    """
    return render(REPORT, contents_of(folder))


def front_html(folder: StudyFolder) -> str:
    """The picture of the front alone, as a page of its own that shows each trial's policy.

    Raises:
        HalfwiseError: a file of the study cannot be read.
    """
    return render(FRONT, contents_of(folder))


def render(template: str, contents: Contents) -> str:
    """One of the pages, `REPORT` or `FRONT`, of these contents."""
    notes = _Notes()
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"note": notes.number, "parts": _parts}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment.get_template(template).render(
        it=contents,
        notes=notes.texts,
        style=(_HERE / "style.css").read_text(encoding="utf-8"),
        script=(_HERE / "script.js").read_text(encoding="utf-8"),
    )


class _Notes:
    """Texts that many cells of the strip share: the page holds each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Its place in `texts`."""
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        """All so far, by their numbers."""
        return list(self._numbers)


def _shown(value: Any) -> Any:
    """Control characters are escaped; markup that this page made itself stays."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _parts(path: str) -> list[str]:
    """A layer's path in parts, after each of which a line may end."""
    return _ENDS_OF_PARTS.split(path)
