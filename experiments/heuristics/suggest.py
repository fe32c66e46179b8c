"""`halfwise suggest`: one float32 run, the rules, and what the compiled step says of the policy; no search."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...evaluators.inspection_result import Inspection
from ...evaluators.price.devices import Device
from ...policies import BUILTIN, LowPrecision, Policy, resolve
from ...policies.errors import InputError
from ..inspect_policy import inspect_policy
from ..sensitivity_run import Looked, look_and_measure
from .suggestion import Kept, suggested


@dataclass(frozen=True)
class Suggested:
    """A policy that nobody has trained yet; `speedup` over float32 is a price on `device`."""

    workload: str
    policy: Policy
    kept: tuple[Kept, ...]
    low: tuple[str, ...]
    layers: int
    inspection: Inspection
    device: str
    speedup: float
    notes: tuple[str, ...]

    @property
    def applied(self) -> bool:
        """Whether the compiled step is what the policy asks."""
        return not self.inspection.evidence.mismatches

    def lines(self, file: str) -> Iterator[str]:
        """For a terminal: what stays float32 and why, what goes low, the price, what to do next."""
        yield f"{self.workload}: {self.policy.default} but for"
        yield from (
            f"  {name}: {self.policy.reasons.get(name, 'keeps what its rules say')}" for name in self.policy.layers
        )
        if not self.policy.layers:
            yield "  nothing: the rules see no harm anywhere"
        yield f"something goes low in {len(self.low)} of {self.layers} layers that compute"
        yield self.inspection.evidence.summary.partition("; on this")[0]
        yield from (f"not as asked: {line}" for line in self.inspection.evidence.mismatches)
        yield f"{self.speedup:.2f}x float32's speed, priced on {self.device}, not measured"
        yield from (f"note: {note}" for note in self.notes)
        yield "It was not trained: the rules judge values of one float32 run. Next:"
        yield f"  {shlex.join(['halfwise', 'confirm', file, '--workload', self.workload])}"

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "workload": self.workload,
            "policy": self.policy.model_dump(mode="json", exclude_defaults=True),
            "kept": [
                {
                    "name": each.group.name or ".",
                    "chance_of_harm": each.belief.probability,
                    "reason": each.belief.reason,
                }
                for each in self.kept
            ],
            "low": list(self.low),
            "priced_speedup": self.speedup,
            "priced_on": self.device,
            "trained": False,
        }


def suggest(
    workload: str, keep: Sequence[str], precision: LowPrecision, device: Device, steps: int | None = None
) -> Suggested:
    """Look at the workload's values in float32, suggest a policy, compile and price it.

    Raises:
        InputError: the workload or a pattern of `keep` is wrong, or MindSpore cannot compile it.
        HalfwiseError: float32 itself is not finite, or a process did not get to its end.
    """
    looked = look_and_measure(workload, steps)
    if looked.survey.partial is not None:
        raise InputError(f"{workload} has no graph to look at: {looked.survey.partial}")
    policy, kept = suggested(looked.found, looked.survey, precision, keep)
    found, float32 = (inspect_policy(each, workload, device).inspection for each in (policy, BUILTIN["O0"]))
    assert found.pricing is not None
    assert float32.pricing is not None
    return Suggested(
        workload=workload,
        policy=_annotated(policy, looked, found),
        kept=kept,
        low=_low(looked, policy),
        layers=sum(cell.has_choice for cell in looked.survey.cells),
        inspection=found,
        device=device.name,
        speedup=float32.pricing.step_time_s / found.pricing.step_time_s,
        notes=looked.found.notes,
    )


def _annotated(policy: Policy, looked: Looked, found: Inspection) -> Policy:
    steps = looked.found.collected_steps[-1] + 1 if looked.found.collected_steps else 0
    return policy.replace(
        made_for={"workload": looked.survey.workload, "versions": {"mindspore": looked.survey.mindspore_version}},
        results={"chosen_because": f"suggested by rules over a float32 run of {steps} steps; it was not trained"},
        asked_hash=found.evidence.asked_hash,
    )


def _low(looked: Looked, policy: Policy) -> tuple[str, ...]:
    """The layers that compute floats and of which something goes low."""
    assigned = resolve(policy, looked.survey.outline)
    whole = {each.path for each in assigned if each.precision == "float32"}
    return tuple(cell.path or "." for cell in looked.survey.cells if cell.has_choice and cell.path not in whole)
