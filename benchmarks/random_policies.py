"""Policies drawn at random from a workload's own search space."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import survey_workload
from halfwise.evaluators.process import Limits
from halfwise.evaluators.survey_result import SurveyRequest
from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.space_of import space_of
from halfwise.experiments.workloads import resolve_for_pricing
from halfwise.policies import NetworkOutline, Policy
from halfwise.search.space import SearchSpace

_LIMITS = Limits(time_s=600, memory_bytes=16 << 30)


@dataclass(frozen=True)
class Searched:
    """A workload's network, and what a search may choose there."""

    outline: NetworkOutline
    space: SearchSpace

    @property
    def float32(self) -> Policy:
        """All float32, with the loss scaling of the space, so that its step holds the same finite check."""
        return Policy(loss_scaling=self.space.loss_scaling)

    def policies(self, seed: int, count: int) -> Iterator[Policy]:
        """Policies of the space, each choice drawn evenly."""
        generator = np.random.default_rng(seed)
        parameters = self.space.parameters()
        for _ in range(count):
            yield self.space.policy({name: str(generator.choice(of)) for name, of in parameters.items()})


def survey_space(folder: Path, workload: str, device: DeviceFacts) -> Searched:
    """The space that a search of the workload with an experiment file's defaults would have.

    Raises:
        HalfwiseError: the workload does not compile.
    """
    request = SurveyRequest(
        folder=folder,
        target=device.target,
        workload=resolve_for_pricing(workload),
        search_path=folder,
    )
    survey = survey_workload(request, _LIMITS)
    return Searched(survey.outline, space_of(Experiment(workload=workload), survey, device))
