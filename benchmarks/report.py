"""The report of a large study: how many bytes it takes, and what goes wrong when a browser opens it."""

import sys
import time
from pathlib import Path

from halfwise.experiments.report import report_html

from .bench import Bench, Figure, Say

TRIALS, LAYERS = 200, 500
MOST_MB = 5
# The study and the browser are those of the tests.
_SUPPORT = Path(__file__).parents[1] / "tests" / "support"


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Write the report of a study whose outcomes are made up, and open it in light and in dark."""
    sys.path.insert(0, str(_SUPPORT))
    from large_study import make_large_study

    study = make_large_study(folder / "studies", TRIALS, LAYERS)
    began = time.monotonic()
    page = report_html(study)
    say(f"{TRIALS} trials over {LAYERS} layers: written in {time.monotonic() - began:.1f} s")
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    size = Figure("size of the report", file.stat().st_size / 1e6, "at most", MOST_MB, " MB")
    return (size, *_in_a_browser(file, say))


def _in_a_browser(file: Path, say: Say) -> tuple[Figure, ...]:
    from browser import found_chromium

    if found_chromium() is None:
        say("no Chromium on the PATH: nothing is known of scripts, requests and accessibility")
        return ()
    faults, strangers, barriers = zip(*(_opened(file, scheme) for scheme in ("light", "dark")), strict=True)
    return (
        Figure("script and console errors", sum(faults), "at most", 0, ""),
        Figure("requests to anybody", sum(strangers), "at most", 0, ""),
        Figure("serious or critical faults by axe-core", sum(barriers), "at most", 0, ""),
    )


def _opened(file: Path, scheme: str) -> tuple[int, int, int]:
    """Errors, requests other than for the page itself, and axe-core's serious faults."""
    from browser import browsing

    with browsing(color_scheme=scheme) as seen:
        seen.open(file)
        barriers = len(seen.barriers())
        asked = [url for url in seen.requests if not url.startswith("data:") and url != file.as_uri()]
    return len(seen.errors), len(asked), barriers


BENCH = Bench("report", f"a report of {TRIALS} trials: size, script errors, requests, accessibility", run)
