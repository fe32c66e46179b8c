"""Layers that belong in one precision: between them a change of precision would only cost a cast."""

from mindspore import nn

from ..patterns import chain, find

ACTIVATIONS = (
    nn.ReLU,
    nn.ReLU6,
    nn.LeakyReLU,
    nn.GELU,
    nn.SiLU,
    nn.Tanh,
    nn.Sigmoid,
    nn.HSwish,
    nn.HSigmoid,
    nn.ELU,
)


def precision_groups(network: nn.Cell) -> tuple[tuple[str, ...], ...]:
    """The paths of each Dense (its bias included) and of the activation layer that alone reads its output.

    Activations that are functions (`ops.relu`) are no layers: a policy covers them with the Cell that calls them.
    A search ties such a group by giving `LayerGroup("+".join(paths), paths)` to its space in place of one group
    for each path.
    """
    matches = [match for kind in ACTIVATIONS for match in find(network, chain(nn.Dense, kind))]
    return tuple(match.paths for match in matches)
