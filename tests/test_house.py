"""The house as docs/structure.md draws it: who may import whom, and what every text must hold."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("policies", "evaluators", "search", "experiments")
# folder -> the folders that it may import from
ARROWS = {
    "policies": {"policies"},
    "evaluators": {"evaluators", "policies"},
    "search": {"search", "policies"},
    "experiments": set(FOLDERS),
}


def modules(folder: str) -> list[Path]:
    """The source files of one of the four folders."""
    return sorted((ROOT / folder).rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    """Absolute names of what a file imports, inside functions too: "halfwise.policies.ops", "mindspore"."""
    package = ["halfwise", *file.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def names_package(name: str, package: str) -> bool:
    """Whether an imported name is the package or lies in it."""
    return name == package or name.startswith(f"{package}.")


def test_every_package_is_installed():
    """The packages that an installation copies are the folders of the house that are packages."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    inits = [init for folder in FOLDERS for init in (ROOT / folder).rglob("__init__.py")]
    assert set(listed) == {".".join(("halfwise", *init.relative_to(ROOT).parent.parts)) for init in inits}


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_follow_the_arrows(folder):
    """No file imports from a folder that its own may not depend on, and inside the house all is relative."""
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in modules(folder)
        for name in imported(file)
        for other in FOLDERS
        if names_package(name, f"halfwise.{other}") and other not in ARROWS[folder]
    ]
    absolute = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in modules(folder)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and not node.level and names_package(node.module or "", "halfwise")
    ]
    assert wrong == []
    assert absolute == []


def test_mindspore_and_mlflow_stay_where_they_belong():
    """Only the rewrite layer, evaluators and workloads import mindspore, only tracking modules mlflow."""
    for folder in FOLDERS:
        for file in modules(folder):
            names = set(imported(file))
            place = str(file.relative_to(ROOT))
            if any(names_package(name, "mindspore") for name in names):
                assert place.startswith(("policies/rewrite/", "evaluators/", "experiments/workloads/")), place
            if any(names_package(name, "mlflow") for name in names):
                assert place.startswith("experiments/tracking"), place


@pytest.mark.parametrize(
    "module", ["halfwise.policies", "halfwise.search.front", "halfwise.search.study", "halfwise.experiments.cli"]
)
def test_light_modules_import_nothing_heavy(module):
    """Policies, search and the command line itself come up without mindspore and mlflow."""
    code = f"import sys, {module}; print([m for m in ('mindspore', 'mlflow') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_test_says_what_must_hold():
    """Each test function has a docstring: one sentence that says what must hold."""
    silent = [
        f"{file.relative_to(ROOT)}: {node.name}"
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


def test_links_in_the_documents_lead_somewhere():
    """Each relative link in README, docs and CHANGELOG names a file, and each anchor a heading of it."""
    broken = []
    for file in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)\s]+)\)", file.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            place = (file.parent / path) if path else file
            if not place.exists() or (anchor and anchor not in anchors(place)):
                broken.append(f"{file.relative_to(ROOT)}: {target}")
    assert broken == []


def anchors(file: Path) -> set[str]:
    """The anchors that a markdown file's headings get."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
