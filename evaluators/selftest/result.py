"""What the jobs of a self-test are asked and find; free of mindspore, for the asking process."""

from pydantic import BaseModel, ConfigDict, PositiveInt

from ..request import Request, WorkloadRequest

IDENTITY_JOB = "halfwise.evaluators.selftest.identity:compare_untouched"
BITS_JOB = "halfwise.evaluators.selftest.float32_bits:float32_bits"


class IdentityRequest(WorkloadRequest):
    """Train so many steps twice in float32: the untouched network, and one that an all-float32 policy is on."""

    steps: PositiveInt


class Identity(BaseModel):
    """Whether both trained alike, bit for bit: losses of all steps, and all parameters at the end.

    `first_difference` is the first step whose losses differ, None if none does.
    """

    model_config = ConfigDict(frozen=True)

    steps: int
    first_difference: int | None
    parameters_equal: bool

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.first_difference is None and self.parameters_equal


class BitsRequest(Request):
    """Find out how exact float32 products are."""


class Float32Bits(BaseModel):
    """How many bits behind the leading one a float32 product keeps, by op: 23 of float32, 10 of TF32 and float16.

    Fewer than 23 say that something computes float32 in less, whatever it was told: TF32 on NVIDIA cards, float16
    inside on parts of Ascend.
    """

    model_config = ConfigDict(frozen=True)

    matmul: int
    convolution: int
