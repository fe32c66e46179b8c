"""The rules on statistics made by hand: reasons with their numbers, and more harm where there is more of it."""

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies import FORMATS, LowPrecision
from halfwise.policies.rules import (
    STANDARD_RULES,
    AloneEffect,
    GroupStatistics,
    Harm,
    MantissaRule,
    MovedAloneRule,
    NonFiniteAloneRule,
    OpClassRule,
    OpStatistics,
    PoleRule,
    RangeRule,
    ReductionLengthRule,
    Rule,
    TensorStatistics,
    UnderflowRule,
    UnlessHarmlessAlone,
    UnscaledUnderflowRule,
    believe,
    noisy_or,
)
from halfwise.policies.rules.statistics import OpDirection, TensorKind

SHARES = st.floats(0, 1)
LOW = st.sampled_from(["float16", "bfloat16"])


def tensor(largest: float = 1.0, kind: TensorKind = "output", **shares: float) -> TensorStatistics:
    """A harmless tensor, but for what is named."""
    harmless = {"beyond_float16": 0.0, "below_normal": 0.0, "below_subnormal": 0.0}
    return TensorStatistics(kind=kind, largest_by_step=(largest,), **(harmless | shares))


def judged(rule: Rule, statistics: GroupStatistics, precision: LowPrecision) -> Harm:
    """What a rule answers that knows something."""
    harm = rule.judge(statistics, precision)
    assert harm is not None
    return harm


def group(
    *tensors: TensorStatistics,
    op: str = "Mul",
    direction: OpDirection = "forward",
    length: int | None = None,
    alone: Iterable[AloneEffect] = (),
) -> GroupStatistics:
    """A group of one op."""
    found = OpStatistics(op=op, direction=direction, summed_length=length, tensors=tensors)
    return GroupStatistics(name="body", covers=("body",), ops=(found,), alone=tuple(alone))


def effect(
    distance: float = 0.0,
    loss: float = 0.0,
    finite: bool = True,
    repeat: float = 0.0,
    precision: LowPrecision = "float16",
) -> AloneEffect:
    """What a pass alone moved."""
    measured = {"loss_change": loss, "gradient_distance": distance, "gradient_cosine": 1.0} if finite else {}
    return AloneEffect(precision=precision, finite=finite, loss_scale=65536, repeat_distance=repeat, **measured)


def gradient(zero: float, subnormal: float) -> GroupStatistics:
    """A group whose gradient loses these shares."""
    lossy = tensor(below_subnormal_scaled=zero, below_normal_scaled=max(zero, subnormal))
    return group(lossy, direction="gradient")


def test_a_value_beyond_the_format_is_named_with_its_op_and_its_number():
    """The range rule's reason holds value, limit, op and side."""
    harm = judged(RangeRule(), group(tensor(3.2e5, beyond_float16=0.25)), "float16")
    assert (
        harm.reason
        == "largest value 3.2e+05 beyond float16's 65,504 in Mul (forward output), 25.00% of its values"
    )
    assert harm.probability > 0.95


def test_bfloat16_has_float32s_range():
    """What overflows float16 is no matter of range, and no gradient underflows, in bfloat16."""
    harm = judged(RangeRule(), group(tensor(3.2e5)), "bfloat16")
    assert harm.probability < 0.001
    assert UnderflowRule().judge(gradient(1.0, 1.0), "bfloat16") is None
    assert PoleRule().judge(group(tensor(kind="input", below_subnormal=1.0), op="Log"), "bfloat16") is None


@given(a=st.floats(1e-30, 1e30), b=st.floats(1e-30, 1e30), precision=LOW)
def test_range_harm_grows_with_the_largest_value(a, b, precision):
    """A larger value is never judged safer."""
    small, large = sorted((a, b))
    harms = [judged(RangeRule(), group(tensor(value)), precision) for value in (small, large)]
    assert harms[0].probability <= harms[1].probability


def test_range_harm_is_even_one_doubling_below_the_limit():
    """The curve's middle is where its docstring puts it."""
    harm = judged(RangeRule(), group(tensor(FORMATS["float16"].max / 2)), "float16")
    assert harm.probability == pytest.approx(0.5)


@given(a=SHARES, b=SHARES, subnormal=SHARES)
def test_underflow_harm_grows_with_the_lost_share(a, b, subnormal):
    """More gradient that becomes 0, or subnormal, is never judged safer."""
    small, large = sorted((a, b))
    rule = UnderflowRule()
    zeros = [judged(rule, gradient(share, subnormal), "float16").probability for share in (small, large)]
    subnormals = [judged(rule, gradient(0.0, share), "float16").probability for share in (small, large)]
    assert zeros == sorted(zeros)
    assert subnormals == sorted(subnormals)


