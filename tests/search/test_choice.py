import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.errors import HalfwiseError, InputError
from halfwise.search.choice import Accurate, Best, Criteria, Fastest, TrialNumber, parse_rule
from halfwise.search.front import Direction, Interval, Point
from halfwise.search.noise import QualityLost

FLOAT32 = Point(0, "O0", "a", 0.98, 100.0)


def trial(number: int, quality: float, speed: float) -> Point:
    """A trial that trained."""
    return Point(number, None, f"d{number}", quality, speed)


def broken(number: int, cause: str) -> Point:
    """A trial that did not."""
    return Point(number, None, f"d{number}", None, None, feasible=False, cause=cause)


def against(baseline: Point | None, tolerance: float = 0.005, direction: Direction = "maximize") -> Criteria:
    """Criteria in a user's words."""
    return Criteria(baseline, tolerance, direction, metric="accuracy", speed_label="measured on CPU")


def test_best_is_the_fastest_within_the_tolerance() -> None:
    """Of the policies within 0.5% of float32 the fastest is taken, and the reason holds every number."""
    points = [FLOAT32, trial(5, 0.9755, 150.0), trial(6, 0.979, 130.0), trial(7, 0.9, 200.0)]
    choice = Best().choose(points, against(FLOAT32))
    assert choice.point.number == 5
    assert choice.reason == (
        "trial 5 is the fastest policy within 0.5% of float32's accuracy 0.98: accuracy 0.9755, "
        "150 samples/s measured on CPU, against float32's 100 samples/s (1.50x)"
    )


def test_float32_wins_when_everything_within_tolerance_is_slower() -> None:
    """Slower low-precision policies lose to float32; the reason has the numbers (cases 22 and 25)."""
    choice = Best().choose([FLOAT32, trial(5, 0.981, 60.0), trial(6, 0.98, 70.0)], against(FLOAT32))
    assert choice.point == FLOAT32
    assert choice.reason == (
        "no policy within 0.5% of float32's accuracy 0.98 is faster than float32 (100 samples/s; "
        "the fastest of them, trial 6, does 70, measured on CPU); float32 stays"
    )


def test_a_policy_of_equal_speed_does_not_replace_float32() -> None:
    """Nothing is gained by a lower precision that is no faster."""
    assert Best().choose([FLOAT32, trial(5, 0.99, 100.0)], against(FLOAT32)).point == FLOAT32


def test_a_refuted_trial_is_passed_over():
    """A trial that a closer measurement did not find faster is no choice, whatever its own speed says."""
    lucky = Point(5, None, "d5", 0.98, 200.0, against_float32=Interval(0.9, 3.1, conclusive=False))
    real = trial(6, 0.98, 130.0)
    points = [FLOAT32, lucky, real]
    for refuted, chosen in (({5}, real), ({5, 6}, FLOAT32)):
        criteria = Criteria(FLOAT32, 0.005, "maximize", "accuracy", refuted=frozenset(refuted))
        assert Best().choose(points, criteria).point == chosen
    assert Best().choose([FLOAT32, lucky], criteria).reason == (
        "no policy within 0.5% of float32's accuracy 0.98 is surely faster than float32 (100 samples/s; "
        "the fastest of them, trial 5, does 200, side by side between 0.90x and 3.10x of float32); float32 stays"
    )


def test_float32_that_needs_too_much_memory_is_still_the_yardstick():
    """Its quality bounds the others', but it cannot stay: a slower policy that fits is chosen, or none at all."""
    too_large = Point(0, "O0", "a", 0.98, 100.0, feasible=False, cause="needs 20 GB of memory, more than 16 GB")
    slower, worse = trial(5, 0.979, 80.0), trial(6, 0.9, 300.0)
    assert Best().choose([too_large, slower, worse], against(too_large)).point == slower
    with pytest.raises(
        HalfwiseError, match=r"nearest miss is trial 6 .*float32 itself cannot stay: it needs 20 GB"
    ):
        Best().choose([too_large, worse], against(too_large))


def test_no_policy_within_the_bound_names_the_nearest_miss() -> None:
    """Where all others cost too much quality, float32 stays and the nearest miss is named (case 24)."""
    choice = Best().choose([FLOAT32, trial(5, 0.97, 150.0), trial(6, 0.5, 300.0)], against(FLOAT32))
    assert choice.point == FLOAT32
    assert choice.reason == (
        "no policy stays within 0.5% of float32's accuracy 0.98 (at least 0.9751); the nearest miss "
        "is trial 5 with accuracy 0.97, 150 samples/s measured on CPU; float32 stays"
    )


