"""Lists the benchmarks, runs one by its name, or `all`; exit code 1 if a figure misses its target."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from halfwise.policies.errors import HalfwiseError

from . import (
    calibration,
    cli,
    convolution,
    demo,
    evidence,
    guard,
    mlflow_pages,
    prices,
    process,
    report,
    rewrite,
    speed,
    training,
    what_if,
    workers,
)
from .bench import Bench
from .faults import entry as faults
from .search import entry as search
from .search import search_time, workloads

BENCHES = (
    process.BENCH,
    training.BENCH,
    convolution.BENCH,
    demo.BENCH,
    evidence.BENCH,
    rewrite.BENCH,
    what_if.BENCH,
    prices.BENCH,
    speed.BENCH,
    guard.BENCH,
    calibration.BENCH,
    search.BENCH,
    workloads.BENCH,
    search_time.BENCH,
    faults.BENCH,
    workers.BENCH,
    cli.BENCH,
    report.BENCH,
    mlflow_pages.BENCH,
)


def main(arguments: Sequence[str]) -> int:
    """The exit code: 0 all figures met or nothing applied, 1 a miss or a failure, 2 no such benchmark."""
    if not arguments:
        for bench in BENCHES:
            print(f"{bench.name:12} {bench.summary}")
        return 0
    chosen = [bench for bench in BENCHES if arguments[0] in (bench.name, "all")]
    if not chosen or len(arguments) > 1:
        names = ", ".join(bench.name for bench in BENCHES)
        print(f"benchmarks: give one of {names}, or all; got {' '.join(arguments)!r}", file=sys.stderr)
        return 2
    # All run, whatever the first ones came to.
    met = [_run(bench) for bench in chosen]
    return 0 if all(met) else 1


def _run(bench: Bench) -> bool:
    """Run it and print its figures; whether all of them were met."""
    print(f"== {bench.name}: {bench.summary}", flush=True)
    with tempfile.TemporaryDirectory(prefix="halfwise-bench-") as folder:
        try:
            figures = bench.run(Path(folder), _say)
        except HalfwiseError as error:
            print(f"benchmarks: {bench.name} failed: {error}", file=sys.stderr)
            return False
    for figure in figures:
        print(figure, flush=True)
    return all(figure.met for figure in figures)


def _say(line: str) -> None:
    print(f"   {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
