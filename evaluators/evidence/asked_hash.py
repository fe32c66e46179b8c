"""A short name for what a policy came to: equal asked tables are one and the same training step."""

import hashlib
import json

import pandas as pd


def asked_hash(table: pd.DataFrame) -> str:
    """16 hex digits over layer, op, direction and asked precisions of every row, as a sorted list.

    Ids, shapes, kernels and the order of independent ops do not count, nor does the layer of an op that several
    layers share: it depends on the order. Loss scaling and mode are not in the graph's precisions: two policies
    that differ there may share a hash and still train differently.
    """
    columns = ["direction", "op", "input_precisions", "output_precision"]
    pairs = zip(table["layer"], table["layer_certain"], strict=True)
    layers = [layer if certain else ["shared"] for layer, certain in pairs]
    rows = sorted(
        json.dumps([layer, *values])
        for layer, values in zip(layers, table[columns].itertuples(index=False), strict=True)
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
