"""A rule that finds the first layer whose output is not finite, in graph and in PyNative mode."""

import mindspore as ms
from mindspore import nn, ops

from ..patterns import Followed, Match, Rule, chain

_NONE = -1


class FiniteCheck(nn.Cell):
    """Gives what it gets; writes its number into `first` if that is not finite and none was before."""

    def __init__(self, number: int, first: ms.Parameter):
        super().__init__(auto_prefix=False)
        self.number = ms.Tensor(number, ms.int32)
        self.first = first

    def construct(self, x):
        """Any float tensor to itself."""
        bad = ops.logical_not(ops.isfinite(x).all())
        found = ops.logical_and(bad, self.first < 0)
        ops.assign(self.first, ops.select(found, self.number, self.first))
        return x


class FiniteWatch:
    """Watches the outputs of the layers that its rules match, and tells which was the first not to be finite.

    It belongs to one network. Of several layers in one step the first in the order of running counts, and the
    first in all steps since `reset`. The watch is one int32 Parameter of the network that is not trained.
    """

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._first = ms.Parameter(
            ms.Tensor(_NONE, ms.int32), name="halfwise_first_non_finite", requires_grad=False
        )

    def rule(self, layer: type[nn.Cell]) -> Rule:
        """The rule that puts a check behind every layer of this type."""
        return Rule("check-finite", chain(layer), self._watch)

    def first(self) -> str | None:
        """The path of the first layer that gave a number that is not finite, or None."""
        number = int(self._first.asnumpy())
        return None if number == _NONE else self._paths[number]

    def reset(self) -> None:
        """Forget what was found."""
        self._first.set_data(ms.Tensor(_NONE, ms.int32))

    def _watch(self, match: Match) -> Followed:
        self._paths.append(match.paths[-1])
        return Followed(FiniteCheck(len(self._paths) - 1, self._first))
