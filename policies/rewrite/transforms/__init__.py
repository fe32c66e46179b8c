"""Rules that come with halfwise."""

from .check_finite import FiniteWatch
from .clip_gradients import clip_gradients_by_norm, clip_gradients_by_value
from .fold_batchnorm import fold_batchnorm
from .precision_groups import precision_groups

__all__ = [
    "FiniteWatch",
    "clip_gradients_by_norm",
    "clip_gradients_by_value",
    "fold_batchnorm",
    "precision_groups",
]
