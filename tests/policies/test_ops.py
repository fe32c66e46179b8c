import pytest

from halfwise.policies import GRAPH_NAMES, OP_CLASSES
from halfwise.policies.op_table import (
    ELEMENTWISE,
    INPLACE_NORMALIZATION,
    LOSS,
    MATRIX,
    MOVEMENT,
    NORMALIZATION,
    REDUCTION,
)
from halfwise.policies.ops import check_op, family, variants


def test_every_op_has_one_class() -> None:
    """No name stands in the table twice."""
    tables = (MATRIX, ELEMENTWISE, REDUCTION, LOSS, NORMALIZATION, INPLACE_NORMALIZATION, MOVEMENT)
    names = " ".join(tables).split()
    assert len(names) == len(set(names)) == len(OP_CLASSES)


@pytest.mark.parametrize(
    ("op", "op_class"),
    [
        ("MatMul", "matrix"),
        ("Mul", "elementwise"),
        ("Softmax", "reduction"),
        ("MSELossExt", "loss"),
        ("LayerNorm", "normalization"),
        ("BatchNorm", "inplace_normalization"),
        ("Gather", "movement"),
    ],
)
def test_ops_that_everybody_knows_have_their_class(op: str, op_class: str) -> None:
    """One op of each class, as a reader would expect it."""
    assert OP_CLASSES[op] == op_class


@pytest.mark.parametrize(
    "op", ["Cast", "Equal", "Assign", "Reshape", "InplaceAddExt", "StandardNormal", "ReLUGrad"]
)
def test_ops_that_regions_must_not_touch_are_not_in_the_table(op: str) -> None:
    """Casts, comparisons, in-place, random, reshaping and gradient ops are no business of a policy."""
    assert op not in OP_CLASSES
    with pytest.raises(ValueError, match=f"computes with floats; got '{op}'"):
        check_op(op)


def test_a_name_governs_its_graph_names_but_not_the_other_way_round() -> None:
    """`Mul` is also the product with a number, which the graph calls `Muls`; `Muls` is only that."""
    assert variants("Mul") == ("Mul", "Muls")
    assert variants("Muls") == ("Muls",)
    assert family("Muls") == family("Mul") == "Mul"
    assert family("Conv2D") == "Conv2D"


def test_graph_names_are_ops_of_the_same_class_in_one_family() -> None:
    """A family never mixes classes, and no op belongs to two."""
    members = [name for names in GRAPH_NAMES.values() for name in names]
    assert len(members) == len(set(members))
    assert not set(members) & set(GRAPH_NAMES)
    for op, names in GRAPH_NAMES.items():
        assert {OP_CLASSES[name] for name in names} == {OP_CLASSES[op]}
