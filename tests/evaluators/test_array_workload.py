"""A workload made of functions and arrays."""

import itertools
from typing import Any

import numpy as np
import pytest
from mindspore import nn
from tiny_workloads import TinyNet

from halfwise.evaluators.array_workload import ArrayWorkload
from halfwise.evaluators.outcome import Metric
from halfwise.evaluators.workload import shuffled_batches
from halfwise.policies.errors import InputError

INPUTS = np.arange(20, dtype=np.float32).reshape(10, 2)
LABELS = np.arange(10, dtype=np.int32)


def nearest(outputs: np.ndarray, labels: np.ndarray) -> float:
    """The share of outputs that are their label."""
    return float((outputs == labels).mean())


def workload(**changes: Any) -> ArrayWorkload:
    """Ten rows to train on, the last four of them held out too."""
    parts: dict[str, Any] = {
        "name": "rows",
        "metric": Metric("accuracy", "maximize"),
        "make_network": TinyNet,
        "make_loss": nn.MSELoss,
        "make_optimizer": lambda parameters: nn.SGD(parameters, 0.1),
        "training": (INPUTS, LABELS),
        "held_out": (INPUTS[6:], LABELS[6:]),
        "score": nearest,
        "batch_size": 4,
        "trial_steps": 1,
        "full_steps": 10,
    }
    return ArrayWorkload(**{**parts, **changes})


def test_its_parts_are_what_the_functions_make():
    """Network, loss and optimizer are fresh ones of the functions', and the optimizer has the parameters."""
    rows = workload()
    network = rows.network()
    assert isinstance(network, TinyNet)
    assert rows.network() is not network
    assert isinstance(rows.loss(), nn.MSELoss)
    parameters = network.trainable_params()
    assert [p.name for p in rows.optimizer(parameters).parameters] == [p.name for p in parameters]


def test_its_batches_are_shuffled_batches():
    """The same rows in the same order as `shuffled_batches` gives for the seed, each with its own label."""
    drawn = list(itertools.islice(workload().batches(3), 5))
    expected = itertools.islice(shuffled_batches((INPUTS,), (LABELS,), 4, 3), 5)
    for batch, other in zip(drawn, expected, strict=True):
        np.testing.assert_array_equal(batch.inputs[0], other.inputs[0])
        np.testing.assert_array_equal(batch.inputs[0][:, 0] / 2, batch.labels[0])


def test_the_score_is_of_what_was_held_out():
    """It gets what the network makes of the held-out inputs, and their labels."""
    assert workload().evaluate(lambda inputs: inputs[:, 0] / 2) == 1
    assert workload().evaluate(lambda inputs: np.array([6, 7, 0, 0])) == 0.5


@pytest.mark.parametrize("name", ["training", "held_out"])
@pytest.mark.parametrize(("inputs", "labels"), [(INPUTS, LABELS[1:]), (INPUTS[:0], LABELS[:0])])
def test_arrays_that_do_not_fit_are_refused(name, inputs, labels):
    """Where a label is missing, or there is no sample at all, the message names the arrays and both numbers."""
    with pytest.raises(InputError) as caught:
        workload(**{name: (inputs, labels)})
    assert str(caught.value) == (
        f"workload 'rows': {name} must hold as many inputs as labels, at least one of each, "
        f"but got {len(inputs)} inputs and {len(labels)} labels"
    )
