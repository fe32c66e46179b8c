"""A page in a real browser: Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

# As root a sandbox cannot be set up; the rest keeps the browser from asking the network for anything of its own.
_OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@dataclass
class Seen:
    """A page that is open, and what went wrong or was asked of the network since."""

    page: Any
    errors: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])

    def heard(self, said: Any) -> None:
        """Something on the console: errors and warnings are faults."""
        if said.type in ("error", "warning"):
            self.errors.append(said.text)

    def open(self, file: Path) -> None:
        """Show a file, and wait until its scripts have run."""
        self.page.goto(file.as_uri(), wait_until="load")

    def barriers(self) -> list[tuple[str, list[Any]]]:
        """What axe-core calls serious or critical, each with the first elements that have it."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        return [(each["id"], [node["target"] for node in each["nodes"]][:5]) for each in serious]


def found_chromium() -> str | None:
    """The browser's program, if there is one on the PATH."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def chromium() -> str:
    """The browser's program; a test that needs one is skipped where there is none, but for CI."""
    found = found_chromium()
    if found is None and os.environ.get("CI") != "true":
        pytest.skip("no Chromium on the PATH: install Debian's package chromium")
    assert found is not None, "CI must have a browser: ./dev test --full installs one"
    return found


@contextmanager
def browsing(**context: Any) -> Iterator[Seen]:
    """A page of its own browser; `context` as Playwright's `new_context` takes it: viewport, color_scheme."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_OPTIONS))
        try:
            page = browser.new_context(**context).new_page()
            seen = Seen(page)
            page.on("pageerror", lambda error: seen.errors.append(str(error)))
            page.on("console", seen.heard)
            page.on("request", lambda asked: seen.requests.append(asked.url))
            yield seen
        finally:
            browser.close()
