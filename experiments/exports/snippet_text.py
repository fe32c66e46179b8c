"""The parts of an exported Python file that are the same for every policy.

The file does what `policies/rewrite` does, by MindSpore's own calls alone; tests hold the two together op by op.
"""

HEAD = '''\
"""Precisions of a MindSpore network, layer by layer, by MindSpore's own calls alone. Written by `halfwise export`.

    set_precisions(network)  # before the training step is built around it
    scaler = make_scaler()  # scale, unscale and adjust: MindSpore's own

Give it a network without `to_float` or an amp level. What the training loop itself must see to: cast the network's
outputs to float32 before the loss, and the gradients to float32 before they are unscaled. Some of the calls are
private to MindSpore; tried with 2.10.
"""

'''

IMPORTS = """\
import types

import mindspore as ms
from mindspore import amp, ops
from mindspore._c_expression.amp import AmpLevel, create_amp_strategy
from mindspore.train.amp import _set_amp_decorator

"""

IMPORTS_AND_SEPARATING = """\
import itertools
import types

import mindspore as ms
from mindspore import amp, ops
from mindspore._c_expression.amp import AmpLevel, create_amp_strategy
from mindspore.graph import _parse
from mindspore.train.amp import _set_amp_decorator

"""

REGIONS = """\
# By name: the low precision; the ops whose inputs are cast down to it; those whose inputs are cast up to float32
# (all others run in what they get); and what the layer's own inputs are cast to first.
REGIONS = {{
{regions}}}

"""

SETTING = '''\


def set_precisions(network):
    """Make each layer's own ops compute as LAYERS says; its Parameters stay what they are.

    Raises ValueError where the network has other layers than the policy was made for.
    """
    cells = _cells(network)
    if cells.keys() != LAYERS.keys():
        raise ValueError(f"the network has other layers than this file: {{sorted(cells.keys() ^ LAYERS.keys())}}")
    for path, region in LAYERS.items():
        _set_region(cells[path], *REGIONS[region])
{separating}

def _set_region(cell, precision, low, high, entering):
    if entering is not None:
        cell.entering = entering
        cell.construct_inside = types.MethodType(type(cell).construct, cell)
        cell.construct = types.MethodType(_construct_on_cast_inputs, cell)
    white, black = ([(op, []) for op in sorted(listed)] for listed in (low, high))
    cell.amp_strategy = create_amp_strategy(AmpLevel.AmpAuto, precision, white, black)
    _set_amp_decorator(cell, AmpLevel.AmpAuto, precision, white, black)


# Graph mode reads the source of this function: it stands at module level, and its first argument is self.
def _construct_on_cast_inputs(self, *inputs):
    cast = ()
    for value in inputs:
        cast += (ops.mixed_precision_cast(self.entering, value),)
    return self.construct_inside(*cast)


def _cells(network):
    """Every layer by the first of its names; the network itself is ""."""
    found = {{}}
    for path, cell in _named(network, ""):
        found.setdefault(id(cell), (path, cell))
    return dict(found.values())


def _named(cell, path):
    yield path, cell
    for name, child in cell._cells.items():
        if child is not None:
            yield from _named(child, f"{{path}}.{{name}}" if path else name)
'''

SEPARATING = """\


# Graph mode compiles a function once for all layers that call it with the same types, and the first of them would
# decide for the others. Here each use of a function that computes is compiled by itself, from now on.
COMPUTING = {computing}
PLUMBING = {plumbing}
WITHOUT_FLOATS = {without_floats}


def _separate_functions():
    original, uses = _parse.get_object_key, itertools.count()

    def key(value):
        identity, shared = original(value)
        if isinstance(value, types.FunctionType) and _computes(value):
            identity = f"{{identity}}_use{{next(uses)}}"
        return identity, shared

    _parse.get_object_key = key


def _computes(function):
    name, module = function.__name__, function.__module__ or ""
    without_floats = name in WITHOUT_FLOATS and module.startswith("mindspore.")
    # A recursive function would be compiled anew at each of its own calls, for ever.
    if without_floats or name in function.__code__.co_names or module.startswith(PLUMBING):
        return False
    return not module.startswith("mindspore.") or module.startswith(COMPUTING)
"""

SCALER = '''\


def make_scaler():
    """The loss scaling that the policy asks for: {kind}."""
    return {call}
'''
