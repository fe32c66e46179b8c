"""One step with a single group in low precision, beside the same step in float32."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import mindspore as ms
import numpy as np
from mindspore import ops

from ...policies import LowPrecision, Policy, RulePrecision
from ...policies.errors import HalfwiseError
from ...policies.rewrite import apply
from ...policies.rules import AloneEffect
from ..dropout import without_dropout
from ..prepared import Prepared
from ..training import as_tensors
from ..workload import Batch

# A loss of 0 has no relative change: it counts as the smallest normal number.
_LEAST_LOSS = 2.0**-126
# From one loss scale to the next one tried, down to 1, while gradients are not finite.
_NEXT_SCALE = 1 / 16


@dataclass(frozen=True)
class _Step:
    """A step's loss and its gradients in one row, float64 and without the loss scale."""

    loss: float
    gradients: np.ndarray

    @property
    def finite(self) -> bool:
        return math.isfinite(self.loss) and bool(np.isfinite(self.gradients).all())


class AlonePasses:
    """Passes forward and backward on one batch, without an update; weights and statistics stay as they are.

    In PyNative mode, where nothing is compiled: call it with the process in that mode. Dropout layers let all
    through, since their kernels cannot be made to draw the same again. `passes` counts them.
    """

    def __init__(
        self, prepared: Prepared, batch: Batch, paths: tuple[str, ...], loss_scale: float, seed: int
    ) -> None:
        """Runs the float32 step twice; `paths` are all layers with a precision, `loss_scale` the first one tried.

        Raises:
            RuntimeError, TypeError, ValueError: MindSpore cannot run the network in PyNative mode.
            HalfwiseError: the gradient is not finite in float32, at any loss scale.
        """
        self._network = prepared.network
        self._step = prepared.step
        self._data = as_tensors(batch)
        self._rules: dict[str, RulePrecision] = {path or ".": "float32" for path in paths}
        self._loss_scale = loss_scale
        self._seed = seed
        without_dropout(self._network)
        self._parameters = self._network.trainable_params()
        self._state = {p: p.asnumpy().copy() for p in self._network.get_parameters() if not p.requires_grad}
        self.passes = 0
        self._float32, _ = self._under({})
        if not self._float32.finite:
            raise HalfwiseError(
                "the gradient is not finite in float32, even without a loss scale: no precision can be judged "
                "before that is mended"
            )
        again, _ = self._under({})
        self._repeat_distance = _distance(again, self._float32)

    def effect(self, low: tuple[str, ...], precision: LowPrecision) -> AloneEffect:
        """What moves when just the layers or ops that these rule patterns name run in the precision."""
        found, scale = self._under(dict.fromkeys(low, precision))
        if not found.finite:
            return AloneEffect(precision=precision, finite=False, loss_scale=scale)
        base = self._float32
        return AloneEffect(
            precision=precision,
            finite=True,
            loss_scale=scale,
            loss_change=abs(found.loss - base.loss) / max(abs(base.loss), _LEAST_LOSS),
            gradient_distance=_distance(found, base),
            gradient_cosine=_cosine(found, base),
            repeat_distance=self._repeat_distance,
        )

    def _under(self, low: Mapping[str, RulePrecision]) -> tuple[_Step, float]:
        """A step under float32 and some rules, at the largest loss scale tried that keeps it finite."""
        apply(Policy(default="float32", layers={**self._rules, **low}), self._network)
        scale = self._loss_scale
        found = self._run(scale)
        while not found.finite and math.isfinite(found.loss) and scale > 1:
            scale = max(scale * _NEXT_SCALE, 1.0)
            found = self._run(scale)
        return found, scale

    def _run(self, scale: float) -> _Step:
        self.passes += 1
        # What else the network draws, it draws the same in each pass.
        ms.set_seed(self._seed)
        ms.manual_seed(self._seed)
        gradients = ms.value_and_grad(self._scaled_loss, None, self._parameters, has_aux=True)
        (_, loss), found = gradients(ms.Tensor(scale, ms.float32), *self._data)
        flat = np.concatenate([each.asnumpy().astype(np.float64).ravel() for each in found]) / scale
        for parameter, value in self._state.items():
            parameter.set_data(ms.Tensor(value))
        return _Step(float(loss.asnumpy()), flat)

    def _scaled_loss(self, scale, *data):
        inputs = self._step.inputs
        outputs = ops.mixed_precision_cast(ms.float32, self._network(*data[:inputs]))
        loss = self._step.loss(outputs, *data[inputs:]).astype(ms.float32)
        return loss * scale, loss


def _distance(found: _Step, base: _Step) -> float:
    """The L2 norm of the difference over that of `base`; 0 between two gradients that are 0."""
    difference, length = np.linalg.norm(found.gradients - base.gradients), np.linalg.norm(base.gradients)
    return float(difference / max(length, np.finfo(np.float64).tiny)) if difference else 0.0


def _cosine(found: _Step, base: _Step) -> float:
    """0 where one of the gradients is 0."""
    lengths = np.linalg.norm(found.gradients) * np.linalg.norm(base.gradients)
    return float(found.gradients @ base.gradients / lengths) if lengths else 0.0
