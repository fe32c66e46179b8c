"""Compiles the training step of a trial and reads off the compiled graph what became of the policy."""

import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..policies.policy import Policy
from ..policies.rewrite import read_outline
from .device import in_graph_mode
from .evidence import Proof, asked_hash, mark_layers, prove, read_op_table, remove_marks, unmarked
from .graph_dump import dumped_graphs
from .outcome import Evidence
from .prepared import Prepared
from .training import as_tensors
from .workload import Workload

# How MindSpore names a place in its messages.
_PLACE = re.compile(r"In file (\S+?:\d+)")


@dataclass(frozen=True)
class ProvenStep:
    """The op table of a compiled step, what it proves, and how long the compilation took."""

    table: pd.DataFrame
    evidence: Evidence
    compile_time_s: float


def compile_proven(prepared: Prepared, workload: Workload, policy: Policy, folder: Path) -> ProvenStep:
    """Compile the step without running it, and compare every op with the policy.

    The graph is that of graph mode whatever mode the policy is for. `folder` holds the dump meanwhile, and
    nothing afterwards.

    Raises:
        RuntimeError, TypeError, ValueError: MindSpore cannot compile the step; with the user's file and line.
        HalfwiseError: the dump cannot be read.
    """
    dump = folder / "graphs"
    mark_layers(prepared.network, dump)
    with in_graph_mode(), dumped_graphs(dump):
        started = time.perf_counter()
        prepared.step.compile(*as_tensors(workload.sample_batch()))
        compile_time_s = time.perf_counter() - started
    table = read_op_table(dump, read_outline(prepared.network))
    # Later compilations of the network (for the evaluation) read its source again, not the links in the dump.
    remove_marks(prepared.network)
    shutil.rmtree(dump)
    proof = prove(table, prepared.assignments, policy)
    return ProvenStep(table, _summarised(table, proof), compile_time_s)


def compile_error(error: Exception, folder: Path) -> str:
    """What MindSpore said first, and the innermost line of the user's own code that it speaks of."""
    text = unmarked(str(error), folder / "graphs")
    lines = (line.strip() for line in text.splitlines())
    said = next((line for line in lines if line and not line.startswith(("-", "In file"))), "no message")
    places = (found for found in _PLACE.findall(text) if _is_users(found))
    place = next(places, None)
    return f"{type(error).__name__}: {said}" + (f" ({place})" if place else "")


def _is_users(place: str) -> bool:
    return "/site-packages/mindspore/" not in place and not place.startswith(str(Path(__file__).parent))


def _summarised(table: pd.DataFrame, proof: Proof) -> Evidence:
    mismatches = tuple(
        f"{m.op} of {m.layer or 'the network itself'}: asked {m.asked}, got {m.got} ({m.why})"
        for m in proof.mismatched
    )
    return Evidence(
        asked_hash=asked_hash(table),
        summary=proof.summary,
        ops_matched=proof.matched,
        mismatches=mismatches,
        idle_entries=proof.idle,
    )
