"""Compiles a Cell without running it and reads off which kernels this device would run."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import mindspore as ms
import pandas as pd
from mindspore import nn

from .device import in_graph_mode
from .evidence import read_kernel_table
from .graph_dump import dumped_graphs


def compile_kernels(cell: nn.Cell, inputs: Sequence[ms.Tensor], folder: Path) -> pd.DataFrame:
    """The kernel table of the Cell, by `read_kernel_table`; `folder` holds the dump meanwhile.

    Raises:
        RuntimeError, TypeError, ValueError: MindSpore cannot compile it.
        HalfwiseError: the dump cannot be read.
    """
    dump = folder / "kernels"
    dump.mkdir(parents=True, exist_ok=True)
    try:
        with in_graph_mode(), dumped_graphs(dump):
            cell.compile(*inputs)
        return read_kernel_table(dump)
    finally:
        shutil.rmtree(dump)
