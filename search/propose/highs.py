"""HiGHS, the solver of integer programs that SciPy brings, behind one function."""

# SciPy ships no types: what comes out of it is unknown to the checker.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...policies.errors import HalfwiseError
from .arrays import Floats, Ints

_INFEASIBLE = 2
_LEAST = 1e-300


class Row(NamedTuple):
    """A constraint: the sum of factors times columns is at most so much."""

    columns: Sequence[int]
    factors: Sequence[float]
    most: float


class Rows(NamedTuple):
    """Constraints as arrays: the entry (number of the row, column) has a factor, and each row its most."""

    numbers: Ints
    columns: Ints
    factors: Floats
    most: Floats


def stacked(rows: Sequence[Row]) -> Rows:
    """The constraints in their order."""
    return Rows(
        np.repeat(np.arange(len(rows)), [len(row.columns) for row in rows]),
        np.array([column for row in rows for column in row.columns], dtype=np.int64),
        np.array([factor for row in rows for factor in row.factors], dtype=float),
        np.array([row.most for row in rows], dtype=float),
    )


def cheapest(costs: Floats, whole: int, rows: Sequence[Rows], nodes: int | None) -> Ints | None:
    """The first `whole` of the columns in [0, 1], zeros and ones, of least cost; None where none keep to the rows.

    The other columns may take any value in [0, 1]. With `nodes` the branching ends after so many.

    Raises:
        HalfwiseError: it ended without an answer.
    """
    # Takes a quarter of a second, and few networks need it.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, csr_array

    constraints = [
        LinearConstraint(
            csr_array(coo_array((each.factors, (each.numbers, each.columns)), shape=(len(each.most), len(costs)))),
            -np.inf,
            each.most,
        )
        for each in rows
        if len(each.most)
    ]
    found = milp(
        # The tolerances are absolute: figures of the size of 1 suit them.
        costs / max(float(np.abs(costs).max()), _LEAST),
        integrality=np.arange(len(costs)) < whole,
        bounds=Bounds(0, 1),
        constraints=constraints,
        options={"mip_rel_gap": 0} | ({} if nodes is None else {"node_limit": nodes}),
    )
    if found.x is None and found.status != _INFEASIBLE:
        raise HalfwiseError(f"the solver ended without an answer: {found.message}")
    return None if found.x is None else np.round(found.x[:whole]).astype(np.int64)
