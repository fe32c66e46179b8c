"""A guarded training in a MindSpore checkpoint: Parameters by name, and beside them one text with all else."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from ...policies import PolicySchedule
from ...policies.errors import HalfwiseError, InputError
from ...policies.whole_file import written_aside
from ..step import TrainStep
from ..step_state import StepState, put_value, step_parameters, take_state
from .record import Record

_TEXT = "halfwise_training"
_GOOD = "last good: "
_ENDING = ".ckpt"


class TrainingState(BaseModel):
    """What a training needs beside its Parameters, free of MindSpore's types.

    `schedule` is the canonical text of what it was under, `scaling` holds the loss scaler's numbers, `random`
    MindSpore's state of random numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schedule: str
    record: Record
    scaling: dict[str, float]
    random: tuple[int, ...]

    @classmethod
    def parse(cls, state: Mapping[str, Any], schedule: PolicySchedule) -> "TrainingState":
        """Check plain data.

        Raises:
            InputError: it is no such state, or one of another schedule.
        """
        try:
            found = cls.model_validate(state)
        except ValidationError as error:
            raise InputError(f"this is no state of a guarded training: {error.errors()[0]['msg']}") from error
        if found.schedule != str(schedule):
            raise InputError(
                "the training was saved under another schedule; go on under the one that it was saved under: "
                f"{found.schedule}"
            )
        return found


class _Text(BaseModel):
    """The text in a file: the state now, and when the weights were good that go with it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: dict[str, Any]
    good_steps: NonNegativeInt
    good_random: tuple[int, ...]


@dataclass(frozen=True)
class Good:
    """The last good state of a training, and how many steps it had behind it."""

    state: StepState
    steps: int


def state_of(step: TrainStep, schedule: PolicySchedule, record: Record) -> TrainingState:
    """The state of a training."""
    scaling = {name: parameter.asnumpy().item() for name, parameter in scaling_of(step)}
    random = tuple(ms.get_rng_state().asnumpy().tolist())
    return TrainingState(schedule=str(schedule), record=record, scaling=scaling, random=random)


def put_scaling(step: TrainStep, state: TrainingState) -> None:
    """Loss scaling and random numbers as they were.

    Raises:
        InputError: the state is of another kind of loss scaling.
    """
    parameters = dict(scaling_of(step))
    if parameters.keys() != state.scaling.keys():
        raise InputError(
            f"the state holds a loss scaling's {', '.join(state.scaling)}; needed are {', '.join(parameters)}"
        )
    for name, parameter in parameters.items():
        now = parameter.asnumpy()
        put_value(parameter, np.full(now.shape, state.scaling[name], now.dtype))
    ms.set_rng_state(ms.Tensor(np.asarray(state.random, np.uint8)))


def write(path: str | os.PathLike[str], step: TrainStep, state: TrainingState, good: Good) -> None:
    """Write a checkpoint; of the last good state only what differs from now.

    Raises:
        InputError: the name does not end in .ckpt.
        NotWritten: the file cannot be written.
    """
    if Path(path).suffix != _ENDING:
        raise InputError(f"a checkpoint's name ends in {_ENDING}; got {os.fspath(path)!r}")
    now = take_state(step)
    text = _Text(
        state=state.model_dump(mode="json"), good_steps=good.steps, good_random=tuple(good.state.random.tolist())
    )
    arrays = {name: now.arrays[key] for key, name in _names(step)}
    arrays |= {
        _GOOD + name: good.state.arrays[key]
        for key, name in _names(step)
        if good.state.arrays[key].tobytes() != now.arrays[key].tobytes()
    }
    entries = [{"name": name, "data": ms.Tensor(array)} for name, array in arrays.items()]
    with written_aside(path) as aside:
        ms.save_checkpoint(entries, str(aside), append_dict={_TEXT: text.model_dump_json()})


@dataclass(frozen=True)
class Found:
    """What a checkpoint holds: the plain state, and arrays by the names in the file."""

    path: str
    state: dict[str, Any]
    arrays: Mapping[str, np.ndarray]
    good_steps: int
    good_random: tuple[int, ...]

    def states(self, step: TrainStep) -> tuple[StepState, Good]:
        """Where the step stood, and its last good state.

        Raises:
            HalfwiseError: the file is of another network or optimizer.
        """
        missing = [name for _, name in _names(step) if name not in self.arrays]
        shapes = {
            name: parameter.shape
            for (_, name), (_, parameter) in zip(_names(step), step_parameters(step), strict=True)
        }
        other = [
            name for name, shape in shapes.items() if name not in missing and self.arrays[name].shape != shape
        ]
        if missing or other:
            wrong = f"it lacks {missing[0]}" if missing else f"{other[0]} has another shape"
            raise HalfwiseError(f"{self.path} is of another network or optimizer: {wrong}")
        now = {key: self.arrays[name] for key, name in _names(step)}
        good = {key: self.arrays.get(_GOOD + name, self.arrays[name]) for key, name in _names(step)}
        random = np.asarray(self.state["random"], np.uint8)
        return StepState(now, random), Good(
            StepState(good, np.asarray(self.good_random, np.uint8)), self.good_steps
        )


def read(path: str | os.PathLike[str]) -> Found:
    """Read a checkpoint.

    Raises:
        HalfwiseError: it cannot be read, or is none of a guarded training.
    """
    name = os.fspath(path)
    try:
        loaded: dict[str, Any] = ms.load_checkpoint(name)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise HalfwiseError(f"cannot go on from the training saved in {name}: {reason}") from error
    try:
        text = _Text.model_validate(json.loads(loaded.pop(_TEXT)))
    except (KeyError, TypeError, ValueError) as error:
        raise HalfwiseError(f"{name} is a checkpoint, but not one that a guarded training saved") from error
    arrays = {key: value.asnumpy() for key, value in loaded.items() if isinstance(value, ms.Tensor)}
    return Found(name, text.state, arrays, text.good_steps, text.good_random)


def _names(step: TrainStep) -> Iterator[tuple[str, str]]:
    """A Parameter's key in a StepState and its name in the file: in the network, the name that the user knows."""
    for key, parameter in step_parameters(step):
        yield key, parameter.name if key.startswith("network ") else key


def scaling_of(step: TrainStep) -> Iterator[tuple[str, ms.Parameter]]:
    """The loss scaler's Parameters, under their keys in a StepState."""
    return ((key, parameter) for key, parameter in step_parameters(step) if key.startswith("scaler "))
