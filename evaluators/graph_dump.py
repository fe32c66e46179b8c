"""Makes MindSpore write down the graphs that it compiles."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import mindspore as ms

_PASSES = "MS_DEV_DUMP_IR_PASSES"


@contextmanager
def dumped_graphs(folder: Path) -> Iterator[None]:
    """While this is open, MindSpore writes the graphs that it compiles into `folder`; may be opened again.

    Through the context rather than MS_DEV_SAVE_GRAPHS: MindSpore reads that variable at the first compilation
    of a process and never again, and would go on writing into the working folder.
    """
    os.environ[_PASSES] = "validate"
    ms.set_context(save_graphs=1, save_graphs_path=str(folder))
    try:
        yield
    finally:
        ms.set_context(save_graphs=0)
        del os.environ[_PASSES]
        _lift(folder)


def _lift(folder: Path) -> None:
    """Up from `rank_0` or another: below that a process writes that trains together with others."""
    for own in folder.glob("rank_*"):
        shutil.copytree(own, folder, dirs_exist_ok=True)
        shutil.rmtree(own)
