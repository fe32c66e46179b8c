"""The policy that a person names: a level, a file, a text in braces, a study's choice or one of its trials."""

import re
from pathlib import Path

from ..policies import BUILTIN, Policy, load_policy
from ..policies.errors import InputError
from .home import Home
from .inspect_policy import read_policy
from .study_file import read_records

_TRIAL = re.compile(r"(?P<study>[^:]+):(?P<number>[0-9]{1,9})")


def policy_named(text: str, home: Home) -> Policy:
    """O0 to O3 and auto, a file, `{...}`, STUDY for the policy that it chose, or STUDY:NUMBER for a trial's.

    A file comes before a study of the same name.

    Raises:
        InputError: it is none of them; or the study has chosen nothing yet, or has no such trial.
    """
    if text in BUILTIN or text.lstrip().startswith("{") or Path(text).exists():
        return read_policy(text)
    if (match := _TRIAL.fullmatch(text)) is not None:
        return _of_trial(match["study"], int(match["number"]), home)
    if Path(text).suffix in (".yaml", ".yml", ".json") or "/" in text:
        return read_policy(text)
    study = home.existing_study(text)
    if not study.best_policy.exists():
        raise InputError(f"study {text} has chosen no policy yet; name a trial as {text}:NUMBER")
    return load_policy(study.best_policy)


def _of_trial(name: str, number: int, home: Home) -> Policy:
    records = {record.number: record for record in read_records(home.existing_study(name))}
    if number not in records:
        known = f"finished are {min(records)} to {max(records)}" if records else "none is finished"
        raise InputError(f"study {name} has no finished trial {number}; {known}")
    return load_policy(records[number].folder / "policy.yaml")
