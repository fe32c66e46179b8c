"""The parts of the file of a network's constructs that are the same for every network."""

HEAD = '''\
"""Constructs of a MindSpore network with the casts of a precision policy in them. Written by `halfwise export`.

    set_constructs(network)  # before the training step is built around it

{title}
What the training loop itself must see to: cast the network's outputs to float32 before the loss, and the gradients
to float32 before they are unscaled. Tried with MindSpore 2.10.
"""

import importlib
import inspect

import mindspore as ms
from mindspore import ops

Tensor = ms.Tensor
float32, float16, bfloat16 = ms.float32, ms.float16, ms.bfloat16
# Called with a precision and a value: casts a tensor of floats, and those in a tuple; gives all else back.
cast_floats = ops.mixed_precision_cast


def cast_floats_in_branch(precision, value):
    """The same, where the value is made outside of a branch or loop: there MindSpore compiles only this."""
    return ops.mixed_precision_cast(precision, value)


def widest(*values):
    """The precision that holds all tensors of floats among the values, and among those in tuples."""
    found = None
    for value in values:
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, ms.Tensor) and each.dtype in (ms.float32, ms.float16, ms.bfloat16):
                found = each.dtype if found is None or found == each.dtype else ms.float32
    return ms.float32 if found is None else found


def made_for(original, maker, names):
    """A function of a maker's, given these names, and all others that it takes as `original` knows them."""
    cells = (each.cell_contents for each in original.__closure__ or ())
    known = {{**original.__globals__, **dict(zip(original.__code__.co_freevars, cells)), **names}}
    made = maker(**{{name: known[name] for name in inspect.signature(maker).parameters}})
    made.__defaults__, made.__kwdefaults__ = original.__defaults__, original.__kwdefaults__
    return made


def like(module, name, maker, names):
    """The same for a function of another module."""
    original = importlib.import_module(module)
    for part in name.split("."):
        original = getattr(original, part)
    return made_for(original, maker, names)
'''

CLASSES = """

# By class: what takes the place of its methods, and the names that this file gives them.
CLASSES = {{
{classes}}}
"""

LAYERS = """
# By layer: the class above whose methods take the place of its own.
LAYERS = {{
{layers}}}
"""

SETTING = '''

def set_constructs(network):
    """Give each layer its construct with casts; its Parameters stay what they are.

    Raises ValueError where the network has not the layers that the file was made for.
    """
    cells = dict(_cells(network, ""))
    if LAYERS.keys() - cells.keys():
        raise ValueError(f"the network has not all layers of this file: {sorted(LAYERS.keys() - cells.keys())}")
    for path, name in LAYERS.items():
        kind = type(cells[path])
        made = {method: made_for(getattr(kind, method), *given) for method, given in CLASSES[name].items()}
        cells[path].__class__ = type(kind)(kind.__name__, (kind,), made)
    return network


def _cells(cell, path):
    """Every layer below and including `cell`, by its path."""
    yield path, cell
    for name, child in cell._cells.items():
        if child is not None:
            yield from _cells(child, f"{path}.{name}".lstrip("."))
'''
