"""Puts a policy onto a network by casts in its constructs, written with MindSpore's rewriter."""

from .engine import SymbolTreeEngine, written_classes
from .source_file import source_file, without_place

__all__ = ["SymbolTreeEngine", "source_file", "without_place", "written_classes"]
