"""A device tried out within minutes: what it computes, whether policies hold, a trial, a confirmation."""

from .parts import PARTS
from .run import SelfTest, run_selftest

__all__ = ["PARTS", "SelfTest", "run_selftest"]
