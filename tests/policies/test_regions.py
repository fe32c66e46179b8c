from typing import Any

import pytest

from halfwise.policies import (
    OP_CLASSES,
    CellOutline,
    InputError,
    NetworkOutline,
    OpLists,
    Policy,
    Region,
    region_of,
    resolve,
)

FLOAT_OPS = {op for op, op_class in OP_CLASSES.items() if op_class != "inplace_normalization"}
LOSSES = {op for op, op_class in OP_CLASSES.items() if op_class == "loss"}


def region(*type_names: str, **fields: Any) -> Region:
    """The region of the Cell `a`, of the given type, under a policy with these fields."""
    cell = CellOutline("a", (), (*type_names, "nn.Cell"))
    policy = Policy(**fields)
    (assignment,) = resolve(policy, NetworkOutline((cell,)))
    return region_of(assignment, policy)


def test_a_float32_region_lists_every_op_as_black() -> None:
    """Nothing follows its inputs into low precision, in-place normalisations included."""
    asked = region(default="float32", ops=OpLists(white_list=("MatMul",)))
    assert (asked.precision, asked.border) == ("float16", None)
    assert asked.white_list == ()
    assert asked.black_list == tuple(sorted(OP_CLASSES))


def test_a_low_region_lists_every_op_as_white_but_the_black_list_and_losses() -> None:
    """The black list with its graph names and the losses stay in float32; in-place ops are not listed."""
    asked = region(default="bfloat16", ops=OpLists(white_list=("MatMul",), black_list=("Pow", "Softmax")))
    black = {"Pow", "PowScalarTensor", "PowTensorScalar", "Softmax"} | LOSSES
    assert asked.precision == "bfloat16"
    assert set(asked.white_list) == FLOAT_OPS - black
    assert set(asked.black_list) == black


def test_an_auto_region_has_the_policies_lists() -> None:
    """White and black are the policy's own, graph names included; the rest follows its inputs."""
    asked = region(
        default="auto",
        low_precision="bfloat16",
        ops=OpLists(white_list=("MatMul", "PowTensorScalar"), black_list=("Pow", "BatchNorm")),
    )
    assert asked == Region(
        precision="bfloat16",
        white_list=("MatMul", "MatMulExt", "Mm", "PowTensorScalar"),
        black_list=("BatchNorm", "BatchNormExt", "Pow", "PowScalarTensor"),
        border=None,
    )


def test_empty_lists_give_an_empty_region() -> None:
    """Under auto without lists every op follows its inputs (case 10)."""
    assert region(default="auto") == Region("float16", (), (), border=None)


def test_an_op_rule_beats_lists_and_the_cells_precision() -> None:
    """One op leaves its Cell's precision, in both directions and under auto; graph names go with it."""
    lists = OpLists(white_list=("Mul",), black_list=("Softmax",))
    low = region(default="float16", ops=lists, layers={"a::Mul": "float32", "a::Softmax": "float16"})
    assert {"Mul", "Muls"} <= set(low.black_list)
    assert "Softmax" in low.white_list
    strict = region(default="float32", layers={"a::MatMul": "bfloat16"})
    assert (strict.precision, strict.white_list) == ("bfloat16", ("MatMul", "MatMulExt", "Mm"))
    assert set(strict.black_list) == set(OP_CLASSES) - {"MatMul", "MatMulExt", "Mm"}
    auto = region(default="auto", ops=lists, layers={"a::Mul": "float32", "a::Softmax": "float16"})
    assert (auto.white_list, auto.black_list) == (("Softmax",), ("Mul", "Muls"))


def test_a_loss_may_go_low_where_a_rule_names_it() -> None:
    """Losses stay in float32 in a low Cell unless an op rule asks otherwise."""
    asked = region(default="float16", layers={"a::MSELossExt": "float16"})
    assert set(asked.black_list) == LOSSES - {"MSELossExt"}


def test_a_rule_for_a_graph_name_beats_the_one_for_its_family() -> None:
    """`Muls` alone may differ from `Mul`."""
    asked = region(default="float16", layers={"a::Mul": "float32", "a::Muls": "float16"})
    assert "Mul" in asked.black_list
    assert "Muls" in asked.white_list


@pytest.mark.parametrize(
    ("types", "fields", "border"),
    [
        (["nn.BatchNorm2d"], {"default": "float16"}, "float16"),
        (["MyNorm", "nn.BatchNorm1d"], {"default": "bfloat16"}, "bfloat16"),
        (["nn.InstanceNorm3d"], {"default": "float16"}, "float16"),
        (["nn.SyncBatchNorm"], {"default": "float16"}, "float16"),
        (["nn.BatchNorm2d"], {"default": "float32"}, None),
        (["nn.BatchNorm2d"], {"default": "auto"}, None),
        (["nn.BatchNorm2d"], {"default": "auto", "ops": {"white_list": ["BatchNorm"]}}, "float16"),
        (["nn.BatchNorm2d"], {"default": "float16", "ops": {"black_list": ["BatchNorm"]}}, None),
        (["nn.SyncBatchNorm"], {"default": "float16", "ops": {"black_list": ["BatchNorm"]}}, None),
        (["nn.BatchNorm2d"], {"default": "float16", "layers": {"a::BatchNorm": "float32"}}, None),
        (["nn.BatchNorm2d"], {"default": "float32", "layers": {"a::BatchNorm": "float16"}}, "float16"),
        (["nn.LayerNorm"], {"default": "float16"}, None),
        (["nn.LayerNorm"], {"default": "float32"}, "float32"),
        (["MyNorm", "nn.GroupNorm"], {"default": "float32"}, "float32"),
        (["nn.LayerNorm"], {"default": "float16", "ops": {"black_list": ["LayerNorm"]}}, "float32"),
        (["nn.GroupNorm"], {"default": "float16", "layers": {"a::GroupNorm": "float32"}}, "float32"),
        (["nn.LayerNorm"], {"default": "auto", "ops": {"black_list": ["LayerNorm"]}}, None),
        (["nn.Dense"], {"default": "float32"}, None),
    ],
)
def test_normalisations_get_their_data_at_the_border(
    types: list[str], fields: dict[str, Any], border: str | None
) -> None:
    """In-place ones, never white-listed, get low data; LayerNorm and GroupNorm in float32 get float32 data."""
    asked = region(*types, **fields)
    assert asked.border == border
    assert not set(asked.white_list) - FLOAT_OPS


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        (
            {"default": "float16", "layers": {"a::Mul": "bfloat16"}},
            "'a::Mul' (bfloat16), 'default' (float16)",
        ),
        (
            {"layers": {"a::Mul": "bfloat16", "a::Add": "float16"}},
            "'a::Add' (float16), 'a::Mul' (bfloat16)",
        ),
        (
            {"default": "auto", "ops": {"white_list": ["MatMul"]}, "layers": {"a::Mul": "bfloat16"}},
            "'a::Mul' (bfloat16), the white list (float16)",
        ),
    ],
)
def test_a_cell_holds_one_low_precision(fields: dict[str, Any], rules: str) -> None:
    """Asking float16 and bfloat16 of one Cell is an error that names the rules."""
    with pytest.raises(InputError) as caught:
        region(**fields)
    assert str(caught.value) == (
        f"layers: 'a' can hold one low precision, but float16 and bfloat16 are asked by {rules}"
    )


def test_an_op_rule_may_bring_its_own_low_precision() -> None:
    """Where nothing else goes low, the op's precision is the region's."""
    asked = region(default="auto", layers={"a::Mul": "bfloat16"})
    assert asked == Region("bfloat16", ("Mul", "Muls"), (), border=None)
