"""What the framework made of a policy: the op table of a compiled training step, and its proof."""

from .asked_hash import asked_hash
from .eager_match import SeenMatch, SeenMismatch, match_seen
from .eager_outputs import SeenCall, watched_outputs
from .kernel_table import read_kernel_table
from .layer_marks import mark_layers, remove_marks, unmarked
from .op_table import ops_without_rule, read_op_table
from .partial_proof import prove_partial
from .partial_table import known_ops, partial_table
from .proof import Mismatch, Proof, prove

__all__ = [
    "Mismatch",
    "Proof",
    "SeenCall",
    "SeenMatch",
    "SeenMismatch",
    "asked_hash",
    "known_ops",
    "mark_layers",
    "match_seen",
    "ops_without_rule",
    "partial_table",
    "prove",
    "prove_partial",
    "read_kernel_table",
    "read_op_table",
    "remove_marks",
    "unmarked",
    "watched_outputs",
]
