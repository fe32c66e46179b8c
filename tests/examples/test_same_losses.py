"""A trial's policy file, applied again: the same training, bit for bit."""

from pathlib import Path

import pytest
from fresh_process import in_fresh_process

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import Evaluator, survey_workload
from halfwise.evaluators.process import Limits
from halfwise.evaluators.survey_result import Survey, SurveyRequest
from halfwise.policies import BUILTIN, Policy, load_policy, parse_policy, save_policy

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKLOAD = "my_workload:make_workload"
LIMITS = Limits(time_s=120, memory_bytes=4 << 30)
# The seed of examples/own_loop.py.
SEED = 1
STEPS = 30


# With the number of their low layers among the network's six innermost ones.
POLICIES = (
    ("by-hand", 2),
    ("O3", 6),
    ("{default: float16, layers: {nn.LayerNorm: float32}, mode: pynative}", 4),
)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    """What a search learns of the example's workload before its trials."""
    folder = tmp_path_factory.mktemp("survey")
    request = SurveyRequest(folder=folder, target="CPU", workload=WORKLOAD, search_path=EXAMPLES)
    return survey_workload(request, LIMITS)


def find_policy(name: str) -> Policy:
    """A policy of POLICIES: the file written by hand, a level, or a text."""
    if name == "by-hand":
        return load_policy(EXAMPLES / "policy.yaml")
    return BUILTIN[name] if name in BUILTIN else parse_policy(name)


@pytest.mark.parametrize(("name", "low_layers"), POLICIES)
def test_an_exported_policy_gives_the_losses_of_its_trial(examples, survey, tmp_path, name, low_layers):
    """Saved, loaded and applied in fresh processes, by halfwise and by one's own loop: every loss, bit for bit."""
    device = DeviceFacts("CPU", ("float16",), {}, reference_convolution=False)
    evaluator = Evaluator(WORKLOAD, examples, survey, device, SEED, STEPS, LIMITS)
    outcome = evaluator.evaluate(find_policy(name), None, tmp_path / "trial")
    assert outcome.status == "trained", outcome.message
    assert outcome.low_precision_layers == low_layers
    file = str(tmp_path / "exported.yaml")
    save_policy(parse_policy(outcome.policy), file)
    again = in_fresh_process(
        "example_jobs:prepared_losses", workload=WORKLOAD, policy_file=file, seed=SEED, steps=STEPS
    )
    assert tuple(again) == outcome.losses
    own = in_fresh_process("example_jobs:own_loop_losses", policy_file=file, steps=STEPS)
    assert tuple(own) == outcome.losses
