"""What a bound of memory refuses, in words and in real trials."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.memory_bound import MemoryBound, size_words

BYTES = st.integers(1, 10**13)


@given(BYTES, BYTES)
def test_more_than_the_bound_is_refused_and_no_less(needed_bytes, limit_bytes):
    """By its price a step is refused exactly if it needs more; by the peak only where peaks count."""
    priced = MemoryBound(limit_bytes=limit_bytes)
    measured = MemoryBound(limit_bytes=limit_bytes, kind="measured")
    refused = needed_bytes > limit_bytes
    assert (priced.refuse_priced(needed_bytes) is not None) == refused
    assert (measured.refuse_priced(needed_bytes) is not None) == refused
    assert (measured.refuse_measured(needed_bytes, "Ascend") is not None) == refused
    assert priced.refuse_measured(needed_bytes, "Ascend") is None
    assert measured.refuse_measured(None, "Ascend") is None


def test_the_cause_says_how_much_which_figure_and_the_bound():
    """A user reads what is needed, whether that was priced or measured, and what is allowed."""
    bound = MemoryBound(limit_bytes=16 * 10**9, kind="measured")
    assert bound.refuse_priced(17_180_000_000) == "needs at least 17.18 GB of memory (priced), more than 16 GB"
    words = "needs 17.18 GB of memory (peak measured on Ascend), more than 16 GB"
    assert bound.refuse_measured(17_180_000_000, "Ascend") == words


@pytest.mark.parametrize(("size_bytes", "words"), [(1, "0.001 kB"), (999_999, "1000 kB"), (5 * 10**8, "500 MB")])
def test_small_sizes_in_words(size_bytes, words):
    """Sizes below a gigabyte keep four figures in a unit that fits."""
    assert size_words(size_bytes) == words


def test_a_policy_beyond_the_bound_is_not_trained(run_trial):
    """It is compiled and priced, no step is run, and the cause says so."""
    outcome = run_trial("make_tiny", "O3", memory_bound=MemoryBound(limit_bytes=1000))
    assert (outcome.status, outcome.losses, outcome.quality) == ("infeasible", (), None)
    assert outcome.least_memory_bytes > 1000
    assert (
        outcome.cause
        == f"needs at least {size_words(outcome.least_memory_bytes)} of memory (priced), more than 1 kB"
    )


def test_float32_beyond_the_bound_is_trained_but_does_not_count(run_trial):
    """Others are held against its quality, so it is trained; on a CPU the process's own peak plays no part."""
    bound = MemoryBound(limit_bytes=1000)
    outcome = run_trial("make_tiny", "O0", memory_bound=bound)
    assert outcome.status == "infeasible"
    assert outcome.cause.startswith("needs at least ")
    assert outcome.quality > 0.85
    assert len(outcome.losses) == 30
    roomy = MemoryBound(limit_bytes=10**6)
    assert run_trial("make_tiny", "O0", memory_bound=roomy).status == "trained"
