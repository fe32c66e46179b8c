"""Which values of a function can be tensors, told from its code alone."""

import ast
import inspect
import textwrap

import pytest
from mindspore import nn, ops

from halfwise.policies.rewrite.symbol_tree.kinds import Kinds
from halfwise.policies.rewrite.symbol_tree.objects import Objects


class Example(nn.Cell):
    """One statement of each kind."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(2, 2), nn.ReLU()])
        self.epsilon = 1e-5
        self.sizes = (2, 3)
        self.size = nn.Dense(2, 2).weight

    def construct(self, x, y=None):
        """Names whose kinds the test asks for."""
        length = x.shape[0]
        total = length * 2 + len(self.sizes)
        total += 1
        half = x * 0.5
        difference = x - y
        pair = (half, y)
        joined = pair + pair
        maybe = x + y
        either = x if total > 2 else 3
        ratio = self.epsilon / 2
        weight = self.size
        count = 0
        again = x
        for index in range(total):
            count = count + index
        for number, layer in enumerate(self.layers):
            again = layer(x * number)
        rows = ops.shape(x)
        return joined, difference, maybe, either, ratio, weight, count, again, rows


KINDS = {
    "length": "plain",
    "total": "plain",
    "half": "tensor",
    "difference": "tensor",
    "joined": "container",
    "maybe": "any",
    "either": "any",
    "ratio": "plain",
    "weight": "tensor",
    "count": "plain",
    "index": "plain",
    "number": "any",
    "again": "any",
    "rows": "plain",
    "x": "any",
}


@pytest.fixture(scope="module")
def objects() -> Objects:
    """The objects of the example's construct."""
    source = textwrap.dedent(inspect.getsource(Example.construct))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return Objects(tree, Example.construct, Example())  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", KINDS)
def test_kinds_by_what_a_name_is_set_to(objects, name):
    """Numbers and shapes are plain, results of operators on values are tensors, tuples stay tuples."""
    assert Kinds(objects).of(ast.Name(name, ast.Load())) == KINDS[name]


def test_objects_of_a_loop_are_the_layers(objects):
    """A name of a loop over a CellList stands for each of its layers; an index for one; a parameter for none."""
    layers = list(Example().layers)

    def found(text: str) -> list[type] | None:
        known = objects.of(ast.parse(text, mode="eval").body)
        return None if known is None else [type(each) for each in known]

    assert found("layer") == [type(each) for each in layers]
    assert found("self.layers[1]") == [nn.ReLU]
    assert found("self.layers[index]") == [nn.Dense, nn.ReLU]
    assert found("x") is None
    assert found("y.sum") is None
    assert found("ops.shape") == [type(ops.shape)]
    assert found("self.not_there") == [type(None)]
