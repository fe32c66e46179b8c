"""Stops a search whose trials all fail: says how many did in a row, and what they have in common."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ..policies import LOW_PRECISIONS, Policy
from .records import TrialRecord

_SHOWN = 5


def stop_reason(records: Sequence[TrialRecord], most: int) -> str | None:
    """Why to stop, if the last `most` trials have failed: none of them ran to its end.

    `records` are in the order of their ends. A policy that does not train (infeasible) is no failure. A trial that
    shares an earlier outcome ran nothing, so it neither counts nor breaks a row.
    """
    ran = [record for record in records if not _is_shared(record)]
    failed = ran[-most:]
    if len(failed) < most or any(record.outcome.status != "failed" for record in failed):
        return None
    numbers = ", ".join(str(record.number) for record in failed)
    many = f"{most} trials in a row failed" if most > 1 else "a trial failed"
    return f"{many} (trial {numbers}): {_in_common(failed, ran)}"


def _is_shared(record: TrialRecord) -> bool:
    return any(note.startswith("not trained again") for note in record.outcome.notes)


def _in_common(failed: Sequence[TrialRecord], ran: Sequence[TrialRecord]) -> str:
    causes = Counter(record.outcome.cause or "failed" for record in failed)
    messages = Counter(_first_line(record) for record in failed)
    sites = _low_only_in(failed, ran) if len(failed) > 1 else []
    if len(causes) == 1:
        words = f"{'all ' if len(failed) > 1 else ''}with the cause {next(iter(causes))!r}"
    else:
        words = f"with the causes {_counted(causes)}"
    if len(messages) == 1:
        words += "".join(f" and the message {message!r}" for message in messages if message)
    else:
        words += f"; the last one says {_first_line(failed[-1])!r}"
    if sites:
        words += f"; all of them, and no trial that trained, have {_listed(sites)}"
    elif len(causes) > 1 and len(messages) > 1:
        words += "; they have nothing in common"
    return words


def _listed(sites: Sequence[str]) -> str:
    more = len(sites) - _SHOWN
    return ", ".join(sites[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _first_line(record: TrialRecord) -> str:
    return next(iter((record.outcome.message or "").strip().splitlines()), "")


def _counted(causes: Counter[str]) -> str:
    return ", ".join(f"{cause!r} ({count})" for cause, count in causes.most_common())


def _low_only_in(failed: Sequence[TrialRecord], ran: Iterable[TrialRecord]) -> list[str]:
    """What every failed policy has in low precision and no policy that trained has, such as "head in float16"."""
    common = set.intersection(*(_low(record.policy) for record in failed))
    trained = [_low(record.policy) for record in ran if record.outcome.status == "trained"]
    return sorted(common.difference(*trained))


def _low(policy: Policy) -> set[str]:
    rules = {"everything else": policy.default, **policy.layers}
    return {f"{name} in {precision}" for name, precision in rules.items() if precision in LOW_PRECISIONS}
