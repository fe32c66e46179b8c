from typing import Any

import pytest

from halfwise.policies import (
    Assignment,
    CellOutline,
    InputError,
    NetworkOutline,
    Policy,
    idle_rules,
    resolve,
)


def network(
    *paths: str, shared: dict[str, tuple[str, ...]] | None = None, **types: tuple[str, ...]
) -> NetworkOutline:
    """Cells at the network itself and at these paths; `shared` gives aliases, `types` classes by last name."""
    return NetworkOutline(
        tuple(
            CellOutline(path, (shared or {}).get(path, ()), (*types.get(path.rpartition(".")[2], ()), "nn.Cell"))
            for path in ("", *paths)
        )
    )


def asked(layers: dict[str, Any], outline: NetworkOutline, default: str = "float16") -> dict[str, Assignment]:
    """The assignments by path."""
    policy = Policy.model_validate({"default": default, "layers": layers})
    return {assignment.path: assignment for assignment in resolve(policy, outline)}


def problem(layers: dict[str, Any], outline: NetworkOutline) -> str:
    """The message for rules that don't fit a network."""
    with pytest.raises(InputError) as caught:
        asked(layers, outline)
    return str(caught.value)


BODY = network(
    "body", "body.0", "body.0.attn", "body.0.norm", "body.1", "body.1.norm", "head", norm=("nn.LayerNorm",)
)


def test_without_rules_the_default_decides() -> None:
    """Every Cell gets the default, and the rule's name says so."""
    assignments = asked({}, BODY, default="auto")
    assert list(assignments) == [cell.path for cell in BODY.cells]
    assert {(a.precision, a.rule) for a in assignments.values()} == {("auto", "default")}


def test_the_nearest_covering_rule_decides() -> None:
    """A rule covers what lies below, except what a nearer one covers."""
    assignments = asked({"body": "float32", "body.0": "auto", "body.*.norm": "bfloat16"}, BODY)
    assert {path: (a.precision, a.rule) for path, a in assignments.items()} == {
        "": ("float16", "default"),
        "body": ("float32", "body"),
        "body.0": ("auto", "body.0"),
        "body.0.attn": ("auto", "body.0"),
        "body.0.norm": ("bfloat16", "body.*.norm"),
        "body.1": ("float32", "body"),
        "body.1.norm": ("bfloat16", "body.*.norm"),
        "head": ("float16", "default"),
    }


def test_at_one_cell_a_path_beats_a_glob_and_a_glob_beats_a_type() -> None:
    """The more specific kind decides, whatever else covers the same Cell."""
    layers = {"nn.LayerNorm": "float32", "body.*.norm": "auto", "body.0.norm": "bfloat16"}
    assignments = asked(layers, BODY)
    assert assignments["body.0.norm"].rule == "body.0.norm"
    assert assignments["body.1.norm"].rule == "body.*.norm"
    assert asked({"nn.LayerNorm": "float32"}, BODY)["body.1.norm"].precision == "float32"


def test_a_dot_names_the_network_itself() -> None:
    """The rule covers everything that no nearer rule covers."""
    assignments = asked({".": "float32", "head": "auto"}, BODY)
    assert (assignments[""].rule, assignments["body.0.attn"].rule, assignments["head"].rule) == (".", ".", "head")


def test_an_op_rule_covers_the_cell_and_what_lies_below() -> None:
    """The Cells keep their precision; only the op is taken out, down to a nearer rule for the op or the Cell."""
    layers = {"body::Mul": "float32", "body.0::Mul": "bfloat16", "body.1": "float32", "::Exp": "float32"}
    assignments = asked(layers, BODY)
    assert {path: dict(a.op_precisions) for path, a in assignments.items()} == {
        "": {"Exp": "float32"},
        "body": {"Exp": "float32", "Mul": "float32"},
        "body.0": {"Exp": "float32", "Mul": "bfloat16"},
        "body.0.attn": {"Exp": "float32", "Mul": "bfloat16"},
        "body.0.norm": {"Exp": "float32", "Mul": "bfloat16"},
        "body.1": {},
        "body.1.norm": {},
        "head": {"Exp": "float32"},
    }
    assert assignments["body.0.attn"].op_rules == {"Exp": "::Exp", "Mul": "body.0::Mul"}
    assert assignments["body.0.attn"].precision == "float16"


def test_at_one_cell_the_op_rule_beats_the_cells_own_rule() -> None:
    """Even a glob with an op beats the exact path without one, for that op."""
    assignments = asked({"body.0.attn": "float16", "**::Mul": "float32"}, BODY)
    assert assignments["body.0.attn"].op_precisions == {"Mul": "float32"}


def test_a_graph_name_follows_the_rule_of_its_family_where_that_is_nearer() -> None:
    """A nearer `Mul` decides for `Muls` too, although a farther rule names `Muls` itself."""
    assignments = asked({"::Muls": "bfloat16", "body.0::Mul": "float32"}, BODY)
    assert assignments["body.0.attn"].op_precisions == {"Mul": "float32", "Muls": "float32"}
    assert assignments["head"].op_precisions == {"Muls": "bfloat16"}


def test_two_globs_at_one_cell_must_agree() -> None:
    """Different answers are an error that names both and the Cell; equal ones are fine."""
    assert problem({"body.*": "float32", "*.0": "float16"}, BODY) == (
        "layers: '*.0' (float16) and 'body.*' (float32) both cover 'body.0': keep one of them, "
        "or add a rule for just 'body.0'"
    )
    assert problem({"**": "float32", "**.*": "float16"}, BODY).startswith("layers: '**' (float32) and '**.*'")
    assert asked({"body.*": "float32", "*.0": "float32"}, BODY)["body.0"].rule == "*.0"
    assert asked({"body.*": "float32", "*.0": "float16", "body.0": "auto"}, BODY)["body.0"].precision == "auto"


