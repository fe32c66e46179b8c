"""Where a training step stands, in memory: weights, optimizer, loss scaling and MindSpore's random numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from .step import TrainStep


@dataclass(frozen=True)
class StepState:
    """Copies of every Parameter of a step, by a name that no other one has, and the state of random numbers."""

    arrays: Mapping[str, np.ndarray]
    random: np.ndarray

    @property
    def finite(self) -> bool:
        """Whether every float in it is."""
        return all(array.dtype.kind != "f" or bool(np.isfinite(array).all()) for array in self.arrays.values())


def take_state(step: TrainStep) -> StepState:
    """What the step has now; it waits for a device that is still at work."""
    arrays = {name: parameter.asnumpy().copy() for name, parameter in step_parameters(step)}
    return StepState(arrays, ms.get_rng_state().asnumpy().copy())


def put_state(step: TrainStep, state: StepState) -> None:
    """Put the step back to where it stood; a compiled step goes on from there.

    Kernels that keep random numbers of their own, such as those of Dropout, draw anew.

    Raises:
        KeyError: the state is not of this step.
    """
    for name, parameter in step_parameters(step):
        put_value(parameter, state.arrays[name])
    ms.set_rng_state(ms.Tensor(state.random))


def put_value(parameter: ms.Parameter, value: np.ndarray) -> None:
    """Give a Parameter other values, in place.

    After `set_data`, an optimizer that has run in PyNative mode goes on updating what the Parameter held before.
    """
    ops.assign(parameter, ms.Tensor(value, parameter.dtype))


def step_parameters(step: TrainStep) -> Iterator[tuple[str, ms.Parameter]]:
    """Every Parameter that a step reads or writes, under a name that no other one has."""
    parts: dict[str, nn.Cell] = {"network": step.network, "loss": step.loss, "optimizer": step.optimizer}
    for part, cell in parts.items():
        for number, parameter in enumerate(cell.get_parameters()):
            yield f"{part} {number} {parameter.name}", parameter
    scaler: Mapping[str, Any] = vars(step.scaler)
    for name, value in scaler.items():
        if isinstance(value, ms.Parameter):
            yield f"scaler {name}", value
