"""Guarded trainings that tests run in fresh processes, beside the same trainings written out by hand."""

import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.amp import LossScaler
from mindspore.dataset import GeneratorDataset
from mindspore.train import Model, RunContext
from mindspore.train.callback import _InternalCallbackParam
from tiny_workloads import OverflowingWorkload, Tiny

from halfwise.evaluators.device import use_device
from halfwise.evaluators.guard import Guard, GuardCallback, GuardedTraining
from halfwise.evaluators.step import TrainStep
from halfwise.evaluators.step_state import take_state
from halfwise.evaluators.trial import predictor
from halfwise.evaluators.workload import Batch, Workload
from halfwise.experiments.workloads.text_transformer import make_workload as make_transformer
from halfwise.policies import HalfwiseError, Policy, PolicySchedule, parse_policy
from halfwise.policies.rewrite import apply, make_scaler

SEED = 3


class Hazardous(OverflowingWorkload):
    """Points as far out as `sizes` says, step by step: at 1 all fits float16, at 32 `square` does not."""

    def __init__(self, sizes: Sequence[float]) -> None:
        self.sizes = sizes

    def network(self) -> nn.Cell:
        """The network's product overflows float16 beyond 256."""
        network = super().network()
        network.square = Square()
        return network

    def batches(self, seed: int) -> Iterator[Batch]:
        """As many as there are sizes."""
        for size, batch in zip(self.sizes, super().batches(seed), strict=False):
            yield Batch(tuple(array * np.float32(size) for array in batch.inputs), batch.labels)


class Square(nn.Cell):
    """The square of numbers of up to 50 fits float16; that of numbers around 1,000 does not."""

    def construct(self, x):
        """(N, 2) to (N, 2), in range again."""
        return (x * 10.0) * (x * 10.0) * 1e-2


WORKLOADS: dict[str, Callable[[Sequence[float]], Workload]] = {
    "hazardous": Hazardous,
    "tiny": lambda _: Tiny(),
}


def schedule_of(phases: Sequence[Any]) -> PolicySchedule:
    """Pairs of steps and a policy's text."""
    return PolicySchedule.model_validate(
        {"phases": [{"steps": steps, "policy": parse_policy(text)} for steps, text in phases]}
    )


def tensors(batch: Batch) -> list[ms.Tensor]:
    """As the step takes it."""
    return [ms.Tensor(array) for array in (*batch.inputs, *batch.labels)]


def start(workload: Workload) -> tuple[nn.Cell, nn.Cell, nn.Optimizer]:
    """Network, loss and optimizer, the same each time."""
    ms.set_seed(SEED)
    np.random.seed(SEED)
    network = workload.network()
    return network, workload.loss(), workload.optimizer(network.trainable_params())


def hexed(step: TrainStep) -> dict[str, str]:
    """Every Parameter of a step, bit for bit."""
    return {name: array.tobytes().hex() for name, array in take_state(step).arrays.items()}


def told(guarded: GuardedTraining) -> list[list[Any]]:
    """The log as plain data."""
    return [[c.step, c.kind, list(c.layers), c.good_step] for c in guarded.log]


def guard(
    phases: Sequence[Any],
    sizes: Sequence[float] = (),
    settings: dict[str, Any] | None = None,
    workload: str = "hazardous",
    steps: int | None = None,
    save_at: int | None = None,
    file: str = "",
    guarding: bool = True,
    dirty_at: int | None = None,
) -> dict[str, Any]:
    """Train step by step under the guard; saves after `save_at` steps, goes on from `file` if nothing is saved."""
    schedule = schedule_of(phases)
    use_device("CPU", schedule.policy_at(0).mode)
    loaded = WORKLOADS[workload](sizes)
    guarded = GuardedTraining(*start(loaded), schedule, guard=Guard(**settings or {}) if guarding else None)
    if file and save_at is None:
        # Whatever was there before must not matter.
        for parameter in guarded.train_step.get_parameters():
            parameter.set_data(ms.Tensor(parameter.asnumpy() * 0 + 1))
        go_on(guarded, file)
    results, policies = [], []
    for batch in itertools.islice(loaded.batches(SEED), guarded.steps, steps or len(sizes)):
        if guarded.steps == dirty_at:
            batch.inputs[0][3, 1] = np.nan
        result = guarded.step(*tensors(batch))
        results.append([result.loss.hex(), result.finite, result.loss_scale])
        policies.append(str(guarded.policy))
        if guarded.steps == save_at:
            keep(guarded, file)
    return {
        "results": results,
        "policies": policies,
        "weights": hexed(guarded.train_step),
        "log": told(guarded),
        "lines": [str(change) for change in guarded.log],
        "mode": "graph" if ms.get_context("mode") == ms.GRAPH_MODE else "pynative",
    }


def keep(guarded: GuardedTraining, file: str) -> None:
    """By `save`; for a name in .json by the state as JSON and a checkpoint of MindSpore's own beside it."""
    if not file.endswith(".json"):
        guarded.save(file)
        return
    Path(file).write_text(json.dumps(guarded.state_dict()), encoding="utf-8")
    ms.save_checkpoint(guarded.train_step, str(Path(file).with_suffix(".ckpt")))


def go_on(guarded: GuardedTraining, file: str) -> None:
    """The other way round."""
    if not file.endswith(".json"):
        guarded.load(file)
        return
    ms.load_checkpoint(str(Path(file).with_suffix(".ckpt")), guarded.train_step)
    guarded.load_state_dict(json.loads(Path(file).read_text(encoding="utf-8")))


