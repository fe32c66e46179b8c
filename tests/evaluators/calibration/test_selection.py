from halfwise.evaluators.calibration.catalogue import catalogue
from halfwise.evaluators.calibration.selection import SIZES_A_KIND, convolves, worth_timing
from halfwise.evaluators.price.signature import Signature

CASTS = {f"Cast float32[{n}] -> float16[{n}]": 6.0 * n for n in range(1, 30)}
PRODUCTS = {f"MatMul float32[{n},4] float32[4,4] -> float32[{n},4]": 32.0 * n for n in range(1, 9)}
GENERAL = {
    "Mul float32[64] float32[64] -> float32[64]": 768.0,
    "Cast float32[64] -> float16[64]": 384.0,
    "Cast float16[64] -> float32[64]": 384.0,
}


def test_of_a_vector_kind_four_sizes_are_timed_and_of_products_all():
    """The ends of the range are among the four."""
    chosen = [str(kernel) for kernel in worth_timing(CASTS | PRODUCTS, GENERAL).own]
    casts = [text for text in chosen if text in CASTS]
    assert len(casts) == SIZES_A_KIND
    assert {"Cast float32[1] -> float16[1]", "Cast float32[29] -> float16[29]"} <= set(casts)
    assert set(PRODUCTS) <= set(chosen)


def test_the_essentials_come_first_then_the_workloads_own_by_work():
    """A calibration that runs out of time still knows a launch and a bandwidth; then what decides a step."""
    chosen = [str(kernel) for kernel in worth_timing(CASTS | PRODUCTS, GENERAL).own]
    assert chosen[0] == "Mul float32[64] float32[64] -> float32[64]"
    own = [(CASTS | PRODUCTS)[text] for text in chosen if text in CASTS | PRODUCTS]
    assert own == sorted(own, reverse=True)


def test_the_catalogue_adds_what_the_workload_lacks():
    """A kind with enough sizes of its own gets none from the catalogue; the other direction does."""
    added = [str(kernel) for kernel in worth_timing(CASTS, GENERAL).general]
    assert added == ["Cast float16[64] -> float32[64]"]


def test_every_kernel_of_the_catalogue_is_asked_for_once():
    """No signature stands twice, and each low precision has casts both ways."""
    kernels = catalogue(("float16", "bfloat16"))
    assert len(set(kernels)) == len(kernels)
    ways = {(k.inputs[0][0], k.output[0]) for k in kernels if k.op == "Cast"}
    assert ways == {(a, b) for low in ("float16", "bfloat16") for a, b in (("float32", low), (low, "float32"))}


def test_convolutions_are_told_from_the_rest():
    """The gradients are convolutions too."""
    names = {kernel.op for kernel in catalogue(()) if convolves(kernel)}
    assert names == {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"}
    assert not convolves(Signature("MatMul", (), ("float32", ())))
