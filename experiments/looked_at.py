"""What a search found out of device and network before its first trial, kept for its workers."""

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..evaluators.device_facts import DeviceFacts
from ..evaluators.json_file import read_json, write_json
from ..evaluators.survey_result import Survey
from ..policies.errors import InputError
from ..search.lease import Owner
from .home import StudyFolder


class LookedAt(BaseModel):
    """`survey.json`: the device that the study trains on, and the survey of its workload's network.

    `machine` is the machine that was looked at since its last start, empty where that is not known.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["halfwise/looked-at/1"] = "halfwise/looked-at/1"
    device: DeviceFacts
    survey: Survey
    machine: str

    def on(self, here: DeviceFacts) -> DeviceFacts:
        """The device of this machine, with the low precisions that the study tries.

        Raises:
            InputError: it is of another kind, or does not compute one of these.
        """
        if here.target != self.device.target:
            raise InputError(
                f"the study trains on {self.device.target}, and this machine on {here.target}: its kernels "
                "differ, so trials could not be compared"
            )
        missing = [name for name in self.device.low_precisions if name not in here.low_precisions]
        if missing:
            raise InputError(
                f"the study tries {', '.join(missing)}, which {here.target} does not compute here: "
                f"{'; '.join(here.missing.get(name, 'no reason given') for name in missing)}"
            )
        return replace(here, low_precisions=self.device.low_precisions)


def keep_look(device: DeviceFacts, survey: Survey, folder: StudyFolder) -> None:
    """Write `survey.json`."""
    write_json(LookedAt(device=device, survey=survey, machine=Owner.here().boot), folder.survey_file)


def kept_look(folder: StudyFolder) -> LookedAt:
    """What the study was started with.

    Raises:
        HalfwiseError: the file is missing or holds something else.
    """
    return read_json(LookedAt, folder.survey_file)
