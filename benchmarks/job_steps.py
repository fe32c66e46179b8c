"""Two jobs that train the same steps: halfwise's way, and as a plain MindSpore script does."""

# MindSpore ships no types: the checker takes the result of calling a Cell for one that may be None.
# pyright: reportOptionalCall=false

import itertools
import time
from collections.abc import Iterator, Sequence

import mindspore as ms
import numpy as np
from mindspore import amp, nn

from halfwise.evaluators.device import use_device
from halfwise.evaluators.prepared import prepare
from halfwise.evaluators.training import as_tensors, train
from halfwise.evaluators.workload import Batch, Workload
from halfwise.evaluators.workload_reference import load_workload
from halfwise.policies import Policy, parse_policy
from halfwise.policies.rewrite import apply

from .jobs import Steps, StepsRequest

SEED = 1


class Clock:
    """Reads the clocks whenever a loop asks for a batch: from one such moment to the next is one step."""

    def __init__(self):
        self.readings: list[tuple[float, float]] = []

    def ticking(self, batches: Sequence[Batch]) -> Iterator[Batch]:
        """The batches, with a reading before each."""
        for batch in batches:
            self._read()
            yield batch

    def steps(self, losses: Sequence[float]) -> Steps:
        """What each step cost, beside its loss; call it right after the loop, whose last step ends here."""
        self._read()
        wall_s, process_cpu_s = np.diff(self.readings, axis=0).T.tolist()
        return Steps(losses=tuple(losses), wall_s=wall_s, process_cpu_s=process_cpu_s)

    def _read(self) -> None:
        self.readings.append((time.perf_counter(), time.process_time()))


class PlainStep(nn.Cell):
    """What MindSpore's own guide to loss scaling writes, under a policy's dynamic scaler."""

    def __init__(self, network: nn.Cell, loss: nn.Cell, optimizer: nn.Optimizer, inputs: int):
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss = loss
        self.optimizer = optimizer
        self.inputs = inputs
        self.scaler = amp.DynamicLossScaler(65536, 2, 1000)
        self.gradients = ms.value_and_grad(self.forward, None, optimizer.parameters)

    def forward(self, *data):
        """The scaled loss in float32."""
        outputs = self.network(*data[: self.inputs]).astype(ms.float32)
        return self.scaler.scale(self.loss(outputs, *data[self.inputs :]))

    def construct(self, *data):
        """Update the weights, or skip the step; gives the loss."""
        loss, gradients = self.gradients(*data)
        loss = self.scaler.unscale(loss)
        finite = amp.all_finite(gradients)
        if finite:
            self.optimizer(self.scaler.unscale(gradients))
        self.scaler.adjust(finite)
        return loss


def trial_steps(request: StepsRequest) -> Steps:
    """Steps as a trial takes them."""
    workload, policy, batches = _load(request)
    step = prepare(workload, policy, SEED).step
    step.compile(*as_tensors(batches[0]))
    clock = Clock()
    training = train(step, clock.ticking(batches), request.steps)
    return clock.steps(training.losses)


def plain_steps(request: StepsRequest) -> Steps:
    """The same steps in a plain loop that reads each loss."""
    workload, policy, batches = _load(request)
    step = _plain_step(workload, policy, inputs=len(batches[0].inputs))
    step.compile(*as_tensors(batches[0]))
    clock = Clock()
    losses = []
    for batch in clock.ticking(batches):
        tensors = [ms.Tensor(array) for array in (*batch.inputs, *batch.labels)]
        losses.append(float(step(*tensors).asnumpy()))
    return clock.steps(losses)


def _load(request: StepsRequest) -> tuple[Workload, Policy, list[Batch]]:
    policy = parse_policy(request.policy)
    use_device(request.target, policy.mode)
    workload = load_workload(request.reference, None)
    return workload, policy, list(itertools.islice(workload.batches(SEED), request.steps))


def _plain_step(workload: Workload, policy: Policy, inputs: int) -> PlainStep:
    ms.set_seed(SEED)
    np.random.seed(SEED)
    network = workload.network()
    apply(policy, network)
    step = PlainStep(network, workload.loss(), workload.optimizer(network.trainable_params()), inputs)
    step.set_train()
    return step
