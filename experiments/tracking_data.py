"""The data that a study trains on, as MLflow names them."""

import json

from mlflow.entities import Dataset

from .home import StudyFolder
from .looked_at import kept_look

_SOURCE = "code"


def workload_data(folder: StudyFolder) -> Dataset | None:
    """The workload's name and its data's digest; None where the study has not looked at its workload yet."""
    if not folder.survey_file.exists():
        return None
    survey = kept_look(folder).survey
    if not survey.data_digest:
        return None
    source = {"workload": survey.workload, "digest_of": "the first batches of seed 0"}
    return Dataset(survey.workload, survey.data_digest, _SOURCE, json.dumps(source))
