"""Evidence of policies for PyNative mode: the graph's table beside what hooks see, or what hooks see alone."""

import random
import re

import pytest
from fresh_process import in_fresh_process
from networks import NETWORKS

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.evaluators.evaluator import survey_workload
from halfwise.evaluators.outcome import Evidence
from halfwise.evaluators.process import Limits
from halfwise.evaluators.survey_result import SurveyRequest
from halfwise.experiments.experiment_file import Experiment
from halfwise.experiments.space_of import space_of
from halfwise.experiments.workloads import resolve_reference
from halfwise.policies import parse_policy

CPU = DeviceFacts("CPU", ("float16",), {}, reference_convolution=False)
LOW = "{default: float16, mode: pynative}"
MIDDLE = {
    "repeated": "b",
    "sandwich": "first",
    "shared": "ln2",
    "tied": "embedding",
    "listed": "blocks.1",
    "inherited": "norm",
    "local": "dense",
    "same names": "first",
    "normalised": "norm",
    "subclassed": "nn.LayerNorm",
    "odd names": "steps.0",
}


@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_every_awkward_network_is_proven_in_both_modes(network):
    """One layer alone low: the compiled table is as asked, forward and gradient, and PyNative gives the same."""
    policy = f"{{default: float32, layers: {{{MIDDLE[network]}: float16}}}}"
    (found,) = in_fresh_process("eager_jobs:awkward_networks", names=[network], policies=[policy])
    assert found["mismatches"] == []
    assert found["matched"] > 0
    assert found["differing"] == []
    assert found["compared"] > 0


@pytest.mark.full
@pytest.mark.parametrize("seed", [5, 6])
@pytest.mark.parametrize(
    ("workload", "count"), [("tabular-mlp", 7), ("digits-resnet", 4), ("text-transformer", 4)]
)
def test_random_policies_are_one_table_in_both_modes(workload, count, seed, tmp_path):
    """Thirty policies drawn from our workloads' spaces: as asked in the graph, and PyNative gives the same."""
    request = SurveyRequest(
        folder=tmp_path / "survey", target="CPU", workload=resolve_reference(workload), search_path=tmp_path
    )
    survey = survey_workload(request, Limits(time_s=600, memory_bytes=8 << 30))
    space = space_of(Experiment(workload=workload), survey, CPU)
    draw = random.Random(seed)
    policies = [
        str(space.policy({name: draw.choice(choices) for name, choices in space.parameters().items()}))
        for _ in range(count)
    ]
    found = [
        each
        for start in range(0, count, 2)
        for each in in_fresh_process(
            "eager_jobs:builtin_workload", name=workload, policies=policies[start : start + 2]
        )
    ]
    assert len(found) == count
    for each in found:
        assert (each["mismatches"], each["differing"]) == ([], []), each["policy"]
        assert min(each["matched"], each["compared"]) > 0


def test_trial_in_pynative_says_what_was_compared(run_trial):
    """The summary of a trial in PyNative mode ends with how many layers were compared with the graph's table."""
    outcome = run_trial("make_tiny", "{default: float16, layers: {norm: float32}, mode: pynative}")
    assert outcome.status == "trained", outcome.message
    assert outcome.evidence.summary.endswith(
        "; in PyNative the outputs of 4 of 4 layers were compared, all as the table says"
    )
    assert not outcome.evidence.partial


def test_layer_that_differs_between_the_modes_is_not_applied(run_trial):
    """A layer that gives float16 in PyNative where the graph's table says float32 ends the trial, and is named."""
    outcome = run_trial(
        "awkward_workloads:make_fork", "{default: float32, layers: {fork.right: float16}, mode: pynative}"
    )
    assert (outcome.status, outcome.cause) == ("failed", "not applied")
    assert outcome.message == "output of fork: float32 in the graph's table, float16 seen in PyNative"
    assert outcome.quality is None
    assert "1 differ from it" in outcome.evidence.summary


