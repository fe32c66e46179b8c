"""What tests of the rewrite layer run in fresh processes; every function takes and returns plain data."""

import contextlib
import hashlib
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from networks import NETWORKS, WIDTH

from halfwise.evaluators.device import use_device
from halfwise.evaluators.step import TrainStep
from halfwise.policies import Mode, StaticLossScaling, parse_policy
from halfwise.policies.rewrite import apply, function_keys, make_scaler, remove
from halfwise.policies.rewrite.engine import EngineName
from halfwise.policies.rewrite.function_keys import PARSER

STEPS = 20


def _data(steps: int) -> list[tuple[ms.Tensor, ms.Tensor]]:
    random = np.random.default_rng(3)
    return [
        (
            ms.Tensor(random.normal(size=(16, WIDTH)).astype(np.float32)),
            ms.Tensor(random.normal(size=(16, WIDTH)).astype(np.float32)),
        )
        for _ in range(steps)
    ]


def train(
    network: str,
    policies: list[str],
    mode: Mode = "graph",
    steps: int = STEPS,
    engine: EngineName = "regions",
    scale: int = 1024,
) -> dict[str, Any]:
    """Losses and a digest of all Parameters after training under the last of the policies applied in turn.

    Without a policy the network is trained as it is. `gradients` are the precisions at the update.
    """
    use_device("CPU", mode)
    ms.set_seed(1)
    cell = NETWORKS[network]()
    for policy in policies:
        apply(parse_policy(policy), cell, engine)
    scaling = StaticLossScaling(scale=scale)
    optimizer = nn.Momentum(cell.trainable_params(), 0.05, 0.9)
    step = TrainStep(cell, nn.MSELoss(), optimizer, make_scaler(scaling), 1)
    step.set_train()
    losses = [step(*batch)[0].asnumpy().item().hex() for batch in _data(steps)]
    weights = b"".join(parameter.asnumpy().tobytes() for parameter in cell.get_parameters())
    types = sorted({str(parameter.dtype) for parameter in cell.get_parameters()})
    return {"losses": losses, "weights": hashlib.sha256(weights).hexdigest(), "types": types}


def outputs(network: str, policy: str | None, mode: Mode = "graph") -> dict[str, Any]:
    """Type and values of the network's output under a policy, or as it is."""
    use_device("CPU", mode)
    ms.set_seed(1)
    cell = NETWORKS[network]()
    if policy is not None:
        apply(parse_policy(policy), cell)
    output = cell(_data(1)[0][0])
    return {"type": str(output.dtype), "values": output.astype(ms.float32).asnumpy().tolist()}


def precision_by_layer(network: str, policy: str) -> dict[str, str]:
    """The type of every Cell's output under a policy, seen by hooks in PyNative mode."""
    use_device("CPU", "pynative")
    cell = NETWORKS[network]()
    apply(parse_policy(policy), cell)
    seen: dict[str, str] = {}
    for path, inner in cell.cells_and_names():
        inner.register_forward_hook(lambda c, i, o, path=path: seen.__setitem__(path, str(o.dtype)))
    cell(_data(1)[0][0])
    return seen


def assignments(network: str, policy: str) -> list[list[Any]]:
    """What `apply` reports: path, aliases, precision and deciding rule of each Cell."""
    use_device("CPU", "pynative")
    rewritten = apply(parse_policy(policy), NETWORKS[network]())
    return [[a.path, list(a.aliases), a.precision, a.rule] for a in rewritten.assignments]


def apply_and_remove(network: str, policy: str, mode: Mode) -> dict[str, Any]:
    """Outputs of one network before a policy, under it, and after it was removed; and what is left on it."""
    use_device("CPU", mode)
    ms.set_seed(1)
    cell = NETWORKS[network]()
    batch = _data(1)[0][0]
    before = cell(batch)
    apply(parse_policy(policy), cell)
    under = cell(batch)
    remove(cell)
    after = cell(batch)
    left = [
        name for _, c in cell.cells_and_names() for name in c.__dict__ if "halfwise" in name or name == "construct"
    ]
    return {
        "types": [str(value.dtype) for value in (before, under, after)],
        "restored": bool((before.asnumpy() == after.asnumpy()).all()),
        "left": left,
    }


def parser_functions(network: str, policy: str) -> list[bool]:
    """Whether MindSpore's parser has its own `get_object_key`, under a policy and after it was removed."""
    original = PARSER.get_object_key
    cell = NETWORKS[network]()
    apply(parse_policy(policy), cell)
    under = PARSER.get_object_key is original
    remove(cell)
    return [under, PARSER.get_object_key is original]


def exception_leaks(policy: str) -> str:
    """The type of an unrelated product after an exception inside a Cell under the policy, in PyNative mode."""
    use_device("CPU", "pynative")

    class Failing(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(WIDTH, WIDTH)

        def construct(self, x):
            self.dense(x)
            raise ValueError("on purpose")

    cell = Failing()
    apply(parse_policy(policy), cell)
    batch = _data(1)[0][0]
    with contextlib.suppress(ValueError):
        cell(batch)
    return str(ops.matmul(batch, batch.T).dtype)


def refusal(network: str, policy: str, foreign: str | None = None) -> list[str]:
    """Kind and message of the error that `apply` raises, and what it left on the network."""
    use_device("CPU", "pynative")
    cell = NETWORKS[network]()
    if foreign == "to_float":
        cell.first.to_float(ms.float16)
    if foreign == "amp":
        cell = ms.amp.auto_mixed_precision(cell, "auto")
    try:
        apply(parse_policy(policy), cell)
    except Exception as error:
        marks = [name for _, c in cell.cells_and_names() for name in c.__dict__ if "halfwise" in name]
        return [type(error).__name__, str(error), *marks]
    return []


def separated_functions() -> dict[str, bool]:
    """Which functions get a key of their own at each use: some of MindSpore's, and a user's of the same name."""

    def zeros_like(x):
        return x * 0.1

    functions = {"gelu": ops.gelu, "isfinite": ops.isfinite, "zeros_like": ops.zeros_like, "user's": zeros_like}
    return {name: function_keys._computes(function) for name, function in functions.items()}
