"""Builds a zoo network from its plan."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from mindspore import nn

from .benign import (
    MLP,
    Attention,
    ChainDense,
    ChainMLP,
    ChainNorm,
    Convolution,
    Dense,
    Gain,
    Gated,
    NormDense,
)
from .cells import Group
from .ends import Head, Join, OffsetHead, Stem
from .graded import Positions, Saturation, Vanishing, Variance
from .plan import Plan
from .ruinous import Exponent, LogEpsilon, MaskedProduct, Norm, Reduction, Square
from .slower import Lookup, Summary

OFFSET = 3000.0
"""How far above zero the targets of an OffsetHead lie, in deviations."""

_PLAIN: Mapping[str, Callable[[], Group]] = MappingProxyType(
    {
        "dense": Dense,
        "gated": Gated,
        "norm_dense": NormDense,
        "mlp": MLP,
        "convolution": Convolution,
        "attention": Attention,
        "gain": Gain,
        "chain_dense": ChainDense,
        "chain_norm": ChainNorm,
        "chain_mlp": ChainMLP,
        "chain_gain": Gain,
        "join": Join,
    }
)
_WITH_SIDE: Mapping[str, Callable[[int], Group]] = MappingProxyType(
    {
        "masked_product": MaskedProduct,
        "square": Square,
        "exponent": Exponent,
        "log_epsilon": LogEpsilon,
        "norm": Norm,
        "reduction": Reduction,
        "vanishing": Vanishing,
        "positions": Positions,
        "saturation": Saturation,
        "variance": Variance,
        "summary": Summary,
        "lookup": Lookup,
    }
)


class ZooNetwork(nn.Cell):
    """Features (N, F), and the groups' own inputs in the order of the groups, to targets (N, C)."""

    def __init__(self, plan: Plan, features: int, targets: int, sides: Mapping[int, int]):
        """`sides` has the size of each group's own input by its place: its columns, or the rows of a table."""
        super().__init__()
        ends = {
            "stem": lambda: Stem(features),
            "head": lambda: Head(targets),
            "coarse_target": lambda: OffsetHead(targets, OFFSET),
        }
        makers: Mapping[str, Callable[[], Group]] = {**_PLAIN, **ends}
        self.groups = nn.CellList(
            [
                _WITH_SIDE[kind](sides[place]) if place in sides else makers[kind]()
                for place, kind in enumerate(plan.kinds)
            ]
        )
        self.stages = plan.stages
        own = [place in sides for place in range(len(plan.kinds))]
        self.ends = tuple(int(end) for end in np.cumsum(own))
        self.starts = (0, *self.ends[:-1])

    def construct(self, features, *sides):
        """The stages one behind the other; what a group gets beside the stream is its own slice of `sides`."""
        x = features
        for stage in self.stages:
            first = stage[0]
            left = self.groups[first](x, *sides[self.starts[first] : self.ends[first]])
            if len(stage) == 1:
                x = left
            else:
                second = stage[1]
                right = self.groups[second](x, *sides[self.starts[second] : self.ends[second]])
                x = self.groups[stage[2]](left, right)
        return x