def test_seen_precision_is_compared_layer_by_layer():
    """Evidence with one layer's output altered differs from the true one in that layer alone."""
    found = in_fresh_process("eager_jobs:flipped", layer="norm", policy="{default: float16}")
    assert found["true"]["mismatches"] == []
    assert found["flipped"]["mismatches"] == [
        "output of norm: float16 in the graph's table, float64 seen in PyNative"
    ]


def test_casts_of_the_user_are_no_disagreement(run_trial):
    """A cast that graph mode drops and PyNative makes is not taken for a mismatch."""
    outcome = run_trial("awkward_workloads:make_raised", LOW)
    assert outcome.status == "trained", outcome.message
    assert "3 of 5 layers were compared, all as the table says" in outcome.evidence.summary


def test_network_that_does_not_compile_trains_on_partial_evidence(run_trial):
    """In PyNative mode such a network trains; its evidence is partial and gives MindSpore's words and the line."""
    outcome = run_trial("awkward_workloads:make_try", LOW)
    assert outcome.status == "trained", outcome.message
    assert outcome.quality > 0.85
    assert outcome.evidence.partial
    assert re.match(
        r"partial: in PyNative 4 of 4 Cell calls gave low precision; the policy decides 3, all as asked; "
        r"graph mode cannot compile this step: RuntimeError: Unsupported statement 'Try'\. "
        r"\(.*awkward_workloads\.py:18\)$",
        outcome.evidence.summary,
    )
    assert outcome.priced is None


def test_network_that_does_not_compile_is_infeasible_in_graph_mode(run_trial):
    """In graph mode the same network ends as "does not compile", with the same words."""
    outcome = run_trial("awkward_workloads:make_try", "O3")
    assert (outcome.status, outcome.cause) == ("infeasible", "does not compile")
    assert re.search(r"Unsupported statement 'Try'.*awkward_workloads\.py:18", outcome.message)


def test_policy_that_alone_does_not_compile_trains_in_pynative(run_trial):
    """Branches that end in two precisions do not join in graph mode; PyNative runs them, with partial evidence."""
    outcome = run_trial(
        "awkward_workloads:make_join", "{default: float32, layers: {norm: float16}, mode: pynative}"
    )
    assert outcome.status == "trained", outcome.message
    assert outcome.evidence.partial
    whole = run_trial("awkward_workloads:make_join", LOW)
    assert not whole.evidence.partial


@pytest.mark.parametrize(
    ("maker", "kind", "line"), [("join", "JoinNet", 31), ("helper_join", "HelperJoinNet", 53)]
)
def test_policy_for_pynative_alone_is_found_before_training(maker, kind, line, run_trial):
    """In graph mode the same policy ends untrained: which branches, both precisions, class, line, and the mode."""
    policy = "{default: float32, layers: {norm: float16}, mode: graph}"
    outcome = run_trial(f"awkward_workloads:make_{maker}", policy)
    assert (outcome.status, outcome.cause) == ("infeasible", "does not compile")
    assert "tensor `if` end in float16 and float32" in outcome.message
    assert re.search(rf"\({kind}, \S*awkward_workloads\.py:{line}\)", outcome.message), outcome.message
    assert outcome.message.endswith("the network runs in PyNative mode only")
    assert outcome.quality is None


def test_equal_partial_evidence_is_not_one_training():
    """Policies of partial evidence never share an outcome: the ops inside of their layers may differ."""
    known = {"asked_hash": "0" * 16, "summary": "", "ops_matched": 1}
    first, second = parse_policy(LOW), parse_policy("{default: float32, mode: pynative}")
    partial, whole = Evidence(**known, partial=True), Evidence(**known)
    assert partial.training_key(first) != partial.training_key(second)
    assert partial.training_key(first) == partial.training_key(first)
    assert whole.training_key(first) == whole.training_key(second)


def test_evidence_of_earlier_versions_reads():
    """An outcome that was written before there was partial evidence is not partial."""
    text = '{"asked_hash": "0123456789abcdef", "summary": "asked: 1 of 1 ops float16", "ops_matched": 1}'
    assert not Evidence.model_validate_json(text).partial
