"""Where a training stood, in a file: weights, optimizer, loss scaler and MindSpore's random numbers."""

from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile

import mindspore as ms
import numpy as np
from mindspore import nn

from ..policies.errors import HalfwiseError
from ..policies.whole_file import written_aside
from .prepared import Prepared

_RANDOM = "random numbers"


def save_state(prepared: Prepared, file: Path) -> None:
    """Write every Parameter of the step, as plain arrays; whole or not at all.

    The position in the data is the number of steps, which the outcome holds.

    Raises:
        NotWritten: the file cannot be written.
    """
    arrays = {name: parameter.asnumpy() for name, parameter in _parameters(prepared)}
    arrays[_RANDOM] = ms.get_rng_state().asnumpy()
    with written_aside(file) as aside:
        np.savez(aside, **arrays)


def load_state(prepared: Prepared, file: Path) -> None:
    """Put a training back to where it stood; to be called before the step is compiled.

    Nothing is unpickled. Kernels that keep random numbers of their own, such as those of Dropout, draw anew.

    Raises:
        HalfwiseError: the file is missing, or is not of this training.
    """
    try:
        with np.load(file, allow_pickle=False) as arrays:
            for name, parameter in _parameters(prepared):
                parameter.set_data(ms.Tensor(arrays[name], parameter.dtype))
            ms.set_rng_state(ms.Tensor(arrays[_RANDOM]))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise HalfwiseError(f"cannot go on from the training saved in {file}: {error}") from error


def _parameters(prepared: Prepared) -> Iterator[tuple[str, ms.Parameter]]:
    """Every Parameter that a step reads or writes, under a name that no other one has."""
    step = prepared.step
    parts: dict[str, nn.Cell] = {"network": step.network, "loss": step.loss, "optimizer": step.optimizer}
    for part, cell in parts.items():
        for number, parameter in enumerate(cell.get_parameters()):
            yield f"{part} {number} {parameter.name}", parameter
    for name, value in vars(step.scaler).items():
        if isinstance(value, ms.Parameter):
            yield f"scaler {name}", value
