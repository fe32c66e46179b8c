"""A user's own workload, from the search to the policy in a training loop."""

import json

from halfwise.policies import load_policy


def test_from_a_workload_of_ones_own_to_a_policy_in_ones_own_loop(run_program, examples, tmp_path):
    """Search the example's workload, export the policy written by hand, train with it."""
    home = ("--home", tmp_path / "home")
    search = (
        "search",
        examples / "my_workload.yaml",
        "--no-levels",
        "--trials",
        "3",
        "--sampler",
        "random",
        "--no-mlflow",
        *home,
    )
    run_program("halfwise", *search)
    found = json.loads(run_program("halfwise", "front", "my_workload", "--format", "json", *home))
    trials = {trial["policy"]: trial for trial in found["trials"]}
    assert set(trials) == {"O0", "by-hand", "low-but-for-the-norms"}
    assert all(trial["quality"] > 0.9 for trial in trials.values())
    run_program("halfwise", "export", "my_workload", "--rule", "trial:1", "-o", tmp_path / "policy.yaml", *home)
    exported = load_policy(tmp_path / "policy.yaml")
    assert exported.digest == load_policy(examples / "policy.yaml").digest
    text = run_program(examples / "own_loop.py", tmp_path / "policy.yaml")
    assert "low precision in 5 of 10 layers" in text
    assert float(text.splitlines()[-1].removeprefix("accuracy ")) > 0.9
