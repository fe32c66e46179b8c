"""Makes MindSpore write down the graphs that it compiles."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def dumped_graphs(folder: Path) -> Iterator[None]:
    """While this is open, MindSpore writes the graphs that it compiles into `folder`."""
    settings = {
        "MS_DEV_SAVE_GRAPHS": "1",
        "MS_DEV_SAVE_GRAPHS_PATH": str(folder),
        "MS_DEV_DUMP_IR_PASSES": "validate",
    }
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            del os.environ[name]
