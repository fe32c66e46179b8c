"""The text of a workload: its module and the modules beside it that it imports, found without running them."""

import ast
import difflib
import hashlib
import importlib.machinery
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import write_json
from ..policies.errors import InputError
from .home import StudyFolder
from .workloads import resolve_reference

# Of a difference, so many lines are shown.
_SHOWN_LINES = 12


class WorkloadSource(BaseModel):
    """`workload.json`: the texts by their paths below the folder that the workload stands in.

    One that comes with halfwise, or that no Python file holds, has no texts: versions tell it apart.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/workload-source/1"] = "halfwise/workload-source/1"
    reference: str
    files: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """Equal texts under equal names have equal digests."""
        found = hashlib.sha256()
        for name, text in sorted(self.files.items()):
            for part in (name, text):
                data = part.encode("utf-8", "surrogatepass")
                found.update(len(data).to_bytes(8, "big") + data)
        return found.hexdigest()[:16]

    def words(self) -> list[str]:
        """What a study's terms say of it: every file by the hash of its text."""
        short = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12] for text in self.texts)
        return [self.reference, *(f"{name} ({digest})" for name, digest in zip(self.names, short, strict=True))]

    @property
    def names(self) -> list[str]:
        """The files' paths, sorted."""
        return sorted(self.files)

    @property
    def texts(self) -> list[str]:
        """Their texts in the same order."""
        return [self.files[name] for name in self.names]

    def difference(self, now: "WorkloadSource") -> str:
        """What was changed since, as the first lines of a unified diff; empty for equal texts."""
        lines = [line for name in sorted({*self.files, *now.files}) for line in self._changes(now, name)]
        more = [f"... {len(lines) - _SHOWN_LINES} more lines"] if len(lines) > _SHOWN_LINES else []
        return "\n".join(lines[:_SHOWN_LINES] + more)

    def _changes(self, now: "WorkloadSource", name: str) -> Iterator[str]:
        before, after = (source.files.get(name, "").splitlines() for source in (self, now))
        return difflib.unified_diff(before, after, f"{name} (the study's)", f"{name} (this one)", "", "", 1, "")


def read_source(workload: str, search_path: Path) -> WorkloadSource:
    """The text of the workload of that name or reference; its module is looked for in `search_path` first.

    Only Python files below the folder of the module are taken, and of a package that is installed only itself.
    A module that is not found has no text: whoever loads it says so better.

    Raises:
        InputError: no workload has that name, or a file is no UTF-8 text.
    """
    reference = resolve_reference(workload)
    module = reference.partition(":")[0]
    top = module.partition(".")[0]
    root = _root_of(top, search_path)
    if top == "halfwise" or root is None:
        return WorkloadSource(reference=reference)
    beside = root.absolute() == search_path.absolute()
    found: dict[str, str] = {}
    _collect(module, root, None if beside else top, found)
    return WorkloadSource(reference=reference, files=found)


def keep_source(source: WorkloadSource, folder: StudyFolder) -> None:
    """Write `workload.json`."""
    write_json(source, folder.workload_file)


def _root_of(top: str, search_path: Path) -> Path | None:
    """The folder that holds a top-level module; nothing is imported for it."""
    spec = importlib.machinery.PathFinder.find_spec(top, [str(search_path), *sys.path])
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin)
    return file.parent.parent if spec.submodule_search_locations is not None else file.parent


def _collect(module: str, root: Path, only: str | None, found: dict[str, str]) -> None:
    """Add the files of a module, of the packages around it, and of what they import below `root`."""
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        file = _file_of(root, parts[:end])
        if file is None or (name := file.relative_to(root).as_posix()) in found:
            continue
        found[name] = _text(file)
        package = parts[:end] if file.name == "__init__.py" else parts[: end - 1]
        for imported in _imports(found[name], package):
            if only is None or imported.partition(".")[0] == only:
                _collect(imported, root, only, found)


def _file_of(root: Path, parts: list[str]) -> Path | None:
    place = root.joinpath(*parts)
    candidates = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in candidates if file.is_file()), None)


def _imports(text: str, package: list[str]) -> Iterator[str]:
    """The absolute names of all modules that a text may import, wherever in it; none if it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            whole = ".".join([*base, *([node.module] if node.module else [])])
            # What is imported from a package may be a module of it.
            yield from (f"{whole}.{alias.name}" if whole else alias.name for alias in node.names)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read the workload's file {file}: {reason}") from error


def refuse_other_source(study: WorkloadSource, now: WorkloadSource) -> None:
    """See that a worker has the very workload that the study was started with.

    Raises:
        InputError: it does not; the first lines that differ are shown.
    """
    if study.reference != now.reference:
        raise InputError(f"the study's workload is {study.reference}, but this one is {now.reference}")
    if study.digest != now.digest:
        raise InputError(
            f"the workload {now.reference} is not the one that the study was started with, so its trials could "
            f"not be compared; bring the study's version here:\n{study.difference(now)}"
        )
