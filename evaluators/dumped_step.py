"""One training step whose every value was written down, with the graphs that say which op each value is of."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from ..policies.rewrite import read_outline
from .compile_failure import failure_of
from .evidence import mark_layers, read_kernel_table, read_op_table, remove_marks
from .evidence.asked_graph import AskedOp, read_asked_graph
from .graph_dump import dumped_graphs
from .localize.asked_ops import AskedOps
from .localize.origin import first_harmful
from .prepared import Prepared
from .training import as_tensors
from .value_dump import DumpedOp, dumped_tensors
from .workload import Batch

# Whoever hands these something that is not finite has spoilt the step.
_JUDGED = ("loss", "scaling", "update")


@dataclass(frozen=True)
class DumpedStep:
    """The op table of the step and the graph that it was read from, the kernel table, and every tensor on disk."""

    ops: pd.DataFrame
    graph: Sequence[AskedOp]
    kernels: pd.DataFrame
    tensors: Sequence[DumpedOp]

    @cached_property
    def by_kernel(self) -> dict[int, list[DumpedOp]]:
        """The tensors of each kernel by its id, kernels in the order in which they ran."""
        # Dumps write "/" in names as "_".
        ids = {name.replace("/", "_"): kernel for kernel, name in self.kernels["name"].items()}
        found: dict[int, list[DumpedOp]] = {}
        for tensor in self.tensors:
            if tensor.name in ids:
                found.setdefault(ids[tensor.name], []).append(tensor)
        return found

    def by_op(self) -> dict[int, list[DumpedOp]]:
        """The tensors of each op whose kernel is certain, by the op's id, in the order in which they ran."""
        asked = AskedOps(self.ops, self.kernels)
        of = {kernel: asked.exact(kernel) for kernel in self.by_kernel}
        times = Counter(of.values())
        return {op: self.by_kernel[k] for k, op in of.items() if op is not None and times[op] == 1}

    def first_non_finite(self) -> pd.Series | None:
        """The row of the op that first made what is not finite and did harm; None where all is finite."""
        bad = [
            kernel
            for kernel, tensors in self.by_kernel.items()
            if not all(tensor.finite() for tensor in tensors if tensor.side == "output")
        ]
        judged = set(self.ops.index[self.ops["direction"].isin(_JUDGED)])
        fatal = self.kernels.index[self.kernels["asked_id"].isin(judged)]
        origin = first_harmful(self.kernels, bad, set(fatal))
        return None if origin is None else AskedOps(self.ops, self.kernels).behind(origin)


def run_dumped(prepared: Prepared, batch: Batch, dump: Path) -> DumpedStep:
    """Run and read one step, in a process that writes the values of its first step to `dump`, in graph mode.

    Raises:
        DoesNotCompile: graph mode cannot compile the step.
    """
    graphs = dump / "graphs"
    mark_layers(prepared.network, graphs)
    try:
        with dumped_graphs(graphs):
            prepared.step(*as_tensors(batch))[0].asnumpy()
    except (RuntimeError, TypeError, ValueError) as error:
        raise failure_of(error, prepared.network, graphs) from error
    finally:
        remove_marks(prepared.network)
    ops = read_op_table(graphs, read_outline(prepared.network))
    return DumpedStep(ops, read_asked_graph(graphs).ops, read_kernel_table(graphs), dumped_tensors(dump))
