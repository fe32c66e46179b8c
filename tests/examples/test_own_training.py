"""The examples that put a policy file into a training of the user's own."""

import pytest

from halfwise.policies import BUILTIN, save_policy


def low_layers_in(text: str) -> str:
    """The line in which an example says what went low."""
    return next(line for line in text.splitlines() if line.startswith("low precision in "))


def accuracy_in(text: str) -> float:
    """The accuracy that an example prints last."""
    return float(text.splitlines()[-1].removeprefix("accuracy "))


@pytest.mark.parametrize("script", ["own_loop.py", "model_api.py"])
def test_an_example_trains_under_the_policy_written_by_hand(run_program, examples, script):
    """Without an argument, examples/policy.yaml applies: the blocks but for their norms low, and it learns."""
    text = run_program(examples / script)
    assert accuracy_in(text) > 0.9
    low = "blocks, blocks.0, blocks.0.dense, blocks.1, blocks.1.dense"
    assert low_layers_in(text) == f"low precision in 5 of 10 layers: {low}"


def test_the_policy_is_the_argument(run_program, examples, tmp_path):
    """A policy file named on the command line takes the place of the example's own."""
    save_policy(BUILTIN["O3"], tmp_path / "o3.yaml")
    text = run_program(examples / "own_loop.py", tmp_path / "o3.yaml")
    assert low_layers_in(text).startswith("low precision in 10 of 10 layers")
    assert accuracy_in(text) > 0.9
