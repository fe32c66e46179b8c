"""What the probes of a device find, and the names of the jobs; free of mindspore, for the asking process."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

PRECISION_JOB = "halfwise.evaluators.probe:probe_precision"
CONVOLUTION_JOB = "halfwise.evaluators.probe:probe_convolution"


class PrecisionProbe(BaseModel):
    """Whether the device computes in a precision; `missing` names an op that it refused, and why."""

    model_config = ConfigDict(frozen=True)

    precision: Literal["float16", "bfloat16"]
    missing: dict[str, str]


class ConvolutionProbe(BaseModel):
    """Whether oneDNN takes its slow reference convolution on this CPU."""

    model_config = ConfigDict(frozen=True)

    reference: bool