def test_only_float32_trains() -> None:
    """Where nothing else trains, the reason counts the causes."""
    points = [
        FLOAT32,
        broken(1, "non-finite at step 0"),
        broken(2, "non-finite at step 0"),
        broken(3, "hung"),
    ]
    choice = Best().choose(points, against(FLOAT32))
    assert choice.point == FLOAT32
    assert choice.reason == (
        "no policy but float32 trains (accuracy 0.98, 100 samples/s measured on CPU); "
        "non-finite at step 0 (2x); hung (1x); float32 stays"
    )


def test_only_float32_was_tried() -> None:
    """A study that tried nothing else does not claim that nothing else trains."""
    assert Best().choose([FLOAT32], against(FLOAT32)).reason == (
        "nothing but float32 was tried (accuracy 0.98, 100 samples/s measured on CPU); float32 stays"
    )


def test_what_was_lost_against_float32_decides() -> None:
    """Where the paired difference is known it is held against the tolerance, and the reason has its interval."""
    lucky = replace(trial(5, 0.979, 150.0), quality_lost=QualityLost(0.006, 0.002))
    unlucky = replace(trial(6, 0.9, 130.0), quality_lost=QualityLost(0.001, 0.002))
    choice = Best().choose([FLOAT32, lucky, unlucky], against(FLOAT32))
    assert choice.point == unlucky
    assert "accuracy 0.9, loses 0.001 (95% interval -0.001 to 0.003, one seed), 130 samples/s" in choice.reason
    assert choice.reason.endswith("; not confirmed with fresh seeds")


def test_a_confirmed_policy_is_judged_by_its_confirmation_alone() -> None:
    """What held with fresh seeds is within, what did not is passed over, whatever its own trial says."""
    held = replace(trial(5, 0.5, 150.0), quality_lost=QualityLost(0.009, 0.001, 3, confirmed=True))
    points = [FLOAT32, held]
    assert Best().choose(points, against(FLOAT32)).point == held
    relapsed = replace(against(FLOAT32), relapsed=frozenset({5}))
    assert Best().choose(points, relapsed).point == FLOAT32


def test_of_equal_speeds_a_confirmed_policy_stays_chosen() -> None:
    """A lucky seed of another policy as fast takes no choice away from one that fresh seeds confirmed."""
    confirmed = replace(trial(2, 0.97, 150.0), quality_lost=QualityLost(0.001, 0.006, 3, confirmed=True))
    lucky = replace(trial(5, 0.97, 150.0), quality_lost=QualityLost(-0.002, 0.017))
    faster = replace(trial(6, 0.97, 151.0), quality_lost=QualityLost(0.002, 0.017))
    assert Best().choose([FLOAT32, confirmed, lucky], against(FLOAT32)).point == confirmed
    assert Best().choose([FLOAT32, confirmed, lucky, faster], against(FLOAT32)).point == faster


def test_best_without_a_float32_result_names_the_nearest_miss() -> None:
    """A float32 that is missing or does not train is an error with a way out."""
    points = [trial(5, 0.9, 150.0), trial(6, 0.95, 120.0)]
    with pytest.raises(HalfwiseError, match=r"float32 was not run.*nearest miss is trial 6 .*--rule trial:6"):
        Best().choose(points, against(None))
    sick = broken(0, "loss never moved")
    with pytest.raises(HalfwiseError, match=r"float32 does not train \(loss never moved\)"):
        Best().choose([sick, *points], against(sick))
    with pytest.raises(HalfwiseError, match=r"no other trial trains; loss never moved \(1x\)"):
        Best().choose([sick], against(sick))


def test_minimised_metrics_turn_the_bound_round() -> None:
    """For a loss, within 1% of 2.0 means at most 2.02; a negative metric has its slack on the right side."""
    loss = Point(0, "O0", "a", 2.0, 100.0)
    points = [loss, trial(1, 2.02, 110.0), trial(2, 2.03, 120.0)]
    assert Best().choose(points, against(loss, 0.01, "minimize")).point.number == 1
    assert against(None, 0.01, "maximize").bound(-2.0) == -2.02
    assert against(None, 0.01, "minimize").bound(-2.0) == -1.98


