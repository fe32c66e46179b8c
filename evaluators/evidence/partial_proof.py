"""Compares what was seen of a network that graph mode cannot compile with the policy."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ...policies.policy import Policy
from ...policies.resolve import Assignment
from .eager_outputs import SeenCall
from .partial_table import known_ops
from .proof import Proof, prove


def prove_partial(
    calls: Sequence[SeenCall], table: pd.DataFrame, assignments: Sequence[Assignment], policy: Policy
) -> Proof:
    """Compare the output of each Cell with what the policy asks, where the policy decides it.

    That is for MindSpore's own layers whose last op is known (`ops_of_layer`): the output must be in what is
    asked of that op. A layer under `auto` whose last op is on neither list is not compared, nor is any Cell of the
    user's own: the ops in it are not seen. Which entries of the op lists change nothing cannot be told, so `idle`
    is empty. `table` is the partial table of `calls`.
    """
    last = [ops[-1] if (ops := known_ops(call)) else None for call in calls]
    # What goes into a Cell is not yet cast, and only its last op is known to give what it gives.
    outputs = table.assign(graph_op=last, op=last, input_precisions=[()] * len(table))
    proof = prove(outputs, assignments, policy)
    layers = table["layer"][table["output_precision"].notna()]
    low = sum(table["output_precision"].isin(["float16", "bfloat16"]))
    wrong = len(proof.mismatched)
    decided = f"the policy decides {proof.matched + wrong}, {f'{wrong} not' if wrong else 'all'} as asked"
    summary = f"in PyNative {low} of {len(layers)} Cell calls gave low precision; {decided}"
    return replace(proof, idle=(), summary=summary)
