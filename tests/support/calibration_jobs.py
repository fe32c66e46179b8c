"""What tests of the calibration run in fresh processes; every function takes and returns plain data."""

from pathlib import Path
from typing import Any

import numpy as np

from halfwise.evaluators.calibration.catalogue import catalogue
from halfwise.evaluators.calibration.chain import COPIES, Chain, fresh_operands
from halfwise.evaluators.calibration.recipes import NoRecipe, recipe_for
from halfwise.evaluators.device import use_device
from halfwise.evaluators.kernel_step import compile_kernels
from halfwise.evaluators.price.signature import Signature


def outputs_of(kernels: list[str]) -> dict[str, list[Any]]:
    """Shape and precision of the first output of each kernel's recipe, run once."""
    use_device("CPU", "pynative")
    found = {}
    for text in kernels:
        recipe = recipe_for(Signature.parse(text))
        tensors = (recipe.tensors,) if recipe.packed else recipe.tensors
        result = recipe.primitive(*recipe.parameters, *tensors, *recipe.constants)
        first = result[0] if isinstance(result, tuple) else result
        found[text] = [list(first.shape), str(first.dtype).lower()]
    return found


def share_of_zeros(kernel: str) -> float:
    """The share of zeros in what a kernel's recipe is given first."""
    use_device("CPU", "pynative")
    return float(np.mean(recipe_for(Signature.parse(kernel)).tensors[0].asnumpy() == 0))


def refusal(kernel: str) -> str:
    """What is said of a kernel that has no recipe."""
    try:
        recipe_for(Signature.parse(kernel))
    except NoRecipe as error:
        return str(error)
    return "there is a recipe"


def recipes_of_the_catalogue() -> int:
    """How many kernels of the catalogue have a recipe; raises where one has none."""
    use_device("CPU", "pynative")
    return len([recipe_for(kernel) for kernel in catalogue(("float16",))])


def copies_in_a_chain(kernels: list[str], folder: str) -> dict[str, int]:
    """How many kernels of the op run in a chain of twelve, in Cells compiled without being run."""
    use_device("CPU", "graph")
    found = {}
    for number, text in enumerate(kernels):
        kernel = Signature.parse(text)
        recipe = recipe_for(kernel)
        own = fresh_operands(kernel, recipe)
        chain = Chain(recipe, own, COPIES)
        table = compile_kernels(chain, () if own else recipe.tensors, Path(folder) / str(number))
        found[text] = int((table["op"] == kernel.op).sum())
    return found
