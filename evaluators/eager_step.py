"""Evidence of a policy for PyNative mode: what Cells gave in a first pass, beside the graph's table or alone."""

from collections.abc import Callable, Sequence
from typing import Any

from mindspore import nn

from ..policies.policy import Policy
from .compile_failure import DoesNotCompile
from .evidence import SeenCall, SeenMismatch, asked_hash, match_seen, partial_table, prove_partial, watched_outputs
from .outcome import Evidence
from .prepared import Prepared
from .proven_step import ProvenStep, described
from .training import as_tensors
from .workload import Workload

Judge = Callable[[Sequence[SeenCall]], ProvenStep]
"""What becomes of the calls that were seen."""


class WatchedStep:
    """A training step in PyNative mode whose first call is watched; what it computes is the same, bit for bit."""

    def __init__(
        self, step: Callable[..., Any], network: nn.Cell, take: Callable[[Sequence[SeenCall]], None]
    ) -> None:
        """`take` gets what was seen of the first call; what it raises goes on to the caller."""
        self._step, self._network = step, network
        self._take: Callable[[Sequence[SeenCall]], None] | None = take

    def __call__(self, *data: Any) -> Any:
        """The step on inputs and labels."""
        if self._take is None:
            return self._step(*data)
        with watched_outputs(self._network) as calls:
            result = self._step(*data)
        take, self._take = self._take, None
        take(calls)
        return result


def watch_forward(prepared: Prepared, workload: Workload) -> tuple[SeenCall, ...]:
    """Run the sample batch through the network, in PyNative mode, for training; what its Cells gave.

    The pass changes statistics that the network keeps: don't train it afterwards.
    """
    with watched_outputs(prepared.network) as calls:
        prepared.network(*as_tensors(workload.sample_batch())[: prepared.step.inputs])
    return tuple(calls)


def checked(proven: ProvenStep) -> Judge:
    """A judge that compares the calls with the graph's table; a layer that gave something else is a mismatch."""

    def judge(calls: Sequence[SeenCall]) -> ProvenStep:
        match = match_seen(calls, proven.table)
        differing = len(match.mismatched)
        found = f"{differing} differ from it" if differing else "all as the table says"
        seen = f"; in PyNative the outputs of {match.compared} of {match.layers} layers were compared, {found}"
        before = proven.evidence
        evidence = before.model_copy(
            update={
                "summary": before.summary + seen,
                "mismatches": (*before.mismatches, *map(_differing, match.mismatched)),
            }
        )
        return ProvenStep(proven.table, evidence, proven.compile_time_s)

    return judge


def partial(prepared: Prepared, policy: Policy, why: DoesNotCompile) -> Judge:
    """A judge for a network that graph mode cannot compile: the calls are all the evidence that there is."""

    def judge(calls: Sequence[SeenCall]) -> ProvenStep:
        table = partial_table(calls)
        proof = prove_partial(calls, table, prepared.assignments, policy)
        evidence = Evidence(
            asked_hash=asked_hash(table),
            summary=f"partial: {proof.summary}; graph mode cannot compile this step: {why}",
            ops_matched=proof.matched,
            mismatches=tuple(map(described, proof.mismatched)),
            partial=True,
        )
        return ProvenStep(table, evidence, None)

    return judge


def _differing(mismatch: SeenMismatch) -> str:
    layer = mismatch.layer or "the network itself"
    return f"output of {layer}: {mismatch.graph} in the graph's table, {mismatch.seen} seen in PyNative"
