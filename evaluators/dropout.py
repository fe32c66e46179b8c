"""Networks that are compared step by step must not draw random numbers on the way."""

from mindspore import nn


def without_dropout(network: nn.Cell) -> None:
    """Make every Dropout layer let all through; what else the network does for training stays."""
    for _, cell in network.cells_and_names():
        if isinstance(cell, (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)):
            cell.set_train(False)
