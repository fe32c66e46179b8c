"""What a group of a zoo network may be; what goes wrong in float16, and whether it shows as NaN."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Shape = Literal["residual", "branched", "chain"]

SHAPES: tuple[Shape, ...] = ("residual", "branched", "chain")

STEM, JOIN, HEAD = "stem", "join", "head"
"""Kinds that a network has for its shape's sake; they may go low."""


@dataclass(frozen=True)
class Hazard:
    """A kind of group that must stay float32, and why in words.

    `graded`: it loses quality and nothing else; the others end in NaN or infinity.
    """

    kind: str
    reason: str
    graded: bool


VANISHING = "vanishing"
COARSE_TARGET = "coarse_target"

HAZARDS: Mapping[str, Hazard] = MappingProxyType(
    {
        hazard.kind: hazard
        for hazard in (
            Hazard("masked_product", "(1 - mask) * -1e9 is 0 * -inf where the mask is 1", graded=False),
            Hazard("square", "squares of values up to 2,000 pass 65,504", graded=False),
            Hazard("exponent", "exp of values up to 13 passes 65,504", graded=False),
            Hazard("log_epsilon", "1e-8 is 0, and log(0) is -inf", graded=False),
            Hazard("norm", "the sum of squares of values around 300 passes 65,504", graded=False),
            Hazard("reduction", "the sum of 512 values around 250 passes 65,504", graded=False),
            Hazard(VANISHING, "gradients below 6e-8, although scaled by 65,536, are 0", graded=True),
            Hazard("positions", "positions beyond 32,768 are rounded to multiples of 32", graded=True),
            Hazard("saturation", "sigmoid of 9 and more is 1", graded=True),
            Hazard("variance", "a mean of squares around 10,000 is rounded to multiples of 8", graded=True),
            Hazard(COARSE_TARGET, "outputs around 3,000 are rounded to multiples of 2", graded=True),
        )
    }
)

SLOWER_LOW: tuple[str, ...] = ("summary", "lookup")
"""Kinds that float16 makes slower whatever their neighbours do: what they cast is more than what they compute."""

BENIGN: Mapping[Shape, tuple[str, ...]] = MappingProxyType(
    {
        "residual": ("dense", "gated", "norm_dense", "mlp", "convolution", "attention", "gain"),
        "branched": ("dense", "gated", "norm_dense", "mlp", "convolution", "attention", "gain"),
        "chain": ("chain_dense", "chain_norm", "chain_mlp", "chain_gain"),
    }
)
"""Kinds that lose nothing in float16."""
