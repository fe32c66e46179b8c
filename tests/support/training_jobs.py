"""Trainings that tests run in fresh processes, apart from a trial."""

from pathlib import Path

from halfwise.evaluators.device import use_device
from halfwise.evaluators.prepared import prepare
from halfwise.evaluators.training import train
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import parse_policy


def losses(workload: str, policy: str, seed: int, steps: int) -> list[float]:
    """The loss of every step of a workload under a policy."""
    asked = parse_policy(policy)
    use_device("CPU", asked.mode)
    loaded = load_workload(workload, Path(__file__).parent)
    prepared = prepare(loaded, asked, seed)
    return train(prepared.step, loaded.batches(seed), steps).losses
