"""Every assignment there is, the fastest first: the exact front of a small space."""

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...policies.errors import InputError
from .cost_model import Choices, CostModel
from .proposer import Tried

LARGEST = 4096


class Exhaustive:
    """Proposes all assignments in the order of their price, fastest first; a `Proposer`.

    Raises:
        InputError: there are more than 4,096 assignments.
    """

    def __init__(self, costs: CostModel) -> None:
        """Refuse a space that nobody would try in full."""
        count = math.prod(costs.sizes)
        if count > LARGEST:
            raise InputError(
                f"exhaustive tries every policy, at most {LARGEST:,}, but this space of {len(costs.sites)} sites "
                f"has {count:,}: take another sampler, or search fewer layers"
            )
        self._costs = costs

    def propose(self, tried: Sequence[Tried], rng: np.random.Generator) -> Choices | None:
        """The fastest that was not tried; None when all were."""
        seen = {trial.choices for trial in tried}
        return next((choices for choices in self._by_price if choices not in seen), None)

    @cached_property
    def _by_price(self) -> tuple[Choices, ...]:
        every = itertools.product(*map(range, self._costs.sizes))
        allowed = (choices for choices in every if self._costs.one_low(choices) == choices)
        return tuple(sorted(allowed, key=self._costs.step_time_s))
