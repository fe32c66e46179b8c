"""How the loss is scaled before the backward pass, as frozen values of one family."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from .precision import FORMATS


def _shortest(value: float) -> int | float:
    """1024 rather than 1024.0: the text of a policy is for people too."""
    return int(value) if value.is_integer() and value < 2**53 else value


# MindSpore's scalers take no scale below 1, and keep it as a float32 number.
_Scale = Annotated[float, Field(ge=1, le=FORMATS["float32"].max, allow_inf_nan=False), PlainSerializer(_shortest)]
# MindSpore's dynamic scaler takes whole numbers only; 1 would never move the scale.
_Factor = Annotated[int, Field(ge=2, le=2**31)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def label(self) -> str:
        """A short name: the kind, and the figures that are not the usual ones, such as "static scale=1024"."""
        figures = self.model_dump(exclude_defaults=True, exclude={"kind"})
        return " ".join([str(getattr(self, "kind", "")), *(f"{name}={value}" for name, value in figures.items())])


class DynamicLossScaling(_Frozen):
    """Starts at `initial`; a non-finite gradient divides by `factor`, `window` good steps multiply by it."""

    kind: Literal["dynamic"] = "dynamic"
    initial: _Scale = 65536.0
    factor: _Factor = 2
    window: Annotated[int, Field(ge=1)] = 1000


class StaticLossScaling(_Frozen):
    """One `scale` from the first step to the last; steps with non-finite gradients are still skipped."""

    kind: Literal["static"] = "static"
    scale: _Scale


class NoLossScaling(_Frozen):
    """The loss as it is."""

    kind: Literal["none"] = "none"


LossScaling = Annotated[DynamicLossScaling | StaticLossScaling | NoLossScaling, Field(discriminator="kind")]