def test_two_types_at_one_cell_must_agree() -> None:
    """A class and its base class with different answers clash, too; a rule for the Cell settles it."""
    outline = network("ln", ln=("MyNorm", "nn.LayerNorm"))
    layers = {"type:MyNorm": "float16", "nn.LayerNorm": "float32"}
    assert problem(layers, outline) == (
        "layers: 'nn.LayerNorm' (float32) and 'type:MyNorm' (float16) both cover 'ln': keep one of them, "
        "or add a rule for just 'ln'"
    )
    assert asked({**layers, "ln": "auto"}, outline)["ln"].precision == "auto"


def test_op_rules_clash_like_others() -> None:
    """Two globs for one op at one Cell are named with the network itself where it is that Cell."""
    message = problem({"**::Mul": "float32", "**.**::Mul": "float16"}, BODY)
    assert message.startswith(
        "layers: '**.**::Mul' (float16) and '**::Mul' (float32) both cover the network itself"
    )


def test_a_type_covers_its_subclasses_and_what_they_hold() -> None:
    """MyNorm(nn.LayerNorm) is reached by either name (case 11)."""
    outline = network("ln", "ln.inner", ln=("MyNorm", "nn.LayerNorm"))
    for rule in ("nn.LayerNorm", "type:MyNorm"):
        assignments = asked({rule: "float32"}, outline)
        assert [assignments[path].rule for path in ("", "ln", "ln.inner")] == ["default", rule, rule]


def test_a_rule_that_matches_nothing_is_an_error_with_near_misses() -> None:
    """Each such rule gets a line (case 8); op rules are judged by the Cells they name."""
    outline = network("body", "body.conv1", "head", head=("MyHead",))
    layers = {
        "bdy": "float32",
        "body.*.x": "float32",
        "type:MyHaed": "auto",
        "zzz::Mul": "float32",
        "head": "auto",
    }
    assert problem(layers, outline).splitlines() == [
        "layers.bdy: matches no layer of this network; did you mean 'body'?",
        "layers.body.*.x: matches no layer of this network; did you mean 'body'?",
        "layers.type:MyHaed: matches no layer of this network; did you mean 'MyHead'?",
        "layers.zzz::Mul: matches no layer of this network",
    ]


def test_rules_for_mindspores_classes_may_match_nothing() -> None:
    """They speak of classes, not of this network, so that O1 and O2 fit any; idle_rules tells."""
    policy = Policy(layers={"nn.Conv2d": "float32", "nn.LayerNorm::Add": "float32", "body": "float32"})
    resolve(policy, network("body"))
    assert idle_rules(policy, network("body")) == ("nn.Conv2d", "nn.LayerNorm::Add")


def test_odd_names_are_addressable() -> None:
    """Names that YAML or a terminal stumbles over are plain paths here (case 7)."""
    paths = ("on", "no", "1e-3", "größe", "<script>", "seq", "seq.0.5")
    assignments = asked(dict.fromkeys(paths, "float32"), network(*paths))
    assert {assignments[path].rule for path in paths} == set(paths)


def test_a_shared_cell_is_one_layer_under_any_of_its_names() -> None:
    """A rule by either name covers it, and both names are kept (case 1)."""
    outline = network("ln", "body", "body.ln", shared={"ln": ("ln2", "enc.ln")})
    for name in ("ln", "ln2", "enc.ln"):
        assignment = asked({name: "float32"}, outline)["ln"]
        assert (assignment.precision, assignment.rule, assignment.aliases) == ("float32", name, ("ln2", "enc.ln"))


def test_conflicting_rules_for_a_shared_cell_are_an_error_naming_both() -> None:
    """Different answers by name clash, whether the rule names the Cell or what holds it (case 1)."""
    outline = network("a", "b", "a.ln", shared={"a.ln": ("b.ln",)})
    assert problem({"a.ln": "float32", "b": "float16"}, outline) == (
        "layers: 'a.ln' and 'b.ln' are one layer under two names, but 'a.ln' (float32) covers the one "
        "and 'b' (float16) the other: give both the same precision"
    )
    assert "'a::Mul' (float32)" in problem({"a::Mul": "float32", "b.ln::Mul": "float16"}, outline)
    assert asked({"a": "float32", "b": "float32"}, outline)["a.ln"].precision == "float32"


def test_a_shared_cell_takes_its_op_rule_by_one_name_and_its_precision_by_another() -> None:
    """The rules of both names together are the rules of the one Cell; the nearer still wins."""
    outline = network("a", "b", "a.ln", shared={"a.ln": ("b.ln",)})
    both = asked({"a.ln": "float32", "b.ln::Mul": "float16"}, outline)["a.ln"]
    assert (both.precision, dict(both.op_precisions)) == ("float32", {"Mul": "float16"})
    farther = asked({"a.ln": "float32", "b::Mul": "float16"}, outline)["a.ln"]
    assert (farther.precision, dict(farther.op_precisions)) == ("float32", {})


def test_an_op_rule_that_a_nearer_rule_sets_aside_clashes_with_nothing() -> None:
    """By the name a.ln the rule for the Cell ends a::Mul; what b.ln says about Mul then stands alone."""
    outline = network("a", "b", "a.ln", shared={"a.ln": ("b.ln",)})
    assignment = asked({"a.ln": "auto", "a::Mul": "bfloat16", "b.ln::Mul": "float32"}, outline)["a.ln"]
    assert assignment.op_precisions == {"Mul": "float32"}
