"""Policies with sites returned to float32: these change, and nothing else does."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from surveys import make_survey

from halfwise.evaluators.survey_result import SurveyedCell
from halfwise.experiments.localize_policy import returned_to_float32
from halfwise.experiments.sites_of import sites_of
from halfwise.experiments.space_of import layer_groups
from halfwise.policies import BUILTIN, InputError, OpLists, Policy, resolve
from halfwise.policies.regions import asked_ops
from halfwise.search.site_space import SiteGroup

CELLS = [
    ("", (), "Net", ("Add", "Mul")),
    ("blocks", (), "nn.CellList", ()),
    ("blocks.0", (), "Block", ("Add",)),
    ("blocks.0.attention", (), "Attention", ("Add", "MatMul", "Mul", "Softmax")),
    ("blocks.0.attention.query", (), "nn.Dense", ("BiasAdd", "MatMul")),
    ("blocks.0.norm", (), "nn.LayerNorm", ("LayerNorm",)),
    ("blocks.1", (), "Block", ("Add",)),
    ("blocks.1.attention", (), "Attention", ("Add", "MatMul", "Mul", "Softmax")),
    ("blocks.1.attention.query", (), "nn.Dense", ("BiasAdd", "MatMul")),
    ("blocks.1.norm", (), "nn.LayerNorm", ("LayerNorm",)),
    ("head", ("tied",), "nn.Dense", ("BiasAdd", "MatMul")),
]
SURVEY = make_survey(*(SurveyedCell(path=p, aliases=a, type_names=(t,), ops=ops) for p, a, t, ops in CELLS))
SITES = sites_of(SURVEY.cells, layer_groups(SURVEY, "blocks"), ("float16",))
PATTERNS = [
    *(path for path, _, _, _ in CELLS if path),
    *("tied", "tied::MatMul", ".", "::Mul", "blocks.0::Mul", "blocks.*.attention", "blocks.*.attention::Mul"),
    *("blocks.**", "**::Add", "nn.Dense", "nn.Dense::MatMul", "nn.LayerNorm"),
]


def asked(policy: Policy) -> dict[tuple[str, str], str | None]:
    """What is asked of each op that a layer computes; None where it follows its inputs."""
    cells = {cell.path: cell.ops for cell in SURVEY.cells}
    found: Mapping = {a.path: asked_ops(a, policy).precisions for a in resolve(policy, SURVEY.outline)}
    return {(path, op): found[path].get(op) for path, ops in cells.items() for op in ops}


def ops_of(site: SiteGroup) -> set[tuple[str, str]]:
    """The layers' ops that a site stands for."""
    return {(path, op) for path in site.paths for op in ((site.op,) if site.op else site.ops)}


def fitting(policy: Policy) -> bool:
    """Whether a drawn policy is one at all."""
    try:
        asked(policy)
    except InputError:
        return False
    return True


@st.composite
def policies(draw) -> Policy:
    """Policies of every kind: rules for paths, globs, types and ops, lists, defaults."""
    patterns = draw(st.lists(st.sampled_from(PATTERNS), unique=True, max_size=5))
    rules = {
        pattern: draw(st.sampled_from(["float32", "float16"] + ["auto"] * ("::" not in pattern)))
        for pattern in patterns
    }
    default = draw(st.sampled_from(["float32", "float16", "auto"]))
    lists = OpLists(
        white_list=draw(st.sampled_from([(), ("MatMul",)])), black_list=draw(st.sampled_from([(), ("Softmax",)]))
    )
    return Policy(default=default, layers=rules, ops=lists)


@given(policies().filter(fitting), st.lists(st.sampled_from(SITES), unique=True, max_size=4))
def test_the_sites_return_and_nothing_else_changes(policy, sites):
    """Whatever the policy, the sites' ops are asked to be float32 afterwards, and every other op as before."""
    wanted = asked(policy) | {place: "float32" for site in sites for place in ops_of(site)}
    assert asked(returned_to_float32(policy, sites, SURVEY)) == wanted


@pytest.mark.parametrize("level", ["O2", "O3", "auto"])
def test_repeated_blocks_are_named_by_one_rule(level):
    """The product of all attentions is one rule, and it is the only new one."""
    site = next(site for site in SITES if site.name == "blocks.*.attention::Mul")
    made = returned_to_float32(BUILTIN[level], [site], SURVEY)
    assert dict(made.layers) == {**BUILTIN[level].layers, "blocks.*.attention::Mul": "float32"}


def test_layers_below_keep_their_op():
    """A rule for the network's own sum would hold everywhere: the blocks say that theirs stay low."""
    site = next(site for site in SITES if site.paths == ("",) and site.op == "Add")
    made = returned_to_float32(BUILTIN["O3"], [site], SURVEY)
    assert made.layers["::Add"] == "float32"
    assert made.layers["blocks.0::Add"] == "float16"
    assert "head::Add" not in made.layers