def test_a_gradient_that_vanishes_whole_is_likely_harm():
    """All of the gradient lost is near certain, a tenth of it is not."""
    assert judged(UnderflowRule(), gradient(1.0, 1.0), "float16").probability > 0.9
    assert judged(UnderflowRule(), gradient(0.1, 0.1), "float16").probability < 0.01


@given(a=SHARES, b=SHARES)
def test_poles_count_only_where_zero_is_one(a, b):
    """The input of a logarithm that becomes 0 is judged by its share, that of a product not at all."""
    small, large = sorted((a, b))
    logs = [group(tensor(kind="input", below_subnormal=share), op="Log") for share in (small, large)]
    harms = [judged(PoleRule(), each, "float16").probability for each in logs]
    assert harms == sorted(harms)
    assert PoleRule().judge(group(tensor(kind="input", below_subnormal=large), op="Mul"), "float16") is None


@given(a=SHARES, b=SHARES)
def test_mantissa_harm_grows_with_the_share_and_stays_doubtful(a, b):
    """More lost detail is never judged safer, and never certain."""
    small, large = sorted((a, b))
    harms = [
        judged(MantissaRule(), group(tensor(detail_lost_float16=share)), "float16").probability
        for share in (small, large)
    ]
    assert harms == sorted(harms)
    assert harms[1] <= 0.85


@given(
    a=st.integers(1, 2**40), b=st.integers(1, 2**40), op=st.sampled_from(["ReduceSum", "MatMul"]), precision=LOW
)
def test_reduction_harm_grows_with_the_number_of_terms(a, b, op, precision):
    """A longer sum is never judged safer."""
    rule, (short, long) = ReductionLengthRule(), sorted((a, b))
    harms = [judged(rule, group(op=op, length=length), precision).probability for length in (short, long)]
    assert harms == sorted(harms)


def test_products_may_sum_longer_and_a_short_mantissa_less():
    """At one length: a reduction is worse than a product, bfloat16 worse than float16."""
    rule = ReductionLengthRule()
    found = {
        (op, precision): judged(rule, group(op=op, length=8192), precision).probability
        for op in ("ReduceSum", "MatMul")
        for precision in ("float16", "bfloat16")
    }
    assert found["ReduceSum", "bfloat16"] > found["ReduceSum", "float16"] > found["MatMul", "float16"]
    assert found["MatMul", "bfloat16"] > found["MatMul", "float16"]


def test_what_was_not_finite_alone_is_likely_harm_and_what_was_not_tried_is_unknown():
    """NaN with the group alone: likely; finite: unlikely; another precision's pass says nothing."""
    rule = NonFiniteAloneRule()
    assert judged(rule, group(alone=[effect(finite=False)]), "float16").probability > 0.9
    assert judged(rule, group(alone=[effect()]), "float16").probability < 0.01
    assert rule.judge(group(alone=[effect(finite=False)]), "bfloat16") is None


@given(a=st.floats(0, 10), b=st.floats(0, 10), loss=st.floats(0, 10), repeat=st.floats(0, 1))
def test_moved_harm_grows_with_what_moved(a, b, loss, repeat):
    """A gradient or a loss that moved further is never judged safer."""
    small, large = sorted((a, b))
    rule = MovedAloneRule()
    distances = [judged(rule, group(alone=[effect(d, loss, repeat=repeat)]), "float16") for d in (small, large)]
    losses = [judged(rule, group(alone=[effect(loss, change)]), "float16") for change in (small, large)]
    for harms in (distances, losses):
        assert harms[0].probability <= harms[1].probability


def test_movement_that_float32_shows_too_is_no_harm():
    """A step that is random in float32 itself does not tell against low precision."""
    rule = MovedAloneRule()
    assert judged(rule, group(alone=[effect(1.0, repeat=1.0)]), "float16").probability < 0.01
    assert judged(rule, group(alone=[effect(1.0)]), "float16").probability > 0.7


