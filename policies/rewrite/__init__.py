"""Puts a policy onto a MindSpore network and takes it off again."""

from .apply import Rewritten, apply, remove
from .network_outline import read_outline
from .scaling import make_scaler

__all__ = ["Rewritten", "apply", "make_scaler", "read_outline", "remove"]
