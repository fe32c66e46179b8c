"""A study's experiment as it was launched, kept so that one of its policies can be trained again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..policies.errors import InputError
from .experiment_file import WHERE_AND_WHO, Experiment, named_policies
from .home import StudyFolder


class KeptExperiment(BaseModel):
    """`experiment.json`: the experiment's fields under the names of its file, and where its workload stands."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/kept-experiment/1"] = "halfwise/kept-experiment/1"
    fields: Mapping[str, Any]
    search_path: Path

    @property
    def experiment(self) -> Experiment:
        """The experiment itself."""
        return Experiment.model_validate(self.fields)


def keep_experiment(experiment: Experiment, search_path: Path, folder: StudyFolder) -> None:
    """Write `experiment.json`; `search_path` is absolute.

    Policies are kept as texts, since their files may not be where they were. Where the study is stored, and who
    works on it, is no part of it.
    """
    policies = {name: str(policy) for name, policy in named_policies(experiment, search_path)}
    whole = experiment.model_copy(update={"policies": policies})
    fields = whole.model_dump(mode="json", by_alias=True, exclude=set(WHERE_AND_WHO))
    write_json(KeptExperiment(fields=fields, search_path=search_path), folder.experiment_file)


def kept_experiment(folder: StudyFolder) -> KeptExperiment:
    """What the study was launched with.

    Raises:
        InputError: the study was started before experiments were kept.
    """
    if not folder.experiment_file.exists():
        raise InputError(
            f"study {folder.name} does not hold its experiment ({folder.experiment_file.name}): start the search "
            "again with the same file and name, which trains nothing anew, and it will"
        )
    return read_json(KeptExperiment, folder.experiment_file)
