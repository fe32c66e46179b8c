import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies import CellOutline, NetworkOutline, parse_policy, resolve
from halfwise.policies.errors import InputError
from halfwise.policies.loss_scaling import NoLossScaling
from halfwise.policies.regions import asked_ops
from halfwise.search.site_space import SiteGroup, SiteSpace

LOW = ("float32", "float16")
OPS = ("MatMul", "Softmax", "Add", "Exp")


def space(*groups: SiteGroup) -> SiteSpace:
    """A space of these sites, without loss scaling."""
    return SiteSpace(groups, "float16", NoLossScaling(), "graph")


def whole(path: str, *ops: str) -> SiteGroup:
    """A layer as one site."""
    return SiteGroup(path or ".", (path,), None, ops or ("MatMul",), ("float32", "float16", "bfloat16"))


def single(path: str, op: str, ops: tuple[str, ...]) -> SiteGroup:
    """One op of a layer as a site."""
    return SiteGroup(f"{path}::{op}", (path,), op, ops, LOW)


@st.composite
def spaces(draw):
    """A tree of layers, each one site or one for each op, and a choice for every site."""
    paths = {""}
    for parts in draw(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=3), max_size=5)):
        paths |= {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    groups = []
    for path in sorted(paths):
        ops = tuple(sorted(draw(st.sets(st.sampled_from(OPS), max_size=4))))
        if ops:
            groups += [whole(path, *ops)] if draw(st.booleans()) else [single(path, op, ops) for op in ops]
    groups = groups or [whole("", "Add")]
    choices = {group.name: draw(st.sampled_from(group.choices)) for group in groups}
    return space(*groups), choices, NetworkOutline(tuple(CellOutline(p, (), ("nn.Cell",)) for p in sorted(paths)))


@given(spaces())
def test_every_op_gets_what_was_chosen_for_its_site(case):
    """Resolved on the network, the policy asks of each layer's own ops the precision of their site."""
    sites, choices, outline = case
    policy = sites.policy(choices)
    asked = {a.path: asked_ops(a, policy).precisions for a in resolve(policy, outline)}
    for group in sites.groups:
        for path in group.paths:
            for op in group.ops if group.op is None else (group.op,):
                assert asked[path][op] == choices[group.name]


@given(spaces())
def test_a_site_policy_reads_back(case):
    """The policy's text parses back to the same policy."""
    sites, choices, _ = case
    policy = sites.policy(choices)
    assert parse_policy(str(policy)) == policy


def test_one_exception_is_one_rule():
    """Where all but one op go low, the policy is a default and one rule for that op."""
    ops = ("MatMul", "Mul", "Softmax")
    sites = space(whole("embed"), *(single("blocks.0.attention", op, ops) for op in ops), whole("head"))
    chosen = dict.fromkeys(sites.parameters(), "float16") | {"blocks.0.attention::Mul": "float32"}
    policy = sites.policy(chosen)
    assert policy.default == "float16"
    assert dict(policy.layers) == {"blocks.0.attention::Mul": "float32"}


def test_the_network_and_its_layers_may_differ_in_low_precision():
    """The network's own op in bfloat16 and a layer in float16 are said without asking one layer for both."""
    sites = space(whole("", "MatMul"), single("a", "Softmax", ("Softmax",)), single("b", "Softmax", ("Softmax",)))
    policy = sites.policy({".": "bfloat16", "a::Softmax": "float16", "b::Softmax": "float16"})
    outline = NetworkOutline(tuple(CellOutline(path, (), ("nn.Cell",)) for path in ("", "a", "b")))
    asked = {a.path: asked_ops(a, policy).precisions for a in resolve(policy, outline)}
    assert (asked[""]["MatMul"], asked["a"]["Softmax"], asked["b"]["Softmax"]) == (
        "bfloat16",
        "float16",
        "float16",
    )


def test_tied_layers_share_the_choice():
    """A group of several layers gives each of them its rule."""
    tied = SiteGroup("blocks.*.mlp", ("blocks.0.mlp", "blocks.1.mlp"), None, ("MatMul",), LOW)
    sites = space(tied, *(whole(name) for name in "abc"))
    policy = sites.policy(dict.fromkeys(sites.parameters(), "float32") | {"blocks.*.mlp": "float16"})
    assert dict(policy.layers) == {"blocks.0.mlp": "float16", "blocks.1.mlp": "float16"}


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        pytest.param({}, "every site must have a choice, but a has none", id="missing"),
        pytest.param({"a": "float32", "c": "float32"}, "unknown site 'c'", id="unknown"),
        pytest.param({"a": "float64"}, "unknown choice for a 'float64'", id="choice"),
    ],
)
def test_choices_that_do_not_fit_are_refused(choices, words):
    """A missing site, an unknown one and a choice that is not the site's own are refused by name."""
    with pytest.raises(InputError, match=words):
        space(whole("a")).policy(choices)


def test_an_empty_space_is_refused():
    """A network without any site cannot be searched."""
    with pytest.raises(InputError, match="nothing to search"):
        space()


def test_terms_and_words_name_the_sites():
    """The terms list each site with its choices; the description counts layers and ops."""
    sites = space(whole("a"), single("b", "Exp", ("Exp", "Add")))
    assert sites.terms()["sites"] == ["a = a: float32, float16, bfloat16", "b::Exp = b: float32, float16"]
    assert sites.describe() == "1 layers and 1 single ops: 10^0.8 policies"
