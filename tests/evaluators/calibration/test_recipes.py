from pathlib import Path

from fresh_process import in_fresh_process

from halfwise.evaluators.calibration.catalogue import catalogue
from halfwise.evaluators.price.signature import Signature

# Kernels whose attributes must be worked out from their shapes.
KERNELS = (
    "Cast float32[4,3] -> float16[4,3]",
    "MatMul float32[8,3] float32[5,3] -> float32[8,5]",
    "MatMul float32[3,8] float32[3,5] -> float32[8,5]",
    "BatchMatMul float32[2,8,3] float32[2,5,3] -> float32[2,8,5]",
    "Conv2D float32[2,4,8,8] float32[6,4,3,3] -> float32[2,6,4,4]",
    "Conv2D float32[2,4,8,8] float32[6,4,1,1] -> float32[2,6,8,8]",
    "Conv2DBackpropInput float32[2,6,4,4] float32[6,4,3,3] other[4] -> float32[2,4,8,8]",
    "Conv2DBackpropFilter float32[2,6,8,8] float32[2,4,8,8] other[4] -> float32[6,4,3,3]",
    "BatchNorm float32[2,4,8,8] float32[4] float32[4] float32[4] float32[4] -> float32[2,4,8,8]",
    "LayerNorm float32[2,3,4] float32[4] float32[4] -> float32[2,3,4]",
    "LayerNormGrad float32[2,3,4] float32[2,3,4] float32[2,3,1] float32[2,3,1] float32[4] -> float32[2,3,4]",
    "Transpose float32[2,3,4,5] -> float32[2,4,3,5]",
    "ReduceSum float32[2,3,4] -> float32[2,3,1]",
    "ReduceMean float32[2,3,4,4] -> float32[2,3]",
    "ReduceAll other[3,4] -> other[]",
    "Gather float32[9,4] other[6] -> float32[6,4]",
    "UnsortedSegmentSum float32[6,4] other[6] other[] -> float32[9,4]",
    "Tile float32[2,3,1,1] -> float32[2,3,4,4]",
    "Concat float32[2,3] float32[2,3] -> float32[2,6]",
    "AddN float32[2,3] float32[2,3] -> float32[2,3]",
    "SparseSoftmaxCrossEntropyWithLogits float32[6,4] other[6] -> float32[6,4]",
)
ADAM = "Adam " + " ".join(["float32[8]"] * 3 + ["float32[]"] * 6 + ["float32[8]"]) + " -> float32[8]"


def test_a_recipe_gives_the_kernel_that_was_asked_for():
    """Each recipe's op, run once, gives the output's shape and precision."""
    found = in_fresh_process("calibration_jobs:outputs_of", kernels=list(KERNELS))
    for text in KERNELS:
        precision, shape = Signature.parse(text).output
        expected = {"other": "bool"}.get(precision, precision)
        assert found[text] == [list(shape), expected], text


def test_every_copy_of_a_chain_is_run(tmp_path: Path):
    """Twelve copies compile to twelve kernels, whether they share their data or not: none are merged."""
    kernels = ["Mul float32[8] float32[8] -> float32[8]", "Mul float32[64,64] float32[64,64] -> float32[64,64]"]
    kernels += [KERNELS[0], KERNELS[4], KERNELS[8], KERNELS[14], KERNELS[18], ADAM]
    found = in_fresh_process("calibration_jobs:copies_in_a_chain", kernels=kernels, folder=str(tmp_path))
    assert found == dict.fromkeys(kernels, 12)


def test_half_zeros_are_half_zeros_and_plain_data_has_none():
    """Kernels are timed on normal data, or with half of it zeros."""
    plain = in_fresh_process("calibration_jobs:share_of_zeros", kernel="Cast float32[100,100] -> float16[100,100]")
    zeros = in_fresh_process(
        "calibration_jobs:share_of_zeros", kernel="Cast float32[100,100] -> float16[100,100], half zeros"
    )
    assert plain == 0
    # Five standard deviations of a share of 10,000 draws.
    assert abs(zeros - 0.5) < 5 * 0.005


def test_an_op_without_a_recipe_is_told():
    """The reason names the op."""
    words = in_fresh_process("calibration_jobs:refusal", kernel="OneHot other[8] float32[] -> float32[8,4]")
    assert words == "OneHot: no recipe for an op on integers"


def test_every_kernel_of_the_catalogue_has_a_recipe():
    """What a calibration asks for it can also run."""
    assert in_fresh_process("calibration_jobs:recipes_of_the_catalogue") == len(catalogue(("float16",)))
