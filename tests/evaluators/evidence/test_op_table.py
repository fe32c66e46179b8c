"""Precisions, casts, costs and kernels in the op table."""

from math import prod

import pytest

from halfwise.evaluators.evidence import asked_hash, ops_without_rule, read_kernel_table, read_op_table
from halfwise.policies import HalfwiseError


def test_flops_of_dense_and_convolution_in_closed_form(compiled):
    """Forward and both gradients of a Dense and of a convolution cost the same number of multiply-adds."""
    table = compiled("shared").table
    # 6 images, 4 filters of 3 x 3 x 3, 4 x 4 places; 6 rows of 6 times 6 x 6; 6 rows of 70 times 70 x 4.
    convolution = 2 * 6 * 4 * 4 * 4 * (3 * 3 * 3)
    assert set(table["flops"][table["graph_op"].isin(["Conv2D", "Conv2DBackpropFilter"])]) == {convolution}
    products = table[table["graph_op"] == "MatMul"]
    assert set(products["flops"][products["layer"] == "first"]) == {2 * 6 * 6 * 6}
    assert list(products["flops"][products["layer"] == "head"]) == [2 * 6 * 70 * 4] * 3


def test_bytes_of_a_cast_and_of_the_optimizer(compiled):
    """A cast reads float32 and writes float16; momentum writes weight and moment back."""
    table = compiled("shared").table
    cast = table[(table["layer"] == "conv") & table["is_cast"].astype(bool)].iloc[0]
    images = 6 * 3 * 8 * 8
    assert (cast["bytes_read"], cast["bytes_written"]) == (4 * images, 2 * images)
    update = table[
        table["parameters"].map(lambda names: "head.weight" in names and "moments.head.weight" in names)
    ]
    weights = 70 * 4
    assert update["bytes_written"].item() == 2 * 4 * weights
    assert update["bytes_read"].item() == 3 * 4 * weights + 2 * 4


def test_every_op_of_these_steps_has_a_rule(compiled):
    """No op is left without a count of operations, in the asked stage and in the kernels."""
    for name in ("blocks", "encoder", "shared"):
        step = compiled(name)
        assert ops_without_rule(step.table) == ()
        assert not read_kernel_table(step.folder)["flops"].isna().any()


def test_op_without_a_rule_is_named(compiled):
    """An op without a count is named once, however often it occurs."""
    table = compiled("blocks").table.copy()
    table.loc[table["graph_op"] == "Tanh", "flops"] = None
    assert ops_without_rule(table) == ("Tanh",)


def test_policy_name_and_graph_name(compiled):
    """`op` is what a policy calls it, `graph_op` how it stands in the graph."""
    table = compiled("blocks").table
    names = set(zip(table["op"], table["graph_op"], strict=True))
    assert {("Mul", "Muls"), ("Mul", "Mul"), ("MatMul", "MatMulExt"), ("MatMul", "MatMul")} <= names


def test_casts_at_the_border_of_the_low_block(compiled):
    """Autocast's casts are the policy's; the one from the network's output to float32 is not there to be made."""
    table = compiled("blocks").table
    casts = table[table["is_cast"].astype(bool)]
    by_policy = casts[casts["cast_by"] == "policy"]
    assert {layer.partition(".")[0] for layer in by_policy["layer"]} == {"b", "c"}
    assert casts["compute_precision"].isna().all()
    assert set(casts["cast_by"][casts["direction"] == "scaling"]) == {"framework"}


def test_kernel_precision_on_this_cpu(compiled):
    """Every op of the network has its kernel; float16 products run float32 kernels, softmax a float16 one."""
    for name in ("blocks", "shared", "encoder"):
        table = compiled(name).table
        assert table.attrs["device"] == "CPU"
        network = table[table["direction"].isin(["forward", "gradient"]) & table["compute_precision"].notna()]
        assert set(network["graph_op"][network["kernel_precision"].isna()]) <= {"SplitWithSize", "StridedSlice"}
        found = network[network["kernel_precision"].notna()]
        same = found["kernel_precision"] == found["compute_precision"]
        raised = (found["compute_precision"] == "float16") & (found["kernel_precision"] == "float32")
        assert (same | raised).all()
        low = found[found["compute_precision"] == "float16"]
        assert set(low["kernel_precision"][low["graph_op"].isin(["MatMul", "MatMulExt"])]) == {"float32"}
    softmax = compiled("blocks").table[lambda t: t["graph_op"] == "Softmax"].set_index("layer")
    assert softmax["kernel_precision"].to_dict() == {"a": "float32", "b": "float16", "c": "float32"}


