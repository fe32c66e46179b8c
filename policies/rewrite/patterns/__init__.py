"""Pattern rules: find calls in a network by how values flow, and rewrite a copy of it."""

from .engine import Rewriting, find, rewrite
from .equality import Equality
from .form import Anything, Node, chain, node
from .report import Change, Left, Report
from .rule import Declined, Followed, Match, Rule, pattern

__all__ = [
    "Anything",
    "Change",
    "Declined",
    "Equality",
    "Followed",
    "Left",
    "Match",
    "Node",
    "Report",
    "Rewriting",
    "Rule",
    "chain",
    "find",
    "node",
    "pattern",
    "rewrite",
]
