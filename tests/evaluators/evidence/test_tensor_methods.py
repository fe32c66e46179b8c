from pathlib import Path

from halfwise.experiments.inspect_policy import inspect_policy
from halfwise.policies import BUILTIN

SUPPORT = Path(__file__).parents[2] / "support"


def test_an_op_of_a_tensors_method_belongs_to_the_layer_that_calls_it():
    """`x.sum()` has the finite check's source positions, but stands between ops of the layer, and is its own."""
    table = inspect_policy(BUILTIN["O0"], "localize_workloads:make_lengths", search_path=SUPPORT).table
    forward = table[(table["direction"] == "forward") & (table["layer"] == "own")]
    assert forward["op"].tolist() == ["Tanh", "Mul", "Mul", "ReduceSum", "Add", "Sqrt", "Mul"]
    assert not (table["op"] == "ReduceSum")[table["direction"] == "scaling"].any()
