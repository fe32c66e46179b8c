"""A job that compiles a workload's step, as a trial does, and leaves the op table behind; nothing is run."""

import pickle

from halfwise.evaluators.device import peak_memory_bytes, use_device
from halfwise.evaluators.prepared import prepare
from halfwise.evaluators.proven_step import compile_proven
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import parse_policy

from .compiled import TABLE, CompileAnswer, CompileRequest, Spent


def compile_step(request: CompileRequest) -> CompileAnswer:
    """Build, compile, read, prove; the memory is the most that the process held until then.

    Raises:
        DoesNotCompile: MindSpore cannot compile the step under this policy.
    """
    started = Spent.now()
    use_device(request.target, "graph")
    workload = load_workload(request.workload, request.search_path)
    workload.batch_size = request.batch_size or workload.batch_size
    policy = parse_policy(request.policy)
    prepared = prepare(workload, policy, seed=0)
    built = Spent.now()
    proven = compile_proven(prepared, workload, policy, request.folder)
    ended = Spent.now()
    peak = peak_memory_bytes(request.target)
    (request.folder / TABLE).write_bytes(pickle.dumps(proven.table))
    return CompileAnswer(
        built=built - started,
        compile_wall_s=proven.compile_time_s,
        evidence=ended - built,
        peak_memory_bytes=peak,
        batch_size=workload.batch_size,
        summary=proven.evidence.summary,
        mismatches=proven.evidence.mismatches,
    )
