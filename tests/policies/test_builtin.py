from halfwise.policies import (
    BUILTIN,
    LEVELS,
    CellOutline,
    DynamicLossScaling,
    NetworkOutline,
    NoLossScaling,
    resolve,
)

# The lists of mindspore.train.amp, counted there: 10 layers and 10 ops (O1), 4 layers (O2), 20 and 46 ops (auto).
# O1 keeps five variants of its ops in float32 beside them.
LIST_LENGTHS = {"O1": 25, "O2": 4}


def precisions(level: str, network: NetworkOutline) -> dict[str, str]:
    """What a built-in policy asks of each Cell."""
    return {a.path: a.precision for a in resolve(BUILTIN[level], network)}


NETWORK = NetworkOutline(
    (
        CellOutline("", (), ("Net", "nn.Cell")),
        CellOutline("conv", (), ("nn.Conv2d", "nn.Cell")),
        CellOutline("bn", (), ("nn.BatchNorm2d", "nn.Cell")),
        CellOutline("gn", (), ("nn.GroupNorm", "nn.Cell")),
        CellOutline("ln", (), ("MyNorm", "nn.LayerNorm", "nn.Cell")),
        CellOutline("fc", (), ("nn.Dense", "nn.Cell")),
        CellOutline("relu", (), ("nn.ReLU", "nn.Cell")),
    )
)


def test_the_levels_ask_what_mindspore_documents() -> None:
    """O0 and O3 are all one precision; O2 keeps its four normalisations, O1 lowers its ten layer classes."""
    assert set(precisions("O0", NETWORK).values()) == {"float32"}
    assert set(precisions("O3", NETWORK).values()) == {"float16"}
    assert set(precisions("auto", NETWORK).values()) == {"auto"}
    assert [path for path, precision in precisions("O1", NETWORK).items() if precision == "float16"] == [
        "conv",
        "fc",
    ]


def test_a_listed_type_covers_its_subclasses_and_group_norm_is_not_listed() -> None:
    """Under O2 MyNorm(nn.LayerNorm) stays in float32, nn.GroupNorm does not (case 11)."""
    asked = precisions("O2", NETWORK)
    assert (asked["ln"], asked["bn"], asked["gn"], asked[""]) == ("float32", "float32", "float16", "float16")


def test_o1_lowers_its_ops_wherever_they_are() -> None:
    """The primitives of MindSpore's white list are low in every Cell, the network included; others are not."""
    for assignment in resolve(BUILTIN["O1"], NETWORK):
        assert assignment.op_precisions["MatMul"] == "float16"
        assert assignment.op_rules["MatMul"] == "**::MatMul"
        assert [*assignment.op_precisions.values()].count("float16") == 10
        assert assignment.op_precisions["MatMulExt"] == "float32"


def test_the_lists_are_as_long_as_mindspores() -> None:
    """No entry of MindSpore 2.10's lists was lost; their names are compared where mindspore is imported."""
    assert {name: len(BUILTIN[name].layers) for name in LIST_LENGTHS} == LIST_LENGTHS
    assert (len(BUILTIN["auto"].ops.white_list), len(BUILTIN["auto"].ops.black_list)) == (20, 46)


def test_every_level_but_float32_scales_the_loss() -> None:
    """O0 needs no scaling; the others start with dynamic scaling."""
    assert BUILTIN["O0"].loss_scaling == NoLossScaling()
    assert all(BUILTIN[name].loss_scaling == DynamicLossScaling() for name in ("O1", "O2", "O3", "auto"))


def test_a_search_tries_the_levels_and_no_preset() -> None:
    """The presets have names of their own beside MindSpore's levels."""
    assert list(LEVELS) == ["O0", "O1", "O2", "O3", "auto"]
    assert list(BUILTIN) == [*LEVELS, "cv", "nlp"]


def test_the_cv_preset_keeps_norms() -> None:
    """Convolutions, Dense and what stands between go low; every norm stays float32, GroupNorm too."""
    asked = precisions("cv", NETWORK)
    assert {path for path, precision in asked.items() if precision == "float32"} == {"bn", "gn", "ln"}


def test_the_nlp_preset_keeps_scores_norms_and_embeddings() -> None:
    """Products with weights go low; products of activations, softmax, mask, norms and embeddings stay float32."""
    network = NetworkOutline(
        (
            CellOutline("", (), ("Net", "nn.Cell")),
            CellOutline("words", (), ("nn.Embedding", "nn.Cell")),
            CellOutline("attention", (), ("Attention", "nn.Cell")),
            CellOutline("norm", (), ("nn.LayerNorm", "nn.Cell")),
        )
    )
    asked = {each.path: each for each in resolve(BUILTIN["nlp"], network)}
    assert (asked["words"].precision, asked["norm"].precision) == ("float32", "float32")
    kept = asked["attention"].op_precisions
    assert {kept[op] for op in ("BatchMatMul", "MatMulExt", "Softmax", "Mul", "MaskedFill")} == {"float32"}
    assert (asked["attention"].precision, "MatMul" in kept, "Add" in kept) == ("float16", False, False)
