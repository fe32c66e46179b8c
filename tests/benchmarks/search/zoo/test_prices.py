"""The best trainable assignment, against all assignments and against what MindSpore compiles."""

from itertools import compress, product

import pytest

from benchmarks.compiled import compile_step
from benchmarks.search.zoo.kinds import Shape
from benchmarks.search.zoo.plan import plan_zoo
from benchmarks.search.zoo.prices import price_zoo, zoo_device
from benchmarks.search.zoo.references import reference_of
from halfwise.evaluators.price import price_table
from halfwise.policies import Policy

SHAPES = ["branched", *(pytest.param(shape, marks=pytest.mark.full) for shape in ("residual", "chain"))]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_trainable_assignment_is_the_best_of_all(tmp_path, shape: Shape):
    """It costs what the cheapest of all assignments with float32 hazards costs, and is faster than float32."""
    plan = plan_zoo(3, 10, 3, shape)
    prices = price_zoo(plan, tmp_path)
    best = prices.best_trainable
    free = [path for path in plan.truth.groups if path not in plan.truth.hazards]
    every = (frozenset(compress(free, chosen)) for chosen in product((0, 1), repeat=len(free)))
    assert best.step_time_s == pytest.approx(min(map(prices.step_time_s, every)), rel=1e-9)
    assert prices.step_time_s(best.low) == pytest.approx(best.step_time_s, rel=1e-9)
    assert not best.low & set(plan.truth.hazards)
    assert best.speed_up > 1.02
    for path in plan.truth.slower_low:
        others = frozenset(plan.truth.groups) - {path}
        assert prices.step_time_s({path}) > best.float32_step_time_s
        assert prices.step_time_s(plan.truth.groups) > prices.step_time_s(others)
        assert path not in best.low


@pytest.mark.full
@pytest.mark.parametrize("shape", ["residual", "branched", "chain"])
def test_what_is_priced_is_what_is_compiled(tmp_path, shape: Shape):
    """The price of the best assignment is that of its compiled step, within 3%."""
    plan = plan_zoo(3, 20, 4, shape)
    best = price_zoo(plan, tmp_path / "float32").best_trainable
    policy = Policy(default="float32", layers=dict.fromkeys(sorted(best.low), "float16"))
    compiled = compile_step(tmp_path / "best", reference_of(plan), policy)
    assert compiled.answer.mismatches == ()
    assert price_table(compiled.table, zoo_device()).step_time_s == pytest.approx(best.step_time_s, rel=0.03)
