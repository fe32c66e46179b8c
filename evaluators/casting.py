"""The job behind `halfwise export --as source`: a workload's network with a policy's casts, as a Python file."""

import tempfile

from ..policies import parse_policy, resolve
from ..policies.rewrite import read_outline
from ..policies.rewrite.network_outline import named_cells
from ..policies.rewrite.symbol_tree import source_file, without_place, written_classes
from .casting_result import CastingRequest, CastingResult
from .device import use_device
from .workload_reference import load_workload


def cast_workload(request: CastingRequest) -> CastingResult:
    """Build the network and write its constructs anew; nothing is run.

    Raises:
        InputError: the workload is wrong, the policy is for another network, or its code cannot be rewritten.
    """
    # This process ends without Python's own cleaning up: its folder goes, with what lies in it.
    tempfile.tempdir = str(request.folder)
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode)
    workload = load_workload(request.workload, request.search_path)
    network = workload.network()
    assignments = resolve(policy, read_outline(network))
    made = written_classes(dict(named_cells(network)), assignments, policy)
    source = source_file(made, f"{request.title}, on {workload.name}.")
    return CastingResult(source=source, without_place=tuple(without_place(made)))
