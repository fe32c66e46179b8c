"""Say how good the kept weights are, in float32: a script that deploys or judges them, and knows of no policy."""

import mindspore as ms
from train import Net, accuracy, load_data


def main():
    """Load the weights, and count."""
    network = Net()
    ms.load_param_into_net(network, ms.load_checkpoint("digits.ckpt"), strict_load=True)
    network.set_train(False)
    _, (pixels, digits) = load_data()
    scores = network(ms.Tensor(pixels)).asnumpy()
    print(f"accuracy of the checkpoint {accuracy(scores, digits):.3f}")


if __name__ == "__main__":
    main()
