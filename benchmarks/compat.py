"""`./dev compat`: the tests of what leans on MindSpore's private parts, under several of its versions.

Each version gets an environment of its own: all of requirements.lock, then that MindSpore in place of its own.
"""

import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venv-compat"
VERSIONS = ("2.8.0", "2.9.0", "2.10.0")
GROUPS = {
    "regions": ("tests/policies/rewrite/test_apply.py",),
    "MindSpore's lists": ("tests/policies/rewrite/test_mindspore_tables.py",),
    "pattern rules": ("tests/policies/rewrite/patterns",),
    "transforms": ("tests/policies/rewrite/transforms",),
    "op table and proof": ("tests/evaluators/evidence",),
}
PROBE = "from halfwise.policies.rewrite.adapter import verify; verify()"
# By version: tests that fail there for a reason that docs/compat.md states.
_LISTS = "tests.policies.rewrite.test_mindspore_tables::test_every_op_of_the_table_exists"
KNOWN: Mapping[str, frozenset[str]] = {"2.8.0": frozenset({_LISTS}), "2.9.0": frozenset({_LISTS})}


@dataclass(frozen=True)
class Result:
    """How many tests of a group passed, which failed, how many were skipped."""

    passed: int
    failed: tuple[str, ...]
    skipped: int

    def __str__(self) -> str:
        """Such as "41 pass, 2 fail"."""
        counts = {"pass": self.passed, "fail": len(self.failed), "skipped": self.skipped}
        return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "none"


def main(versions: Sequence[str]) -> int:
    """Print a table of versions and test groups; 1 if a test fails that is not known to."""
    found = {version: _tried(version) for version in versions or VERSIONS}
    print(f"| tests | {' | '.join(f'MindSpore {version}' for version in found)} |")
    print("| --- |" + " --- |" * len(found))
    for group in ("probe", *GROUPS):
        print(f"| {group} | {' | '.join(str(results[group]) for results in found.values())} |")
    new = [
        f"{version}: {name}"
        for version, results in found.items()
        for result in results.values()
        for name in result.failed
        if name not in KNOWN.get(version, ())
    ]
    print("\n".join(["", *new]) if new else "\nnothing fails that is not known to")
    return 1 if new else 0


def _tried(version: str) -> dict[str, Result]:
    python = str(_environment(version))
    probe = subprocess.run([python, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, check=False)
    failed = () if probe.returncode == 0 else (probe.stderr.strip().rpartition("\n")[2],)
    return {"probe": Result(1 - len(failed), failed, 0)} | {
        group: _tests(python, paths) for group, paths in GROUPS.items()
    }


def _environment(version: str) -> Path:
    """The interpreter of the version's environment, which is made if it is not there whole."""
    folder = ENVIRONMENTS / version
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        print(f"setting up MindSpore {version}; this takes minutes once", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        for what in (
            ("--require-hashes", "-r", "requirements.lock"),
            ("--no-deps", f"mindspore=={version}"),
            ("--no-deps", "--no-build-isolation", "-e", "."),
        ):
            subprocess.run([python, "-m", "pip", "install", "--quiet", *what], cwd=ROOT, check=True)
        ready.touch()
    return python


def _tests(python: str, paths: Sequence[str]) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", f"--junitxml={report}", *paths]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        if not report.exists():
            return Result(0, (f"{' '.join(paths)}: pytest left no report",), 0)
        return _read(report)


def _read(report: Path) -> Result:
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    names = tuple(f"{case.get('classname')}::{case.get('name')}" for case in failed)
    return Result(len(cases) - len(failed) - skipped, names, skipped)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
