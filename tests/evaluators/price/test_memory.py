import pytest
from price_tables import make_device, make_row, make_table

from halfwise.evaluators.price import price_memory
from halfwise.policies import InputError


def a_step():
    """A Dense layer of 10 x 20 weights in float16 on a batch of 4, its gradient, and an update with momentum."""
    cast = make_row(0, "Cast", [((10, 20), "float32")], ((10, 20), "float16"), parameters=("w",))
    data = make_row(1, "ReLU", [((4, 20), "float16")], ((4, 20), "float16"))
    view = make_row(
        2, "Reshape", [((4, 20), "float16")], ((4, 20), "float16"), bytes_read=0, bytes_written=0, producers=(1,)
    )
    product = [((4, 20), "float16"), ((10, 20), "float16")]
    dense = make_row(3, "MatMul", product, ((4, 10), "float16"), producers=(2, 0))
    back = make_row(
        4, "MatMul", product, ((4, 20), "float16"), producers=(2, 0), direction="gradient", forward_id=3
    )
    update = make_row(
        5,
        "ApplyMomentum",
        [((10, 20), "float32")] * 2,
        ((10, 20), "float32"),
        direction="update",
        parameters=("w", "moments.w"),
        bytes_written=2 * 800,
        layer=None,
    )
    return make_table(cast, data, view, dense, back, update)


def test_each_part_is_counted_once_at_its_precision():
    """Weights, gradients and momentum are float32, the low copy float16; a view is the value that it shows."""
    memory = price_memory(a_step())
    assert (memory.weight_bytes, memory.gradient_bytes, memory.optimizer_bytes) == (800, 800, 800)
    assert memory.weight_copy_bytes == 400
    assert memory.activation_bytes == {"float16": 160}
    assert memory.total_bytes == 2960


def test_no_policy_needs_less_than_half_the_activations_and_all_the_rest():
    """Weights, gradients and momentum stay float32; the low copy of weights need not be there."""
    memory = price_memory(a_step())
    assert memory.least_bytes == 3 * 800 + 160 // 2


def test_of_a_normalisation_its_own_gradient_keeps_the_statistics():
    """The output itself is only kept when another gradient op reads it."""
    norm = make_row(
        0, "LayerNorm", [((4, 8), "float16")], ((4, 8), "float16"), output_shapes=((4, 8), (4, 1), (4, 1))
    )
    own = make_row(
        1, "LayerNormGrad", [((4, 8), "float16")], ((4, 8), "float16"), producers=(0,), direction="gradient",
        forward_id=0,
    )  # fmt: skip
    assert price_memory(make_table(norm, own)).activation_bytes == {"float16": 2 * 4 * 4}
    other = own | {"id": 2, "forward_id": None}
    assert price_memory(make_table(norm, own, other)).activation_bytes == {"float16": 4 * 8 * 2}


def test_the_largest_batch_fills_what_the_fixed_part_leaves():
    """40 bytes a sample beside 2,800 fixed ones in 1 GB."""
    memory = price_memory(a_step())
    assert memory.largest_batch(4, make_device()) == (10**9 - 2800) // 40


def test_a_network_that_does_not_fit_has_no_batch():
    """Zero says that not even one sample fits."""
    memory = price_memory(a_step())
    assert memory.largest_batch(4, make_device(memory_gb=1e-6)) == 0


def test_a_batch_cannot_be_found_without_activations():
    """Nothing that grows, or no batch to start from, is refused."""
    with pytest.raises(InputError, match="got 0 bytes at batch size 4"):
        price_memory(make_table()).largest_batch(4, make_device())
    with pytest.raises(InputError, match="at batch size 0"):
        price_memory(a_step()).largest_batch(0, make_device())