def by_hand(
    phases: Sequence[Any],
    sizes: Sequence[float],
    workload: str = "hazardous",
    steps: int | None = None,
    without: int | None = None,
) -> dict[str, Any]:
    """The same training with a new step for each policy, and one optimizer; a scaler for each loss scaling.

    The batch of number `without` is left out.
    """
    schedule = schedule_of(phases)
    use_device("CPU", schedule.policy_at(0).mode)
    loaded = WORKLOADS[workload](sizes)
    network, loss, optimizer = start(loaded)
    policy = schedule.policy_at(0)
    scaler = make_scaler(policy.loss_scaling)
    step = by_hand_step(network, loss, optimizer, policy, scaler)
    results: list[Any] = []
    batches = itertools.islice(loaded.batches(SEED), steps or len(sizes))
    for number, batch in enumerate(batch for at, batch in enumerate(batches) if at != without):
        before, policy = policy, schedule.policy_at(number)
        if policy.loss_scaling != before.loss_scaling:
            scaler = make_scaler(policy.loss_scaling)
        if policy != before:
            step = by_hand_step(network, loss, optimizer, policy, scaler)
        value, finite, scale = (output.asnumpy().item() for output in step(*tensors(batch)))
        results.append([float(value).hex(), finite, scale])
    return {"results": results, "weights": hexed(step)}


def by_hand_step(
    network: nn.Cell, loss: nn.Cell, optimizer: nn.Optimizer, policy: Policy, scaler: LossScaler
) -> TrainStep:
    """A step of its own around the network under a policy."""
    apply(policy, network)
    step = TrainStep(network, loss, optimizer, scaler, 1)
    step.set_train()
    return step


def by_model(phases: Sequence[Any], sizes: Sequence[float], settings: dict[str, Any]) -> dict[str, Any]:
    """The same by MindSpore's Model."""
    schedule = schedule_of(phases)
    use_device("CPU", "graph")
    workload = Hazardous(sizes)
    guarded = GuardedTraining(*start(workload), schedule, guard=Guard(**settings))
    rows = [(*batch.inputs, *batch.labels) for batch in workload.batches(SEED)]
    data = GeneratorDataset(rows, ["points", "sides"], shuffle=False)
    Model(guarded.train_step, amp_level="O0").train(
        1, data, callbacks=[GuardCallback(guarded)], dataset_sink_mode=False
    )
    return {"weights": hexed(guarded.train_step), "log": told(guarded), "steps": guarded.steps}


def model_refusals() -> list[str]:
    """What a Model that is set up wrongly is told: it trains another Cell, and many steps in one call."""
    use_device("CPU", "graph")
    workload = Hazardous([1.0])
    guarded, other = (GuardedTraining(*start(workload), parse_policy("O3")) for _ in range(2))
    said = []
    for trained, sink in ((other, False), (guarded, True)):
        # MindSpore itself takes a sink off on a CPU.
        arguments = _InternalCallbackParam()
        arguments.train_network, arguments.dataset_sink_mode = trained.train_step, sink
        try:
            GuardCallback(guarded).on_train_begin(RunContext(arguments))
        except HalfwiseError as error:
            said.append(str(error))
    return said


def file_refusals(folder: str) -> list[str]:
    """What is said of files that a training cannot go on from, and of names that it cannot save under."""
    use_device("CPU", "graph")
    workload = Hazardous([1.0])
    guarded = GuardedTraining(*start(workload), parse_policy("O3"))
    place = Path(folder)
    guarded.save(place / "here.ckpt")
    ms.save_checkpoint(guarded.train_step, str(place / "plain.ckpt"))
    (place / "torn.ckpt").write_bytes((place / "here.ckpt").read_bytes()[:-40])
    another = GuardedTraining(*start(workload), parse_policy("O2"))
    dense = nn.Dense(2, 2)
    adam = workload.optimizer(dense.trainable_params())
    narrow = GuardedTraining(dense, workload.loss(), adam, parse_policy("O3"))
    attempts: list[Callable[[], None]] = [
        lambda: guarded.save(place / "here.txt"),
        lambda: guarded.load(place / "missing.ckpt"),
        lambda: guarded.load(place / "plain.ckpt"),
        lambda: guarded.load(place / "torn.ckpt"),
        lambda: another.load(place / "here.ckpt"),
        lambda: narrow.load(place / "here.ckpt"),
        lambda: guarded.load_state_dict({"steps": 3}),
    ]
    said = []
    for attempt in attempts:
        try:
            attempt()
        except HalfwiseError as error:
            said.append(f"{type(error).__name__}: {error}")
        else:
            said.append("nothing")
    fresh, *_ = start(workload)
    ms.load_checkpoint(str(place / "here.ckpt"), fresh)
    return said


def hopeless() -> list[Any]:
    """Points so far out that float32 has no square of them: what is said, whether the weights are as before."""
    use_device("CPU", "graph")
    workload = Hazardous([1.0, 1e25])
    guarded = GuardedTraining(*start(workload), parse_policy("O3"))
    first, second = workload.batches(SEED)
    guarded.step(*tensors(first))
    before = hexed(guarded.train_step)
    try:
        guarded.step(*tensors(second))
    except HalfwiseError as error:
        return [str(error), hexed(guarded.train_step) == before, told(guarded)]
    return []


def transformer(policy: str, steps: int, guarding: bool) -> dict[str, Any]:
    """The built-in transformer after some steps: its quality, None if not finite, and the log."""
    use_device("CPU", "graph")
    workload = make_transformer()
    guarded = GuardedTraining(
        *start(workload), parse_policy(policy), inputs=2, guard=Guard() if guarding else None
    )
    for batch in itertools.islice(workload.batches(SEED), steps):
        guarded.step(*tensors(batch))
    quality = workload.evaluate(predictor(guarded.train_step.network))
    return {"quality": quality if math.isfinite(quality) else None, "log": told(guarded)}
