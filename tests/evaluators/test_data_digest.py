"""The digest of a workload's data: equal for equal batches, another for anything else in the first of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfwise.evaluators.data_digest import BATCHES, data_digest
from halfwise.evaluators.workload import Batch


def batch(values: np.ndarray, labels: np.ndarray | None = None) -> Batch:
    """One batch of these values."""
    return Batch((values,), (np.zeros(len(values), np.int32) if labels is None else labels,))


VALUES = np.arange(12, dtype=np.float32).reshape(4, 3)
PLAIN = data_digest([batch(VALUES)])


@given(arrays(np.float32, (4, 3), elements=st.floats(-10, 10, width=32)))
def test_equal_data_have_equal_digests_and_other_data_others(values: np.ndarray):
    """Whatever memory they lie in; a single other value is seen."""
    assert data_digest([batch(values)]) == data_digest([batch(np.asfortranarray(values.copy()))])
    assert (data_digest([batch(values)]) == PLAIN) == (values.tobytes() == VALUES.tobytes())


@pytest.mark.parametrize(
    "other",
    [
        batch(VALUES.astype(np.float64)),
        batch(VALUES.reshape(2, 6), np.zeros(4, np.int32)),
        batch(VALUES, np.ones(4, np.int32)),
    ],
)
def test_types_shapes_and_labels_count(other: Batch):
    """The same numbers in another type or shape, and other labels, are other data."""
    assert data_digest([other]) != PLAIN


def test_the_first_batches_of_endless_data_are_looked_at():
    """It ends; what comes after these batches is not in it, what is in the last of them is."""
    endless = (batch(VALUES + step) for step in itertools.count())
    first = [batch(VALUES + step) for step in range(BATCHES)]
    assert data_digest(endless) == data_digest(first) == data_digest([*first, batch(VALUES)])
    assert data_digest(first) != data_digest([*first[:-1], batch(VALUES)])
    assert len(PLAIN) == 32