def test_kernel_table_has_the_casts_of_the_back_end(compiled):
    """On a CPU the back end adds casts around float16 ops; each kernel's work has true shapes."""
    step = compiled("blocks")
    kernels = read_kernel_table(step.folder)
    assert kernels["is_cast"].sum() > step.table["is_cast"].sum()
    assert set(kernels["device"]) == {"CPU"}
    known = kernels[kernels["asked_id"].notna()]
    asked = step.table.loc[known["asked_id"].astype(int)]
    assert list(known["output_shapes"]) == list(asked["output_shapes"])
    assert (known["bytes_written"] >= 0).all()


def test_producers_and_consumers_agree(compiled):
    """An op is among the consumers of each of its producers, and the other way round."""
    table = compiled("encoder").table
    forth = {(producer, row.id) for row in table.itertuples() for producer in row.producers}
    back = {(row.id, consumer) for row in table.itertuples() for consumer in row.consumers}
    assert forth == back
    assert forth


def test_every_shape_is_known(compiled):
    """Shapes are tuples of positive lengths, so that costs are numbers."""
    table = compiled("encoder").table
    assert all(prod(shape) >= 1 for shapes in table["output_shapes"] for shape in shapes)


def test_hash_names_what_the_policy_came_to(compiled):
    """Two compiles of one policy have one hash; another policy has another, and reading twice changes nothing."""
    step = compiled("blocks")
    first, again, other = (compiled(name).table for name in ("blocks", "blocks-again", "blocks-other"))
    assert asked_hash(first) == asked_hash(again) == asked_hash(read_op_table(step.folder, step.outline))
    assert asked_hash(first) != asked_hash(other)


def test_hash_ignores_ids_and_order(compiled):
    """The rows in another order, with other ids, are the same table."""
    table = compiled("blocks").table
    shuffled = table.sample(frac=1, random_state=0).assign(id=range(len(table)))
    assert asked_hash(shuffled) == asked_hash(table)


def test_missing_dump(tmp_path, compiled):
    """A folder without a dump is an error that says what was expected."""
    with pytest.raises(HalfwiseError, match=r"expected one '\*_validate_\*.ir' file, found 0"):
        read_op_table(tmp_path, compiled("blocks").outline)


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda text: "not a graph", "the head of a MindSpore graph"),
        (lambda text: text[: len(text) // 2], "nodes, as its head says"),
        (lambda text: text.replace("), (", ") (", 40), "cannot be read"),
        (lambda text: text.replace("halfwise-layers/", "elsewhere/"), "call mark_layers on the network before"),
    ],
)
def test_unreadable_dump(tmp_path, compiled, spoil, expected):
    """A dump that is cut, garbled or of an unmarked network names the file and what was expected."""
    step = compiled("blocks")
    source = next(step.folder.glob("*_validate_*.ir"))
    (tmp_path / source.name).write_text(spoil(source.read_text(encoding="utf-8")), encoding="utf-8")
    (tmp_path / "actor_set").symlink_to(step.folder / "actor_set")
    with pytest.raises(HalfwiseError, match=expected) as error:
        read_op_table(tmp_path, step.outline)
    assert str(tmp_path) in str(error.value)


def test_missing_kernel_stage(tmp_path, compiled):
    """Where a back end writes no kernel stage there is still the asked one; the kernel table says what lacks."""
    step = compiled("blocks")
    source = next(step.folder.glob("*_validate_*.ir"))
    (tmp_path / source.name).symlink_to(source)
    table = read_op_table(tmp_path, step.outline)
    assert asked_hash(table) == asked_hash(step.table)
    assert table["kernel_precision"].isna().all()
    with pytest.raises(HalfwiseError, match=r"final_actor_set_\*.ir"):
        read_kernel_table(tmp_path)


def test_unreadable_kernel_stage(tmp_path, compiled):
    """A kernel stage that was cut inside of a type names the file."""
    step = compiled("blocks")
    source = next(step.folder.glob("*_validate_*.ir"))
    (tmp_path / source.name).symlink_to(source)
    kernels = next((step.folder / "actor_set").glob("final_*.ir"))
    (tmp_path / "actor_set").mkdir()
    spoiled = kernels.read_text(encoding="utf-8").replace("[0], ", "[99], ")
    (tmp_path / "actor_set" / kernels.name).write_text(spoiled, encoding="utf-8")
    with pytest.raises(HalfwiseError, match="expected actors as MindSpore") as error:
        read_op_table(tmp_path, step.outline)
    assert kernels.name in str(error.value)
