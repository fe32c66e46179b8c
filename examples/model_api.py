"""`mindspore.train.Model` under a policy: `python model_api.py [policy.yaml]`.

On a CPU, MindSpore's own mixed precision (`Model(amp_level="O2")`) is refused. halfwise's training step brings
precision, loss scaling and the skipping of bad steps with it, so Model runs it at level O0 and works everywhere.
"""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false

import argparse
from pathlib import Path

import mindspore as ms
import numpy as np
from digits_net import DigitsNet, Samples, accuracy, load_samples
from mindspore import nn
from mindspore.dataset import GeneratorDataset
from mindspore.train import Callback, Model

from halfwise.evaluators.step import TrainStep
from halfwise.policies import Policy, load_policy
from halfwise.policies.rewrite import Rewritten, apply, make_scaler

SEED = 1
BATCH_SIZE = 32


class LossMonitor(Callback):
    """Prints an epoch's last loss and the loss scale, and counts the steps that were skipped.

    MindSpore's own LossMonitor takes a non-finite loss for the end; under loss scaling it is a skipped step.
    """

    def __init__(self):
        super().__init__()
        self.skipped = 0

    def on_train_step_end(self, run_context):
        """Count the step if it was skipped."""
        _, finite, _ = run_context.original_args().net_outputs
        self.skipped += not bool(finite)

    def on_train_epoch_end(self, run_context):
        """Print a line."""
        arguments = run_context.original_args()
        loss, _, scale = (float(output) for output in arguments.net_outputs)
        print(f"epoch {arguments.cur_epoch_num}: loss {loss:.3f}, loss scale {scale:g}, {self.skipped} skipped")


def build(policy: Policy) -> tuple[Rewritten, TrainStep]:
    """The network under the policy, and the step that trains it."""
    network = DigitsNet()
    rewritten = apply(policy, network)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(network.trainable_params(), learning_rate=2e-3)
    # The first `inputs` columns of the data set go to the network, the others to the loss.
    return rewritten, TrainStep(network, loss, optimizer, make_scaler(policy.loss_scaling), inputs=1)


def dataset(samples: Samples) -> GeneratorDataset:
    """Batches of pixels and digits, shuffled; a partial last batch would compile the step again."""
    rows = list(zip(samples.pixels, samples.digits, strict=True))
    return GeneratorDataset(rows, ["pixels", "digits"], shuffle=True).batch(BATCH_SIZE, drop_remainder=True)


def main() -> None:
    """Train, and say how it went."""
    parser = argparse.ArgumentParser(description="Train on digits with mindspore.train.Model under a policy.")
    default = Path(__file__).with_name("policy.yaml")
    parser.add_argument("policy", nargs="?", type=Path, default=default, help="a policy file")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    policy = load_policy(options.policy)
    ms.set_context(mode=ms.GRAPH_MODE if policy.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(SEED)
    np.random.seed(SEED)
    rewritten, step = build(policy)
    low = [layer.path for layer in rewritten.assignments if layer.precision in ("float16", "bfloat16")]
    print(f"low precision in {len(low)} of {len(rewritten.assignments)} layers: {', '.join(low)}")
    training, held_out = load_samples()
    Model(step, amp_level="O0").train(
        options.epochs, dataset(training), callbacks=[LossMonitor()], dataset_sink_mode=False
    )
    step.network.set_train(False)
    print(f"accuracy {accuracy(step.network, held_out):.3f}")


if __name__ == "__main__":
    main()
