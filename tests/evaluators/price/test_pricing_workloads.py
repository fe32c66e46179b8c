import pytest
from fresh_process import in_fresh_process

EXPECTED = {
    "resnet50": {
        "name": "resnet50",
        # 25,557,032 weights: what ResNet-50 v1.5 has everywhere.
        "weights": 25_557_032,
        "inputs": [[32, 3, 224, 224, "float32"]],
        "labels": [[32, "int32"]],
    },
    "bert_encoder": {
        "name": "bert-encoder",
        # Twelve layers of 7,087,872; embedding, positions and norm; the scores' weights and biases.
        "weights": 12 * 7_087_872 + (30_522 + 128 + 2) * 768 + 30_522 * 769,
        "inputs": [[32, 128, "int32"], [32, 128, "float32"]],
        "labels": [[32, 128, "int32"]],
    },
}


@pytest.mark.parametrize("module", EXPECTED)
def test_a_pricing_workload_has_the_size_that_it_is_named_after(module: str):
    """Weights and batch shapes are those of the published networks, and a seed gives one batch."""
    facts = in_fresh_process("price_jobs:workload_facts", module=f"halfwise.experiments.workloads.{module}")
    assert facts == EXPECTED[module] | {"repeats": True, "tensors": len(EXPECTED[module]["inputs"]) + 1}