@given(
    st.lists(st.tuples(st.integers(90, 110), st.integers(90, 110)), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.01, 0.05]),
    st.sampled_from(["maximize", "minimize"]),
)
def test_best_is_what_a_plain_search_finds(
    figures: list[tuple[int, int]], tolerance: float, direction: Direction
) -> None:
    """The chosen speed is the highest among float32 and the policies that keep the bound."""
    points = [trial(i, float(quality), float(speed)) for i, (quality, speed) in enumerate(figures)]
    chosen = Best().choose(points, against(points[0], tolerance, direction)).point
    sign = 1 if direction == "maximize" else -1
    keep = [s for q, s in figures if sign * q >= sign * figures[0][0] - tolerance * figures[0][0]]
    assert chosen.speed == max(keep)


def test_fastest_and_accurate_ignore_the_tolerance() -> None:
    """Each takes the extreme of one figure; ties go to the other figure, then to the earlier trial."""
    points = [trial(4, 0.9, 200.0), trial(3, 0.8, 200.0), trial(2, 0.99, 50.0), trial(1, 0.99, 60.0)]
    fastest, accurate = Fastest().choose(points, against(None)), Accurate().choose(points, against(None))
    assert fastest.point.number == 4
    assert fastest.reason == (
        "trial 4 is the fastest of 4 that train: accuracy 0.9, 200 samples/s measured on CPU"
    )
    assert accurate.point.number == 1
    assert accurate.reason == (
        "trial 1 has the best accuracy of 4 that train: accuracy 0.99, 60 samples/s measured on CPU"
    )
    twins = [trial(8, 0.9, 1.0), trial(7, 0.9, 1.0)]
    assert Accurate().choose(twins, against(None)).point.number == 7
    assert Accurate().choose(points, against(None, direction="minimize")).point.number == 3


@pytest.mark.parametrize("rule", [Fastest(), Accurate()])
def test_nothing_to_choose_says_why(rule: Fastest | Accurate) -> None:
    """If no trial trains, the error counts the causes."""
    with pytest.raises(HalfwiseError, match=r"none of 2 finished trials trains.*hung \(1x\)"):
        rule.choose([broken(1, "hung"), broken(2, "killed")], against(None))


def test_a_trial_is_taken_by_number() -> None:
    """trial:N takes that trial, and refuses one that is unknown or has no result."""
    points = [FLOAT32, trial(5, 0.5, 1234.5), broken(6, "out of memory")]
    choice = TrialNumber(5).choose(points, against(None))
    assert choice.point.number == 5
    assert choice.reason == ("trial 5 was asked for by number: accuracy 0.5, 1,234 samples/s measured on CPU")
    with pytest.raises(InputError, match="there is no finished trial 9: finished trials are 0 to 6"):
        TrialNumber(9).choose(points, against(None))
    with pytest.raises(InputError, match="no trial has finished"):
        TrialNumber(9).choose([], against(None))
    with pytest.raises(InputError, match="trial 6 cannot be chosen, it has no result: out of memory"):
        TrialNumber(6).choose(points, against(None))


@pytest.mark.parametrize(
    ("text", "rule"),
    [("best", Best()), ("fastest", Fastest()), ("accurate", Accurate()), ("trial:12", TrialNumber(12))],
)
def test_rules_parse(text: str, rule: object) -> None:
    """Each documented text gives its rule."""
    assert parse_rule(text) == rule


@pytest.mark.parametrize("text", ["", "bests", "trial", "trial:", "trial:-1", "trial:x", "trial:²", "trial: 1"])
def test_other_texts_are_refused(text: str) -> None:
    """A text that names no rule is an input error that lists the rules."""
    with pytest.raises(InputError, match=r"unknown rule .*allowed: best, fastest, accurate, trial:N"):
        parse_rule(text)


def test_a_misspelt_rule_gets_a_hint() -> None:
    """A near miss is shown."""
    with pytest.raises(InputError, match=r"unknown rule 'fastes'; .*did you mean 'fastest'\?"):
        parse_rule("fastes")


@given(st.integers(0, 10**6))
def test_every_trial_number_parses(number: int) -> None:
    """trial:N takes any whole number."""
    assert parse_rule(f"trial:{number}") == TrialNumber(number)


@pytest.mark.parametrize("tolerance", [-0.1, math.nan, math.inf])
def test_an_odd_tolerance_is_refused(tolerance: float) -> None:
    """A tolerance that would let everything or nothing pass is an input error."""
    with pytest.raises(InputError, match="tolerance must be a finite number >= 0"):
        against(None, tolerance)
