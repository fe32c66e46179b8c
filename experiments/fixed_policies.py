"""What is tried before the sampler's proposals: float32, the other levels, the experiment's own policies."""

from pathlib import Path

from ..policies import LEVELS, Policy
from .experiment_file import Experiment, named_policies
from .study_file import BASELINE


def fixed_policies(experiment: Experiment, folder: Path) -> tuple[tuple[str, Policy], ...]:
    """The policies by name, in the order in which they are tried; paths to policy files are relative to `folder`.

    Raises:
        InputError: a policy cannot be read.
    """
    levels = (
        (name, policy.replace(mode=experiment.mode))
        for name, policy in LEVELS.items()
        if experiment.levels or name == BASELINE
    )
    return (*levels, *named_policies(experiment, folder))
