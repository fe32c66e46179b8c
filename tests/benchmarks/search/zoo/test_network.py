"""Zoo networks as they are built."""

from fresh_process import in_fresh_process

from benchmarks.search.zoo.lengths import BATCH_SIZE
from benchmarks.search.zoo.plan import plan_zoo
from benchmarks.search.zoo.references import reference_of


def test_one_plan_is_one_network():
    """Twice the same arguments give equal weights and data, and another seed gives others."""
    plans = [plan_zoo(7, 12, 3, "branched"), plan_zoo(7, 12, 3, "branched"), plan_zoo(8, 12, 3, "branched")]
    first, second, other = in_fresh_process("zoo_jobs:build", references=[*map(reference_of, plans)])
    assert first == second
    assert first["data"] != other["data"]
    assert first["weights"] != other["weights"]


def test_every_group_is_one_layer_of_its_network():
    """The Cells are the network, its list, and one for each group of the plan, whatever the shape."""
    plans = [plan_zoo(1, 60, 12, "residual"), plan_zoo(2, 60, 12, "branched"), plan_zoo(3, 60, 12, "chain")]
    for plan, built in zip(
        plans, in_fresh_process("zoo_jobs:build", references=[*map(reference_of, plans)]), strict=True
    ):
        assert built["paths"] == ["", "groups", *plan.truth.groups]
        assert {shape[0] for shape in (*built["inputs"], *built["labels"])} == {BATCH_SIZE}
        graded = [hazard for hazard in plan.truth.hazards.values() if hazard.graded]
        alone = sum(hazard.kind != "coarse_target" for hazard in graded)
        assert built["labels"] == [[BATCH_SIZE, 4 + alone]]
