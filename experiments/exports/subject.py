"""What is exported: a policy and the network whose layers it speaks of."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...evaluators.evaluator import survey_workload
from ...evaluators.process import Limits
from ...evaluators.survey_result import Survey, SurveyedCell, SurveyRequest
from ...policies import Policy, Precision
from ...policies.regions import asked_ops
from ...policies.resolve import Assignment, resolve
from ..workloads import resolve_for_pricing

_LIMITS = Limits(time_s=600, memory_bytes=16 << 30)


@dataclass(frozen=True)
class OpAsked:
    """One kind of op in one layer; `precision` is None where it follows its inputs."""

    cell: SurveyedCell
    op: str
    precision: Precision | None


@dataclass(frozen=True)
class Subject:
    """A policy under the name that people gave it, and what a survey found of its network."""

    policy: Policy
    title: str
    survey: Survey

    def assignments(self) -> tuple[Assignment, ...]:
        """What the policy asks of each layer, in the order of `survey.cells`.

        Raises:
            InputError: the policy is for another network.
        """
        return resolve(self.policy, self.survey.outline)

    def ops(self) -> Iterator[OpAsked]:
        """What the policy asks of each layer's own ops, of the forward pass.

        Raises:
            InputError: as `assignments`; or a layer is asked for float16 and bfloat16 both.
        """
        for cell, assignment in zip(self.survey.cells, self.assignments(), strict=True):
            asked = asked_ops(assignment, self.policy)
            for op in cell.ops:
                yield OpAsked(cell, op, asked.precisions.get(op))


def subject_of(policy: Policy, title: str, workload: str, search_path: Path) -> Subject:
    """The policy on a workload's network, which is looked at in a process of its own, on this machine's CPU.

    A workload of the user's own is looked for in `search_path`.

    Raises:
        InputError: the workload is wrong.
        HalfwiseError: it cannot be built.
    """
    with tempfile.TemporaryDirectory(prefix="halfwise-") as folder:
        request = SurveyRequest(
            workload=resolve_for_pricing(workload),
            search_path=search_path,
            folder=Path(folder) / "survey",
            target="CPU",
            mode=policy.mode,
        )
        return Subject(policy, title, survey_workload(request, _LIMITS))


def layer_words(path: str) -> str:
    """The layer as people are told of it."""
    return path or "the network itself"
