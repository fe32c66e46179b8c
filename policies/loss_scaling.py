"""How the loss is scaled before the backward pass, as frozen values of one family."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from .precision import FORMATS

# The scale is a float32 number in the training step.
_Scale = Annotated[float, Field(gt=0, le=FORMATS["float32"].max, allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DynamicLossScaling(_Frozen):
    """Starts at `initial`; a non-finite gradient divides by `factor`, `window` good steps multiply by it."""

    kind: Literal["dynamic"] = "dynamic"
    initial: _Scale = 65536.0
    factor: Annotated[float, Field(gt=1, le=FORMATS["float32"].max, allow_inf_nan=False)] = 2.0
    window: Annotated[int, Field(ge=1)] = 1000


class StaticLossScaling(_Frozen):
    """One `scale` from the first step to the last; steps with non-finite gradients are still skipped."""

    kind: Literal["static"] = "static"
    scale: _Scale


class NoLossScaling(_Frozen):
    """The loss as it is."""

    kind: Literal["none"] = "none"


LossScaling = Annotated[
    DynamicLossScaling | StaticLossScaling | NoLossScaling, Field(discriminator="kind")
]
