"""Puts a policy onto a network by casts in its constructs, written with MindSpore's rewriter."""

from .engine import SymbolTreeEngine

__all__ = ["SymbolTreeEngine"]
