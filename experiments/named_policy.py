"""The policy that a person names: a level, a file, a text in braces, a study's choice or one of its trials."""

import re
from dataclasses import dataclass
from pathlib import Path

from ..policies import BUILTIN, Policy, load_policy
from ..policies.errors import InputError
from .home import Home, StudyFolder
from .inspect_policy import read_policy
from .study_file import read_records

_TRIAL = re.compile(r"(?P<study>[^:]+):(?P<number>[0-9]{1,9})")


@dataclass(frozen=True)
class NamedStudy:
    """A study that the home holds, and the trial of it that was named, if any."""

    folder: StudyFolder
    trial: int | None


def study_named(text: str, home: Home) -> NamedStudy | None:
    """What STUDY or STUDY:NUMBER names; None for a level, a file and a text in braces.

    A file comes before a study of the same name.

    Raises:
        InputError: it is none of them.
    """
    if text in BUILTIN or text.lstrip().startswith("{") or Path(text).exists():
        return None
    if (match := _TRIAL.fullmatch(text)) is not None:
        return NamedStudy(home.existing_study(match["study"]), int(match["number"]))
    if Path(text).suffix in (".yaml", ".yml", ".json") or "/" in text:
        return None
    return NamedStudy(home.existing_study(text), None)


def policy_named(text: str, home: Home) -> Policy:
    """O0 to O3 and auto, a file, `{...}`, STUDY for the policy that it chose, or STUDY:NUMBER for a trial's.

    Raises:
        InputError: it is none of them; or the study has chosen nothing yet, or has no such trial.
    """
    study = study_named(text, home)
    if study is None:
        return read_policy(text)
    if study.trial is not None:
        return _of_trial(study.folder, study.trial)
    if not study.folder.best_policy.exists():
        raise InputError(f"study {text} has chosen no policy yet; name a trial as {text}:NUMBER")
    return load_policy(study.folder.best_policy)


def _of_trial(folder: StudyFolder, number: int) -> Policy:
    records = {record.number: record for record in read_records(folder)}
    if number not in records:
        known = f"finished are {min(records)} to {max(records)}" if records else "none is finished"
        raise InputError(f"study {folder.name} has no finished trial {number}; {known}")
    return load_policy(records[number].folder / "policy.yaml")
