import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies import CellOutline, NetworkOutline, parse_policy, resolve
from halfwise.policies.errors import InputError
from halfwise.policies.loss_scaling import DynamicLossScaling, NoLossScaling, StaticLossScaling
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


def test_the_ops_of_a_layer_are_a_region():
    """Each layer whose ops have sites of their own is a region; whole layers and single ops are none."""
    ops = ("MatMul", "Mul")
    sites = space(whole("a"), *(single("b", op, ops) for op in ops), single("c", "Exp", ("Exp", "Add")))
    assert sites.regions == ((1, 2),)


def test_two_low_precisions_in_one_layer_are_refused():
    """A layer's ops may be low in one precision; both together are refused with the layer's name."""
    ops = ("MatMul", "Mul")
    both = tuple(SiteGroup(f"b::{op}", ("b",), op, ops, ("float32", "float16", "bfloat16")) for op in ops)
    words = "the ops of layer b must be low in one precision, but the choices are bfloat16 and float16"
    with pytest.raises(InputError, match=words):
        space(*both).policy({"b::MatMul": "float16", "b::Mul": "bfloat16"})
    policy = space(*both).policy({"b::MatMul": "bfloat16", "b::Mul": "float32"})
    assert parse_policy(str(policy)) == policy


def test_a_choice_of_loss_scaling_is_one_more_site():
    """With other loss scalings to choose, the policy has the one that was chosen; the terms list them all."""
    static = StaticLossScaling(scale=1024)
    sites = SiteSpace((whole("a"),), "float16", DynamicLossScaling(), "graph", (static, NoLossScaling()))
    assert sites.parameters()["loss scaling"] == ("dynamic", "static scale=1024", "none")
    chosen = {"a": "float16", "loss scaling": "static scale=1024"}
    assert sites.policy(chosen).loss_scaling == static
    assert sites.policy(chosen | {"loss scaling": "dynamic"}).loss_scaling == DynamicLossScaling()
    assert len(sites.terms()["loss scaling"]) == 3
    assert sites.describe() == "1 layers and 0 single ops, 3 loss scalings: 10^1.0 policies"
    with pytest.raises(InputError, match="every site must have a choice, but loss scaling has none"):
        sites.policy({"a": "float16"})
    with pytest.raises(InputError, match="unknown choice for loss scaling 'static'"):
        sites.policy({"a": "float16", "loss scaling": "static"})


@pytest.mark.parametrize(
    ("first", "others", "words"),
    [
        pytest.param(
            NoLossScaling(), (NoLossScaling(),), "may be offered once, but they are none, none", id="twice"
        ),
        pytest.param(
            NoLossScaling(), (DynamicLossScaling(),), "must be the safest.*but is none beside dynamic", id="order"
        ),
    ],
)
def test_loss_scalings_that_cannot_be_chosen_from_are_refused(first, others, words):
    """The same scaling twice, or one that is safer than float32's own, is refused with their names."""
    with pytest.raises(InputError, match=words):
        SiteSpace((whole("a"),), "float16", first, "graph", others)
