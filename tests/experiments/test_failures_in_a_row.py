"""When a search stops because its trials fail, and what it says they have in common."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.outcome import Outcome
from halfwise.experiments.failures_in_a_row import stop_reason
from halfwise.experiments.records import TrialRecord
from halfwise.experiments.study_file import trained_before
from halfwise.policies import Policy


def record(
    number: int, status: str = "failed", layers: dict[str, str] | None = None, **fields: Any
) -> TrialRecord:
    """A trial of a policy with these rules; where nothing else is said it failed."""
    policy = Policy.model_validate({"layers": layers or {}})
    outcome = {
        "policy": str(policy),
        "digest": policy.digest,
        "seed": 1,
        "device": "CPU",
        "mindspore_version": "2.10.0",
        "metric": "accuracy",
        "direction": "maximize",
        "status": status,
        "quality": 0.9 if status == "trained" else None,
        "cause": "killed" if status == "failed" else None,
    }
    return TrialRecord(
        number, None, policy, Outcome.model_validate(outcome | fields), Path(f"trials/{number:03d}")
    )


@given(st.lists(st.sampled_from(["failed", "trained", "infeasible", "shared"]), max_size=12), st.integers(1, 4))
def test_a_search_stops_after_so_many_failures_in_a_row(statuses: list[str], most: int) -> None:
    """It stops exactly if the last trials that ran anything, as many as allowed, all failed."""
    shared = {"status": "trained", "notes": ("not trained again: the same policy as trial 0",)}
    records = [
        record(number, **shared) if status == "shared" else record(number, status)
        for number, status in enumerate(statuses)
    ]
    ran = "".join(status[0] for status in statuses if status != "shared")
    assert (stop_reason(records, most) is not None) == ran.endswith("f" * most)


def test_what_a_search_shares_is_seen_as_shared() -> None:
    """An outcome as the search gives it to a policy that compiles to the same step breaks no row."""
    evidence = {"asked_hash": "a", "summary": "", "ops_matched": 1}
    first = record(0, "trained", evidence=evidence)
    (given_again,) = trained_before([first]).values()
    again = TrialRecord(2, None, first.policy, given_again.shared(), first.folder)
    records = [first, record(1), again, record(3)]
    assert stop_reason(records, 2) == "2 trials in a row failed (trial 1, 3): all with the cause 'killed'"


SITE = {"head": "float16"}


@pytest.mark.parametrize(
    ("records", "words"),
    [
        (
            [
                record(0, message="OSError: no data\nline 3"),
                record(1, message="OSError: no data\nline 4"),
            ],
            "2 trials in a row failed (trial 0, 1): all with the cause 'killed' and the message "
            "'OSError: no data'",
        ),
        (
            [record(0, cause="raised", message="a"), record(1, message="b")],
            "2 trials in a row failed (trial 0, 1): with the causes 'raised' (1), 'killed' (1); the last one says "
            "'b'; they have nothing in common",
        ),
        (
            [record(0, message="a", layers=SITE | {"body": "float32"}), record(1, message="b", layers=SITE)],
            "2 trials in a row failed (trial 0, 1): all with the cause 'killed'; the last one says 'b'; all of "
            "them, and no trial that trained, have head in float16",
        ),
        (
            [
                record(0, "trained", layers={"head": "float16"}),
                record(1, layers={f"l{place}": "bfloat16" for place in range(7)} | SITE),
                record(2, layers={f"l{place}": "bfloat16" for place in range(7)} | SITE),
            ],
            "2 trials in a row failed (trial 1, 2): all with the cause 'killed'; all of them, and no trial that "
            "trained, have l0 in bfloat16, l1 in bfloat16, l2 in bfloat16, l3 in bfloat16, l4 in bfloat16 "
            "and 2 more",
        ),
        (
            [record(0, layers={}), record(1, layers={}, policy=str(Policy(default="float16")))],
            "2 trials in a row failed (trial 0, 1): all with the cause 'killed'",
        ),
    ],
)
def test_what_failures_have_in_common(records: list[TrialRecord], words: str) -> None:
    """The same cause, the same first line of the message, the same site low that never trained; or nothing."""
    assert stop_reason(records, 2) == words


def test_one_failure_is_enough_where_no_more_are_allowed() -> None:
    """With one allowed, its own cause and message are what is said."""
    found = stop_reason([record(0, "trained"), record(4, cause="raised", message="KeyError: 'x'")], 1)
    assert found == "a trial failed (trial 4): with the cause 'raised' and the message \"KeyError: 'x'\""
