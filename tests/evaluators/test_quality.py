"""What `evaluate` may give, and where data are dirty."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.evaluators.dirty_data import first_dirty
from halfwise.evaluators.quality import NoQuality, quality_of
from halfwise.evaluators.workload import Batch


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.array(0.5), np.array([[0.5]]), [0.5]])
def test_one_number_in_any_wrapping_is_a_quality(value: Any) -> None:
    """Python and NumPy numbers and arrays of one value are taken as they are."""
    assert quality_of(value, "accuracy") == 0.5


@pytest.mark.parametrize("value", [(0.9, 0.1), [], None, "good", True, {"accuracy": 0.9}, [1, [2, 3]], 1j])
def test_what_is_not_one_number_is_refused(value: Any) -> None:
    """Several values, none, or something else is refused with what was given (case 23)."""
    with pytest.raises(NoQuality, match=r"evaluate\(\) must give one number, the accuracy, but gave "):
        quality_of(value, "accuracy")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_quality_is_finite(value: float) -> None:
    """NaN and infinity are refused by name (case 23)."""
    with pytest.raises(NoQuality, match=f"^accuracy is {value}$"):
        quality_of(value, "accuracy")


def batches(dirty: dict[tuple[int, int, int, int], float]) -> list[Batch]:
    """Three batches of two inputs (4, 3) and labels (4,); values that are set by batch, array, row and column."""
    made = []
    for number in range(3):
        arrays = [np.zeros((4, 3), np.float32), np.zeros((4, 3), np.float32)]
        for (batch, array, row, column), value in dirty.items():
            if batch == number:
                arrays[array][row, column] = value
        made.append(Batch(tuple(arrays), (np.zeros(4, np.int32),)))
    return made


PLACES = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3), st.integers(0, 2))


@given(st.dictionaries(PLACES, st.sampled_from([np.nan, np.inf, -np.inf]), max_size=4), st.integers(0, 3))
def test_the_first_dirty_value_is_named(dirty: dict[tuple[int, int, int, int], float], count: int) -> None:
    """Of the batches that are looked at, the first value that is not finite is named with its place (case 19)."""
    found = first_dirty(iter(batches(dirty)), count)
    looked_at = sorted(place for place in dirty if place[0] < count)
    if not looked_at:
        assert found is None
        return
    batch, array, row, column = looked_at[0]
    value = dirty[looked_at[0]]
    same = sum(place[:2] == (batch, array) for place in looked_at)
    more = f" ({same} such values in that array)" if same > 1 else ""
    assert found == f"batch {batch} holds {value} in input {array}, row {row}, column {column}{more}"


def test_labels_and_images_are_looked_at_too() -> None:
    """A float label is named by its row, a value of an image by all that comes after its row."""
    images = np.zeros((2, 3, 4, 4), np.float32)
    labels = np.zeros(2, np.float32)
    labels[1] = np.inf
    assert first_dirty(iter([Batch((images,), (labels,))]), 9) == "batch 0 holds inf in label 0, row 1"
    images[1, 2, 3, 0] = np.nan
    assert (
        first_dirty(iter([Batch((images,), (labels,))]), 9)
        == "batch 0 holds nan in input 0, row 1, column (2, 3, 0)"
    )
    assert first_dirty(itertools.repeat(Batch((np.zeros(3, np.int32),), ())), 5) is None


def test_dirty_data_end_a_trial_with_their_place(run_trial) -> None:
    """NaN in the data is blamed on the data, with batch, row and column, and on no op of the network (case 19)."""
    outcome = run_trial("noisy_workloads:make_dirty")
    assert outcome.status == "infeasible"
    place = "batch 3 holds nan in input 0, row 5, column 1 (2 such values in that array)"
    assert outcome.cause == f"non-finite at step 3: the data are dirty, {place}"
    assert outcome.first_non_finite is None


def test_a_metric_of_two_numbers_is_infeasible(run_trial) -> None:
    """A trial whose metric is not one number trained for nothing, and says what it got (case 23)."""
    outcome = run_trial("noisy_workloads:make_two_values")
    assert outcome.status == "infeasible"
    assert outcome.cause.startswith("evaluate() must give one number, the accuracy, but gave (0.")
