"""What a float32 run tells of a group of layers: the values of its ops, and what one low pass of it moved.

Everything here was measured in float32, or against it; the shares say what a low precision would do to the values.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from ..ops import OP_CLASSES
from ..precision import LowPrecision

TensorKind = Literal["input", "weight", "output"]
OpDirection = Literal["forward", "gradient"]

_Share = Annotated[float, Field(ge=0, le=1)]
_Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TensorStatistics(_Value):
    """One kind of tensor of an op: the worst over its instances, the layers of the group, and the collected steps.

    `largest_by_step` holds the largest finite absolute value at each collected step. Shares:

    - `beyond_float16`: of all values, those larger than 65,504;
    - `below_normal`, `below_subnormal`: of the values that are not 0, those smaller than float16's smallest
      normal (6.1e-5) and smallest subnormal (6e-8) number; a gradient's as it would be without a loss scale;
    - `below_normal_scaled`, `below_subnormal_scaled`: the same with the loss scale in use; None in the forward
      pass;
    - `detail_lost_float16`, `detail_lost_bfloat16`: of the values that vary, those whose rounding error is more
      than a twentieth of their spread over the batch, or that are whole numbers and would become others; None
      for gradients and weights, and where nothing varies.
    """

    kind: TensorKind
    largest_by_step: tuple[NonNegativeFloat, ...]
    beyond_float16: _Share
    below_normal: _Share
    below_subnormal: _Share
    below_normal_scaled: _Share | None = None
    below_subnormal_scaled: _Share | None = None
    detail_lost_float16: _Share | None = None
    detail_lost_bfloat16: _Share | None = None

    @property
    def largest(self) -> float:
        """The largest absolute value of all collected steps."""
        return max(self.largest_by_step, default=0.0)

    def detail_lost(self, precision: LowPrecision) -> float | None:
        """The share of values that a precision's mantissa is too short for."""
        return self.detail_lost_float16 if precision == "float16" else self.detail_lost_bfloat16


class OpStatistics(_Value):
    """One op of a group's layers, or the gradient ops that belong to it.

    `op` is the forward op's name as policies know it, also for gradients; a gradient op whose forward op is gone
    keeps its own. `summed_length` is how many terms one element of the output sums: the contraction of a product,
    the reduced elements of a reduction; None for ops that sum nothing.
    """

    op: str
    direction: OpDirection
    summed_length: PositiveInt | None = None
    tensors: tuple[TensorStatistics, ...]


class AloneEffect(_Value):
    """What one step moved when only this group ran in `precision`: same batch, weights and seed as in float32.

    `loss_change` is relative, `gradient_distance` the L2 norm of the difference over that of the float32 gradient,
    `gradient_cosine` the cosine between the two; all None when the loss, or at every tried loss scale a
    gradient, was not finite (`finite` is False then). `loss_scale` is the largest tried one at which all was
    finite, else the last tried. `repeat_distance` is the gradient distance of the float32 step to its repetition.
    """

    precision: LowPrecision
    finite: bool
    loss_scale: PositiveFloat
    loss_change: NonNegativeFloat | None = None
    gradient_distance: NonNegativeFloat | None = None
    gradient_cosine: _Finite | None = None
    repeat_distance: NonNegativeFloat = 0.0


class GroupStatistics(_Value):
    """What is known of one group: its rules' patterns, its ops, and its passes alone (none if there was no time).

    `covers` are left sides of policy rules: paths of layers, or `path::Op` for a part of a group.
    """

    name: str
    covers: tuple[str, ...]
    ops: tuple[OpStatistics, ...]
    alone: tuple[AloneEffect, ...] = ()
    steps: tuple[NonNegativeInt, ...] = ()

    def alone_in(self, precision: LowPrecision) -> AloneEffect | None:
        """The pass in a precision, if there was one."""
        return next((effect for effect in self.alone if effect.precision == precision), None)

    @property
    def governed_ops(self) -> tuple[str, ...]:
        """The forward ops whose precision a rule `path::Op` can choose, sorted."""
        return tuple(sorted({op.op for op in self.ops if op.direction == "forward" and op.op in OP_CLASSES}))
