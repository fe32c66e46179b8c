"""`halfwise localize`: the op that leaves float32 first, and the least that must return to it."""

import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from program import run_halfwise
from surveys import make_survey

from halfwise.evaluators.localize.compare import Compared, Departure
from halfwise.evaluators.localize.values import OpKey
from halfwise.evaluators.outcome import Outcome, Place
from halfwise.evaluators.survey_result import Survey, SurveyedCell
from halfwise.experiments.localize import Cure, Localized
from halfwise.experiments.localize_sites import alike, blamed_by, departure_at, low_sites, sites_at
from halfwise.experiments.localize_words import as_data, departure_words, localized_lines, with_reasons
from halfwise.policies import BUILTIN, NoLossScaling, Policy, load_policy, parse_policy

SUPPORT = Path(__file__).parents[1] / "support"
halfwise = partial(run_halfwise, timeout_s=1700)


def survey(**ops: tuple[str, ...]) -> Survey:
    """A network of the user's own layers with these ops, underscores for dots."""
    cells = [SurveyedCell(path="", aliases=(), type_names=("Net",), ops=())]
    cells += [
        SurveyedCell(path=path.replace("_", "."), aliases=(), type_names=("Own",), ops=names)
        for path, names in ops.items()
    ]
    return make_survey(*cells)


def ops_table(folder: Path, *rows: tuple[str, str, str]) -> Path:
    """An op table on disk of forward ops: layer, op, precision."""
    table = pd.DataFrame(rows, columns=["layer", "op", "compute_precision"]).assign(direction="forward")
    table.to_csv(folder / "ops.csv.gz", index=False)
    return folder / "ops.csv.gz"


def departure(layer: str = "a", op: str = "Mul", **changes) -> Departure:
    """A product that overflows."""
    key = OpKey(layer=layer, op=op, graph_op=op, direction="forward", shapes=((2, 2),))
    figures = {"largest": 131008.0, "deviation": 0.5, "allowed": 0.01, "finite": False, "lost": 0.0}
    return Departure(key=key, precision="float16", **{"blames": ((layer, op),), **figures, **changes})


def outcome(**changes) -> Outcome:
    """A trial that trained."""
    known = {"digest": "0", "seed": 1, "device": "CPU", "mindspore_version": "2.10.0", "losses": (1.0,) * 8}
    metric = {"metric": "accuracy", "direction": "maximize", "status": "trained", "quality": 0.9}
    return Outcome(policy="O3", **{**known, **metric, **changes})


PLACE = Place(step=0, layer="a", op="Mul", direction="forward")
FAILED = outcome(status="infeasible", cause="non-finite at step 0", first_non_finite=PLACE, quality=None)


def localized(**changes) -> Localized:
    """What is found of a policy whose product overflows."""
    site = sites_at_all()[0]
    cured = BUILTIN["O3"].replace(layers={"a::Mul": "float32"})
    found = {
        "policy": BUILTIN["O3"],
        "outcome": FAILED,
        "float32": outcome(),
        "works": False,
        "step": 0,
        "compared": Compared(departures=(departure(),), compared=40, without_twin=2),
        "first": departure(),
        "cure": Cure((site,), cured, outcome()),
        "probes": 1,
        "steps_spent": 10,
        "trial_steps": 8,
        "notes": ("something is missing",),
    }
    return Localized(**{**found, **changes})


def sites_at_all():
    """The sites of a layer with two ops."""
    from halfwise.experiments.sites_of import sites_of
    from halfwise.experiments.space_of import layer_groups

    network = survey(a=("Mul", "Add"))
    return sites_of(network.cells, layer_groups(network, "blocks"), ("float16",))


def test_blocks_of_which_one_holds_the_others_ops_are_one_site(tmp_path):
    """An op that MindSpore merged into the first block is a site of all blocks, if any of them is low."""
    network = alike(survey(blocks_0_a=("Add", "Mul"), blocks_1_a=("Add",)))
    file = ops_table(tmp_path, ("blocks.0.a", "Mul", "float16"), ("blocks.1.a", "Add", "float32"))
    sites = low_sites(network, file)
    assert [site.name for site in sites] == ["blocks.*.a::Mul"]
    assert sites[0].paths == ("blocks.0.a", "blocks.1.a")


def test_low_sites_are_those_that_the_table_shows_low(tmp_path):
    """Gradient ops, float32 ops and other layers make no site low; the network itself has an empty path."""
    network = survey(a=("Add", "Mul"), b=("Add", "Mul"))
    file = ops_table(tmp_path, ("a", "Mul", "bfloat16"), ("a", "Add", "float32"), ("", "Mul", "float16"))
    assert [site.name for site in low_sites(network, file)] == ["a::Mul"]


def test_blame_goes_to_the_op_else_to_the_layer_else_to_the_op_elsewhere():
    """A named op of the layer's own is one site; a gradient op means the layer; a merged op means its like."""
    sites = sites_at_all()
    assert sites_at(sites, "a", "Mul") == ("a::Mul",)
    assert sites_at(sites, "a", "MulGrad") == ("a::Mul", "a::Add")
    assert sites_at(sites, "elsewhere", "Mul") == ("a::Mul",)
    assert sites_at(sites, None, None) == ()
    assert blamed_by(sites, departure(blames=(("a", "Add"), ("a", "Mul")))) == ("a::Add", "a::Mul")


