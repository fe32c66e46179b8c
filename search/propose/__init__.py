"""Who proposes the next policy from what is known of the space and of the trials so far."""

from .cost_model import Border, CostModel, Site
from .proposer import Proposer, Tried

__all__ = ["Border", "CostModel", "Proposer", "Site", "Tried"]
