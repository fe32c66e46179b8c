"""Compiles the training step of a trial and reads off the compiled graph what became of the policy."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import mindspore as ms
import pandas as pd

from ..policies.policy import Policy
from ..policies.rewrite import read_outline
from .compile_failure import failure_of, is_unjoined
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
    with compiled_dump(prepared, workload, folder) as (dump, compile_time_s):
        table = read_op_table(dump, read_outline(prepared.network))
    return ProvenStep(table, summarised(table, prove(table, prepared.assignments, policy)), compile_time_s)


@contextmanager
def compiled_dump(prepared: Prepared, workload: Workload, folder: Path) -> Iterator[tuple[Path, float]]:
    """The folder with the graphs of the step, which is compiled for it, and the seconds that it took to compile.

    While this is open, the network carries marks; see `compile_proven` for the rest.

    Raises:
        DoesNotCompile: MindSpore cannot compile the step.
    """
    dump = folder / "graphs"
    batch = as_tensors(workload.sample_batch())
    mark_layers(prepared.network, dump)
    try:
        yield dump, _compile(prepared, batch, dump)
    finally:
        # Later compilations of the network (for the evaluation) read its source again, not the links in the dump.
        remove_marks(prepared.network)
        shutil.rmtree(dump)


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
            told = _unjoined_alone(prepared, batch) or error
            raise failure_of(told, prepared.network, dump) from error
        return time.perf_counter() - started


def _unjoined_alone(prepared: Prepared, batch: list[ms.Tensor]) -> Exception | None:
    """What MindSpore says of branches of the network that do not join; None if they do.

    In the whole step, loss and gradients meet the type that is not joined first, and fail with words of their own.
    """
    try:
        prepared.network.compile(*batch[: prepared.step.inputs])
    except MemoryError:
        raise
    except Exception as error:  # As above.
        return error if is_unjoined(error) else None
    return None


def summarised(table: pd.DataFrame, proof: Proof) -> Evidence:
    """What a proof of the table comes to, in values and words."""
    return Evidence(
        asked_hash=asked_hash(table),
        summary=proof.summary,
        ops_matched=proof.matched,
        mismatches=tuple(map(described, proof.mismatched)),
        idle_entries=proof.idle,
    )
