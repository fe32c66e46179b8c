"""What tests of the examples run in fresh processes, with examples/ on Python's path."""

import importlib
import itertools
from pathlib import Path

from halfwise.evaluators.device import use_device
from halfwise.evaluators.prepared import prepare
from halfwise.evaluators.training import train
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import load_policy


def prepared_losses(workload: str, policy_file: str, seed: int, steps: int) -> list[float]:
    """Losses of a policy file on a workload, by the functions that a user's script can call."""
    policy = load_policy(policy_file)
    use_device("CPU", policy.mode)
    loaded = load_workload(workload, None)
    step = prepare(loaded, policy, seed).step
    return train(step, itertools.islice(loaded.batches(seed), steps), steps).losses


def own_loop_losses(policy_file: str, steps: int) -> list[float]:
    """Losses of examples/own_loop.py under a policy file."""
    policy = load_policy(Path(policy_file))
    use_device("CPU", policy.mode)
    own_loop = importlib.import_module("own_loop")
    _, step = own_loop.build(policy)
    return own_loop.train(step, steps)
