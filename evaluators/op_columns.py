"""What every op table has of each op; `evidence.read_op_table` says what each column means."""

COLUMNS = (
    "id", "op", "graph_op", "layer", "layer_certain", "direction", "forward_id",
    "input_precisions", "output_precision", "compute_precision", "kernel_precision",
    "input_shapes", "output_shapes", "flops", "bytes_read", "bytes_written",
    "producers", "consumers", "parameters", "is_cast", "cast_by", "name",
)  # fmt: skip
