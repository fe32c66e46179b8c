"""A training loop of your own under a policy: `python own_loop.py [policy.yaml]`.

What halfwise adds to the script is marked with numbers, 1 to 3.
"""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false

import argparse
import itertools
from pathlib import Path

import mindspore as ms
import numpy as np
from digits_net import DigitsNet, accuracy, load_samples
from mindspore import amp, nn

from halfwise.evaluators.workload import shuffled_batches
from halfwise.policies import Policy, load_policy
from halfwise.policies.rewrite import Rewritten, apply, make_scaler

SEED = 1
BATCH_SIZE = 32


class Step(nn.Cell):
    """One training step; called as `step(pixels, digits)`, gives the loss and whether the weights were updated."""

    def __init__(self, network: nn.Cell, optimizer: nn.Optimizer, scaler: amp.LossScaler):
        # Without a prefix of its own, the step leaves the names of the network's Parameters alone.
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.optimizer = optimizer
        self.scaler = scaler
        self.gradients = ms.value_and_grad(self.forward, None, optimizer.parameters, has_aux=True)

    def forward(self, pixels, digits):
        """The scaled loss to differentiate, and the loss itself, in float32."""
        loss = self.loss(self.network(pixels).astype(ms.float32), digits)
        return self.scaler.scale(loss), loss

    def construct(self, pixels, digits):
        """Gradients of the scaled loss; an update only if all of them are finite."""
        (_, loss), gradients = self.gradients(pixels, digits)
        finite = amp.all_finite(gradients)
        if finite:
            self.optimizer(self.scaler.unscale(gradients))
        self.scaler.adjust(finite)
        return loss, finite


def build(policy: Policy) -> tuple[Rewritten, Step]:
    """The network under the policy, and the step that trains it."""
    ms.set_seed(SEED)
    np.random.seed(SEED)
    network = DigitsNet()
    # 2. Put the policy on the network, before anything is compiled. Its Parameters stay float32.
    rewritten = apply(policy, network)
    optimizer = nn.Adam(network.trainable_params(), learning_rate=2e-3)
    # 3. The loss scaling that the policy asks for.
    step = Step(network, optimizer, make_scaler(policy.loss_scaling))
    step.set_train()
    return rewritten, step


def train(step: Step, steps: int) -> list[float]:
    """Losses of all steps."""
    samples, _ = load_samples()
    batches = shuffled_batches((samples.pixels,), (samples.digits,), BATCH_SIZE, SEED)
    losses = []
    for batch in itertools.islice(batches, steps):
        loss, _ = step(ms.Tensor(batch.inputs[0]), ms.Tensor(batch.labels[0]))
        losses.append(loss.asnumpy().item())
    return losses


def main() -> None:
    """Train, and say how it went."""
    parser = argparse.ArgumentParser(description="Train on digits under a precision policy.")
    default = Path(__file__).with_name("policy.yaml")
    parser.add_argument("policy", nargs="?", type=Path, default=default, help="a policy file")
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    # 1. Read the policy.
    policy = load_policy(options.policy)
    ms.set_context(mode=ms.GRAPH_MODE if policy.mode == "graph" else ms.PYNATIVE_MODE)
    rewritten, step = build(policy)
    low = [layer.path for layer in rewritten.assignments if layer.precision in ("float16", "bfloat16")]
    print(f"low precision in {len(low)} of {len(rewritten.assignments)} layers: {', '.join(low)}")
    losses = train(step, options.steps)
    step.network.set_train(False)
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}; loss scale {step.scaler.scale_value.asnumpy().item():g}")
    print(f"accuracy {accuracy(step.network, load_samples()[1]):.3f}")


if __name__ == "__main__":
    main()