def test_the_departure_of_a_diagnosis_is_the_one_at_its_place():
    """A comparison's figures are given for the op that the diagnosis named, else for the first to leave."""
    early, late = departure("early"), departure("a")
    both = Compared(departures=(early, late), compared=2, without_twin=0)
    assert departure_at(both, PLACE) == late
    assert departure_at(both, None) == early
    assert departure_at(both, Place(step=0)) == early
    assert departure_at(both, PLACE.model_copy(update={"op": "Sub"})) is None


def test_the_words_hold_op_value_cure_and_cost():
    """What a person reads: the cause, the first op with its largest value, the one rule, and what it cost."""
    lines = list(localized_lines(localized()))
    assert lines[0] == "under this policy on CPU, seed 1: does not train: non-finite at step 0"
    assert lines[1].startswith(
        "first: step 0, op Mul of a (forward); float16 as asked; not finite where float32 is"
    )
    assert "largest value in float32 1.31e+05, 1.0 doublings beyond 65,504" in lines[1]
    assert lines[2].startswith("40 ops were compared with float32 at step 0")
    assert lines[3] == "cure: a::Mul: float32; accuracy 0.9"
    assert lines[4] == "nothing more need return to float32"
    assert "1 training and 10 steps in all, 1.2 of a trial's 8" in lines[6]
    assert lines[-1] == "note: something is missing"


def test_a_drift_is_told_in_units_in_the_last_place():
    """A finite departure gives its deviation, what is explained, and what became 0."""
    words = departure_words(departure(finite=True, lost=0.25))
    assert "512 units in the last place from float32, its precision and its inputs explain 10" in words
    assert words.endswith("25% of its values became 0")


def test_a_policy_that_works_needs_no_cure():
    """A policy that trains as float32 does is said to, and where no op leaves float32 that is said too."""
    nothing = Compared(departures=(), compared=40, without_twin=0)
    lines = list(
        localized_lines(
            localized(outcome=outcome(), works=True, first=None, compared=nothing, cure=None, probes=0)
        )
    )
    assert lines[0].endswith("trains as well as float32: accuracy 0.9 against 0.9 in float32")
    assert lines[1].startswith("no op leaves float32 by more than its precision and its inputs explain")
    assert not any(line.startswith("cure") for line in lines)


def test_the_cured_policy_carries_its_reason():
    """Each new rule says what failed without it; the data hold the same policy."""
    found = localized()
    assert found.cure is not None
    policy = with_reasons(found, found.cure)
    assert dict(policy.layers) == {"a::Mul": "float32"}
    assert "non-finite at step 0; first at step 0, op Mul of a (forward)" in policy.reasons["a::Mul"]
    data = json.loads(json.dumps(as_data(found)))
    assert data["cure"]["sites"] == ["a::Mul"]
    assert data["first"]["ulps"] == 512


def test_an_unknown_workload_is_refused():
    """Exit code 2, with near misses."""
    result = halfwise("localize", "--workload", "tabular-mpl", "--policy", "O3")
    assert (result.returncode, "tabular-mlp" in result.stderr) == (2, True)


# A case: workload, policy, the layer that is named first, all that must return to float32, and the most trainings.
CASES = [
    pytest.param(
        "localize_workloads:make_late_overflow", "O3", "squares", {"squares::Mul": "float32"}, 3, id="15"
    ),
    pytest.param(
        "text-transformer", "O3", "blocks.0.attention", {"blocks.*.attention::Mul": "float32"}, 3, id="14"
    ),
    pytest.param("tabular-mlp", "O3", "features", {"features::Mul": "float32"}, 3, id="15-built-in"),
    # The sum with 1e-8 is 0 in float16, and the logarithm must take it in float32: neither alone is a cure.
    pytest.param(
        "localize_workloads:make_logarithms",
        "O3",
        "own",
        {"own::Add": "float32", "own::Log": "float32"},
        20,
        id="16-logarithm",
    ),
    # float16 holds neither the squares nor their sum, nor the root of it.
    pytest.param(
        "localize_workloads:make_lengths",
        "O3",
        "own",
        {"own::Add": "float32", "own::Mul": "float32", "own::ReduceSum": "float32", "own::Sqrt": "float32"},
        20,
        id="16-norm",
    ),
]


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("workload", "policy", "layer", "rules", "most_probes"), CASES)
def test_a_hazard_is_named_and_nothing_else_returns_to_float32(
    tmp_path, workload, policy, layer, rules, most_probes
):
    """The layer of the hazard is named first, and the cure is a rule for it alone, which trains."""
    cured = tmp_path / "cured.yaml"
    result = halfwise("localize", "--workload", workload, "--policy", policy, "--format", "json", "-o", str(cured))
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["outcome"]["first_non_finite"]["layer"] == layer
    written = load_policy(cured)
    assert dict(written.layers) == rules
    assert set(written.reasons) == set(written.layers)
    assert found["probes"] <= most_probes


@pytest.mark.full
@pytest.mark.timeout(900)
def test_vanished_gradients_are_named_and_cured_by_a_loss_scale():
    """Without a loss scale gradients become 0 in float16: a gradient op is named, and scaling is the cure."""
    policy = str(Policy(default="float16", loss_scaling=NoLossScaling()))
    result = halfwise(
        "localize", "--workload", "localize_workloads:make_frozen", "--policy", policy, "--format", "json"
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["outcome"]["cause"] == "loss never moved"
    assert (found["first"]["key"]["direction"], found["first"]["lost"]) == ("gradient", 1.0)
    assert found["cure"]["sites"] == []
    assert parse_policy(found["cure"]["policy"]).loss_scaling.kind == "dynamic"
