"""Where a training stood, in a file: weights, optimizer, loss scaler and MindSpore's random numbers."""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..policies.errors import HalfwiseError
from ..policies.whole_file import written_aside
from .prepared import Prepared
from .step_state import StepState, put_state, step_parameters, take_state

_RANDOM = "random numbers"


def save_state(prepared: Prepared, file: Path) -> None:
    """Write every Parameter of the step, as plain arrays; whole or not at all.

    The position in the data is the number of steps, which the outcome holds.

    Raises:
        NotWritten: the file cannot be written.
    """
    state = take_state(prepared.step)
    arrays = {**state.arrays, _RANDOM: state.random}
    with written_aside(file) as aside:
        np.savez(aside, **arrays)


def load_state(prepared: Prepared, file: Path) -> None:
    """Put a training back to where it stood.

    Nothing is unpickled. Kernels that keep random numbers of their own, such as those of Dropout, draw anew.

    Raises:
        HalfwiseError: the file is missing, or is not of this training.
    """
    try:
        with np.load(file, allow_pickle=False) as arrays:
            names = [name for name, _ in step_parameters(prepared.step)]
            put_state(prepared.step, StepState({name: arrays[name] for name in names}, arrays[_RANDOM]))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise HalfwiseError(f"cannot go on from the training saved in {file}: {error}") from error
