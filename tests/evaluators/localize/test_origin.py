"""Where non-finite values began, on kernel tables of a few rows."""

import pandas as pd
import pytest

from halfwise.evaluators.localize.origin import first_harmful


def kernels(*rows: tuple[str, tuple[int, ...]]) -> pd.DataFrame:
    """A kernel table of precisions given ("" for no float) and producers."""
    return pd.DataFrame(
        {"output_precision": [precision or None for precision, _ in rows], "producers": [p for _, p in rows]},
        dtype=object,
    )


# 0 scores -> 1 masked -> 2 softmax -> 3 product -> 4 square -> 5 loss; 6 tests the loss.
CHAIN = kernels(*((("float32", (k - 1,) if k else ())) for k in range(6)), ("", (5,)))


@pytest.mark.parametrize(
    ("bad", "fatal", "origin"),
    [
        pytest.param([4, 5], {5}, 4, id="the first of a chain to the loss"),
        pytest.param([1, 4, 5], {5}, 4, id="what became finite again did no harm"),
        pytest.param([1, 4, 5], (), 4, id="the end of the step is found without names"),
        pytest.param([1], (), 1, id="without a chain to the end it is the first of all"),
        pytest.param([], {5}, None, id="all finite"),
    ],
)
def test_the_origin_is_the_first_that_did_harm(bad, fatal, origin):
    """A value that is not finite counts where it was handed on to the loss or the end, never finite between."""
    assert first_harmful(CHAIN, bad, fatal) == origin


def test_of_two_origins_it_is_the_first_in_time():
    """Two chains that lead to the loss: the one that began first is named, whatever the numbers."""
    both = kernels(("float32", ()), ("float32", ()), ("float32", (0, 1)))
    assert first_harmful(both, [1, 0, 2], {2}) == 1
