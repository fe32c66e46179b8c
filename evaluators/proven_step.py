"""Compiles the training step of a trial and reads off the compiled graph what became of the policy."""

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import mindspore as ms
import pandas as pd

from ..policies.policy import Policy
from ..policies.rewrite import read_outline
from .compile_failure import failure_of
from .device import in_graph_mode
from .evidence import Mismatch, Proof, asked_hash, mark_layers, prove, read_op_table, remove_marks
from .graph_dump import dumped_graphs
from .outcome import Evidence
from .prepared import Prepared
from .training import as_tensors
from .workload import Workload


@dataclass(frozen=True)
class ProvenStep:
    """The op table of a step and what it proves; how long it took to compile, None if it was not."""

    table: pd.DataFrame
    evidence: Evidence
    compile_time_s: float | None


def compile_proven(prepared: Prepared, workload: Workload, policy: Policy, folder: Path) -> ProvenStep:
    """Compile the step without running it, and compare every op with the policy.

    The graph is that of graph mode whatever mode the policy is for. `folder` holds the dump meanwhile, and
    nothing afterwards; the network carries no marks then, whatever happened.

    Raises:
        DoesNotCompile: MindSpore cannot compile the step; its words, with the user's file and line.
        HalfwiseError: the dump cannot be read.
    """
    dump = folder / "graphs"
    batch = as_tensors(workload.sample_batch())
    mark_layers(prepared.network, dump)
    try:
        compile_time_s = _compile(prepared, batch, dump)
        table = read_op_table(dump, read_outline(prepared.network))
    finally:
        # Later compilations of the network (for the evaluation) read its source again, not the links in the dump.
        remove_marks(prepared.network)
        shutil.rmtree(dump)
    return ProvenStep(table, _summarised(table, prove(table, prepared.assignments, policy)), compile_time_s)


def described(mismatch: Mismatch) -> str:
    """One op that is not as asked, in a user's words."""
    layer = mismatch.layer or "the network itself"
    return f"{mismatch.op} of {layer}: asked {mismatch.asked}, got {mismatch.got} ({mismatch.why})"


def _compile(prepared: Prepared, batch: list[ms.Tensor], dump: Path) -> float:
    """Seconds that it took."""
    with in_graph_mode(), dumped_graphs(dump):
        started = time.perf_counter()
        try:
            prepared.step.compile(*batch)
        except MemoryError:
            raise
        except Exception as error:  # MindSpore raises whatever the traced code raises.
            raise failure_of(error, prepared.network, dump) from error
        return time.perf_counter() - started


def _summarised(table: pd.DataFrame, proof: Proof) -> Evidence:
    return Evidence(
        asked_hash=asked_hash(table),
        summary=proof.summary,
        ops_matched=proof.matched,
        mismatches=tuple(map(described, proof.mismatched)),
        idle_entries=proof.idle,
    )
