"""A study that several processes have open, over a space that needs no network."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from finished_study import evaluator_for, study_info

from halfwise.experiments.attempts import Attempts
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.lessons import FiguresOnly
from halfwise.experiments.mirror import SharedFolder
from halfwise.policies import BUILTIN, DynamicLossScaling
from halfwise.search.advisors import SamplerAdvisor
from halfwise.search.lease import Owner
from halfwise.search.space import LayerGroup, SearchSpace
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress
from halfwise.search.study import Search

FIXED = tuple((name, BUILTIN[name]) for name in ("O0", "O1", "O2", "O3"))


def dead_owner() -> Owner:
    """An owner whose process is over: its number is this one's by now."""
    owner = Owner.here()
    return replace(owner, started=owner.started - 1)


def search_in(address: StorageAddress, study: str, **changes: Any) -> Search:
    """The study as one more process opens it."""
    space = SearchSpace(
        groups=(LayerGroup("head", ("head",)),),
        layer_choices=("float16", "float32"),
        ops=(),
        low_precision="float16",
        loss_scaling=DynamicLossScaling(),
        mode="graph",
    )
    advisor = SamplerAdvisor("random", space, 1)
    terms: dict[str, Any] = {"quality_direction": "maximize", "fixed": FIXED, **changes}
    return Search.create(open_storage(address), address.prefix(study), advisor, **terms)


def attempts_in(folder: StudyFolder, search: Search, **changes: Any) -> Attempts:
    """What a process makes trials of the tiny workload with."""
    parts: dict[str, Any] = {
        "info": study_info(folder),
        "folder": folder,
        "search": search,
        "evaluator": evaluator_for("tiny_workloads:make_tiny"),
        "lessons": FiguresOnly(),
        "timing": None,
        "mirror": SharedFolder(),
    }
    return Attempts(**parts | changes)


def folder_in(path: Path, name: str) -> StudyFolder:
    """A study's folder that is there."""
    folder = StudyFolder(path / name)
    folder.create()
    return folder
