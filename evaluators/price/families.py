"""Four families of kernels, and multipliers for them that make prices fit what was measured."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from .op_costs import OpCosts, op_names, unit_of

FAMILIES = ("matrix", "other float32", "cast", "other float16")


def family_seconds(table: pd.DataFrame, costs: OpCosts) -> np.ndarray:
    """Seconds of a step in each of the four families, in their order.

    Integer and boolean kernels are the optimizer's and the finite check's: they count as other float32.
    """
    low = np.isin(costs.precision, ("float16", "bfloat16"))
    matrix = np.array([unit_of(name) == "matrix" for name in op_names(table)], dtype=bool)
    members = (
        matrix & ~costs.is_cast,
        ~matrix & ~costs.is_cast & ~low,
        costs.is_cast,
        ~matrix & ~costs.is_cast & low,
    )
    return np.array([costs.seconds[rows].sum() for rows in members])


def fit_multipliers(seconds: Sequence[np.ndarray], beside_s: float, measured_s: Sequence[float]) -> np.ndarray:
    """One factor, zero or more, for each family, by least squares of the relative error over some steps.

    `seconds` holds `family_seconds` of each step, `beside_s` what each takes beside its kernels, which no factor
    changes, `measured_s` what each was measured at. A family without a kernel in any step gets 1.
    """
    measured = np.asarray(measured_s, dtype=np.float64)
    parts = np.asarray(seconds, dtype=np.float64) / measured[:, None]
    there = parts.any(axis=0)
    factors = np.ones(len(FAMILIES))
    # Relative error of (beside + factors . parts) against measured, as a linear problem.
    factors[there], _ = nnls(parts[:, there], 1 - beside_s / measured)
    return factors
