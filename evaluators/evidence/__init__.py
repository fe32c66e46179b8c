"""What the framework made of a policy: the op table of a compiled training step, and its proof."""

from .asked_hash import asked_hash
from .kernel_table import read_kernel_table
from .layer_marks import mark_layers, remove_marks, unmarked
from .op_table import ops_without_rule, read_op_table
from .proof import Mismatch, Proof, prove

__all__ = [
    "Mismatch",
    "Proof",
    "asked_hash",
    "mark_layers",
    "ops_without_rule",
    "prove",
    "read_kernel_table",
    "read_op_table",
    "remove_marks",
    "unmarked",
]
