"""Holds the zoo's contest by itself: `python -m benchmarks.search.zoo`; exit code 1 on a missed target."""

import sys
import tempfile
from pathlib import Path

from halfwise.policies.errors import HalfwiseError

from .contest import OURS_ON_ALL, best_other, hold_zoo, zoo_figures, zoo_table


def main() -> int:
    """The exit code."""
    with tempfile.TemporaryDirectory(prefix="halfwise-zoo-") as folder:
        try:
            results = hold_zoo(Path(folder), _say)
        except HalfwiseError as error:
            print(f"the zoo's contest failed: {error}", file=sys.stderr)
            return 1
    print(zoo_table(results))
    print(best_other(results))
    figures = zoo_figures(results[OURS_ON_ALL])
    for figure in figures:
        print(figure)
    return 0 if all(figure.met for figure in figures) else 1


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