def test_a_clean_pass_over_the_same_values_takes_most_of_the_range_rules_word():
    """A value beyond the range is believed a tenth where its own pass took no harm, in full where it did."""
    rule, masked = UnlessHarmlessAlone(RangeRule()), tensor(1e9)
    full = judged(rule, group(masked), "float16").probability
    spared = judged(rule, group(masked, alone=[effect(1e-5)]), "float16")
    assert spared.probability == pytest.approx(full / 10)
    assert "took no harm" in spared.reason
    for harmful in (effect(0.5), effect(finite=False)):
        assert judged(rule, group(masked, alone=[harmful]), "float16").probability == full


@st.composite
def groups(draw) -> GroupStatistics:
    """Any statistics at all."""
    directions = st.sampled_from(["forward", "gradient"])
    optional = st.none() | SHARES
    tensors = st.builds(
        TensorStatistics,
        kind=st.sampled_from(["input", "weight", "output"]),
        largest_by_step=st.lists(st.floats(0, 3.4e38), max_size=3).map(tuple),
        beyond_float16=SHARES,
        below_normal=SHARES,
        below_subnormal=SHARES,
        below_normal_scaled=optional,
        below_subnormal_scaled=optional,
        detail_lost_float16=optional,
        detail_lost_bfloat16=optional,
    )
    ops = st.builds(
        OpStatistics,
        op=st.sampled_from(["Mul", "Log", "MatMul", "ReduceSum"]),
        direction=directions,
        summed_length=st.none() | st.integers(1, 2**50),
        tensors=st.lists(tensors, max_size=2).map(tuple),
    )
    distance = st.floats(0, 1e300)
    measured = st.builds(effect, distance, distance, st.booleans(), distance, LOW)
    return GroupStatistics(
        name="any",
        covers=("any",),
        ops=tuple(draw(st.lists(ops, max_size=3))),
        alone=tuple(draw(st.lists(measured, max_size=2))),
    )


@given(statistics=groups(), precision=LOW)
def test_a_belief_is_never_certain_and_explains_itself(statistics, precision):
    """0 < p < 1 for any statistics, never below its strongest rule, with that rule's reason first."""
    belief = believe(statistics, precision)
    alone = [rule.judge(statistics, precision) for rule in STANDARD_RULES]
    strongest = max((harm.probability for harm in alone if harm), default=0)
    assert 0 < belief.probability < 1
    assert belief.probability >= min(strongest, 0.99) - 1e-12
    if belief.harms:
        assert belief.harms[0].probability == strongest
        assert belief.reason == belief.harms[0].reason
    else:
        assert belief.reason == "no sign of harm"


@given(st.lists(st.floats(0.001, 0.2), max_size=8))
def test_noisy_or_joins_independent_causes(probabilities):
    """At least one of independent causes: the sum over all subsets that hold one, as long as it is not extreme."""
    total = 0.0
    for chosen in range(1, 2 ** len(probabilities)):
        total += math.prod(p if chosen >> i & 1 else 1 - p for i, p in enumerate(probabilities))
    assert noisy_or(probabilities) == pytest.approx(min(max(total, 1e-4), 0.99))


@given(statistics=groups())
def test_statistics_survive_json(statistics):
    """The values that a search takes are plain tables: JSON and back changes nothing."""
    assert GroupStatistics.model_validate_json(statistics.model_dump_json()) == statistics


def test_without_a_loss_scale_more_of_a_gradient_is_lost():
    """Unscaled, the shares of the gradient as it is decide; a tensor of the forward pass has no say."""
    tensors = (
        tensor(below_subnormal=0.9, below_normal=0.95, below_subnormal_scaled=0.0, below_normal_scaled=0.01),
        tensor(below_subnormal=1.0, below_normal=1.0),
    )
    found = group(*tensors, direction="gradient")
    harm = judged(UnscaledUnderflowRule(), found, "float16")
    assert harm.probability > 0.9
    assert "90.0% of the gradient is below float16's smallest number, without a loss scale, in Mul" in harm.reason
    assert judged(UnderflowRule(), found, "float16").probability < 0.01
    assert UnscaledUnderflowRule().judge(found, "bfloat16") is None
    assert UnscaledUnderflowRule().judge(group(tensors[1]), "float16") is None


def test_an_op_that_lists_keep_is_little_reason_by_itself():
    """An exponential is on MindSpore's black list, a product is not; the standard rules do without that."""
    harm = judged(OpClassRule(), group(tensor(), op="Exp"), "float16")
    assert (harm.probability, harm.reason) == (0.1, "Exp is on MindSpore's own black list, for float16 too")
    assert OpClassRule().judge(group(tensor(), op="MatMul"), "float16") is None
    assert believe(group(tensor(), op="Exp"), "float16").probability < 0.01
