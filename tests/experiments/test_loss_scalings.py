"""What a search may choose of loss scalings, from the experiment file to the chance that one does harm."""

import pytest
from surveys import make_survey

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.sensitivity.result import Sensitivity
from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.loss_scalings import scaling_chances
from halfwise.experiments.space_of import space_of
from halfwise.policies import DynamicLossScaling, NoLossScaling, Precision, StaticLossScaling
from halfwise.policies.errors import InputError
from halfwise.policies.rules import GroupStatistics, OpStatistics, TensorStatistics
from halfwise.search.site_space import SiteGroup, SiteSpace


def gradients(name: str, lost: float) -> GroupStatistics:
    """A group a share of whose gradient float16 cannot hold without a loss scale."""
    tensor = TensorStatistics(
        kind="output",
        largest_by_step=(1.0,),
        beyond_float16=0.0,
        below_normal=lost,
        below_subnormal=lost,
        below_normal_scaled=0.0,
        below_subnormal_scaled=0.0,
    )
    op = OpStatistics(op="MatMul", direction="gradient", tensors=(tensor,))
    return GroupStatistics(name=name, covers=(name,), ops=(op,))


def found(*groups: GroupStatistics) -> Sensitivity:
    """A float32 run that found these."""
    return Sensitivity(
        workload="w", device="CPU", seed=1, collected_steps=(0,), loss_scale=65536, groups=groups, parts=(),
        steps_run=1, float32_time_s=0, alone_time_s=0,
    )  # fmt: skip


def space(*choices: tuple[Precision, ...]) -> SiteSpace:
    """Sites a, b, ... with these precisions, and all three kinds of loss scaling."""
    groups = (SiteGroup(name, (name,), None, ("MatMul",), of) for name, of in zip("ab", choices, strict=False))
    others = (StaticLossScaling(scale=1024), NoLossScaling())
    return SiteSpace(tuple(groups), "float16", DynamicLossScaling(), "graph", others)


@pytest.mark.parametrize(
    ("lost", "low", "high"),
    [
        pytest.param((0.0, 0.0), 0.0, 0.01, id="nothing"),
        pytest.param((0.9, 0.0), 0.9, 1.0, id="one"),
        pytest.param((0.5, 0.5), 0.7, 0.8, id="two-halves"),
    ],
)
def test_the_chance_of_harm_is_that_of_any_site(lost, low, high):
    """Training without a scale fails where any site's gradients vanish; of a static scale nothing is known."""
    run = found(*(gradients(name, share) for name, share in zip("ab", lost, strict=True)))
    chances = scaling_chances(space(("float32", "float16"), ("float32", "float16", "bfloat16")), run)
    assert list(chances) == [("loss scaling", "none")]
    assert low <= chances["loss scaling", "none"] <= high


def test_sites_that_are_never_float16_need_no_scale():
    """Where a site with vanishing gradients offers bfloat16 alone, it does not count."""
    run = found(gradients("a", 0.9), gradients("b", 0.0))
    assert (
        scaling_chances(space(("float32", "bfloat16"), ("float32", "float16")), run)["loss scaling", "none"] < 0.01
    )


def test_only_searchers_over_sites_choose_a_loss_scaling():
    """Optuna's samplers take the experiment's loss scaling alone, and say who offers a choice."""
    survey = make_survey(SurveyedCell(path="a", aliases=(), type_names=("nn.Dense",), ops=("MatMul",)))
    experiment = Experiment(workload="w", sampler="tpe", other_loss_scalings=(NoLossScaling(),))
    device = DeviceFacts("CPU", ("float16",), {}, reference_convolution=False)
    with pytest.raises(InputError, match=r"sampler tpe takes `loss_scaling` alone.*sampler ladder"):
        space_of(experiment, survey, device)
