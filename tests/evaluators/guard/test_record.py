"""What a guard remembers: skips in its window, quiet stretches, and floors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.guard.record import Raise, Record
from halfwise.evaluators.guard.settings import Guard
from halfwise.policies import InputError

HEAD = Raise(layers=("head",), precision="float32")
BODY = Raise(layers=("body", "norm"), precision="bfloat16")


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 6), st.integers(0, 5))
def test_skips_are_counted_in_the_window(skips: list[bool], window: int, most: int) -> None:
    """A skipped step passes the bound just when it and those before it in the window are more than allowed."""
    most = min(most, window - 1)
    guard = Guard(most_skips=most, window=window)
    record = Record()
    for step, skipped in enumerate(skips):
        expected = 1 + sum(skips[max(step - window + 1, 0) : step])
        assert record.passes(guard) == (expected if expected > most else None)
        record = record.counted(guard, skipped)
    assert record.steps == len(skips)
    assert Record.model_validate_json(record.model_dump_json()) == record


def quiet(record: Record, guard: Guard) -> tuple[int, Record]:
    """How many steps it takes until something is due back, and the record then."""
    steps = 0
    while record.due_back(guard) is None:
        record, steps = record.counted(guard), steps + 1
    return steps, record


def test_what_has_to_return_waits_twice_as_long() -> None:
    """The last raise is due first, after 5, then 10, then 20 quiet steps; another one's wait is its own."""
    guard = Guard(quiet_steps=5)
    record = Record().with_raise(BODY)
    waits = []
    for _ in range(3):
        record = record.with_raise(HEAD)
        steps, record = quiet(record, guard)
        assert record.due_back(guard) == HEAD
        waits.append(steps)
        record = record.without_last()
    assert waits == [5, 10, 20]
    steps, record = quiet(record, guard)
    assert (steps, record.due_back(guard)) == (5, BODY)
    assert record.without_last().due_back(guard) is None


def test_a_raise_starts_the_stretch_and_the_window_anew() -> None:
    """Skips before a raise were the other policy's, and so was the quiet."""
    guard = Guard(most_skips=1, window=5, quiet_steps=3)
    record = Record().with_raise(HEAD)
    for _ in range(2):
        record = record.counted(guard, skipped=True)
    assert record.passes(guard) == 3
    record = record.with_raise(BODY)
    assert record.passes(guard) is None
    assert quiet(record, guard)[0] == 3


def test_without_a_way_back_nothing_is_ever_due() -> None:
    """None is never."""
    record = Record().with_raise(HEAD)
    for _ in range(50):
        record = record.counted(Guard(quiet_steps=None))
    assert record.due_back(Guard(quiet_steps=None)) is None


def test_the_last_raise_of_a_layer_is_its_floor() -> None:
    """Raised twice it computes in the safer precision; taken back once, in the one before."""
    record = Record().with_raise(BODY).with_raise(Raise(layers=("norm",), precision="float32"))
    assert record.floors == {"body": "bfloat16", "norm": "float32"}
    assert record.without_last().floors == {"body": "bfloat16", "norm": "bfloat16"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"most_skips": 50}, "most_skips must be at least 0 and less than window, .*; got 50 of 50 steps"),
        ({"most_skips": -1}, "got -1 of 50 steps"),
        ({"quiet_steps": 0}, "quiet_steps must be at least 1; got 0"),
        ({"keep_every": 0}, "keep_every must be at least 1; got 0"),
        ({"low_precisions": ("half",)}, "low_precisions may name float16, bfloat16; got 'half'"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(settings: dict, words: str) -> None:
    """Each in one sentence with the value and what is allowed."""
    with pytest.raises(InputError, match=words):
        Guard(**settings)
