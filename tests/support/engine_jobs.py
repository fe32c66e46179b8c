"""What tests of the two engines run in fresh processes: networks under both, and what was asked of each op."""

import contextlib
import importlib
import itertools
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import rewriting_networks
from called_ops import CALLS, caller
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from mindspore import nn, ops
from networks import NETWORKS, WIDTH
from rewriting_jobs import _images, _outputs, _state, _switches, _use

from halfwise.evaluators.device import use_device
from halfwise.evaluators.evidence import mark_layers, prove, read_op_table, remove_marks
from halfwise.evaluators.graph_dump import dumped_graphs
from halfwise.evaluators.step import TrainStep
from halfwise.policies import InputError, Mode, Policy, parse_policy
from halfwise.policies.rewrite import Rewritten, apply, make_scaler, read_outline, remove
from halfwise.policies.rewrite.function_keys import PARSER
from halfwise.policies.rewrite.network_outline import named_cells
from halfwise.policies.rewrite.patterns.code import source_of

_NUMBER = itertools.count()
ENGINES = ("regions", "symbol-tree")


def compared(network: str, policies: list[str]) -> list[dict[str, Any]]:
    """For each policy, what both engines make of a network's training step: `asked` or `refused`, and `proven`."""
    use_device("CPU", "graph")
    # What the kernels of this device make of it is no matter here.
    os.environ["MS_DEV_PRECOMPILE_ONLY"] = "1"
    return [_both(NETWORKS[network], parse_policy(policy)) for policy in policies]


def _both(build: Callable[[], nn.Cell], policy: Policy) -> dict[str, Any]:
    found = {}
    for engine in ENGINES:
        ms.set_seed(1)
        network = build()
        with _taken_off(network):
            try:
                found[engine] = _trained(network, policy, engine)
            except InputError as error:
                found[engine] = {"refused": str(error)}
    return found


def _trained(network: nn.Cell, policy: Policy, engine: Any) -> dict[str, Any]:
    outline = read_outline(network)
    rewritten = _applied(policy, network, engine)
    assert read_outline(network) == outline
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    step = TrainStep(network, nn.MSELoss(), optimizer, make_scaler(policy.loss_scaling), 1)
    step.set_train()
    rows = np.ones((16, WIDTH), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        mark_layers(network, Path(folder))
        with dumped_graphs(Path(folder)):
            step.compile(ms.Tensor(rows), ms.Tensor(rows))
        table = read_op_table(Path(folder), outline)
        remove_marks(network)
    proof = prove(table, rewritten.assignments, policy)
    makers = Counter(table[table["is_cast"].astype(bool) & (table["direction"] == "forward")]["cast_by"])
    return {"asked": _asked(table), "proven": proof.holds, "matched": proof.matched, "casts": dict(makers)}


def _asked(table: Any) -> list[Any]:
    """Every op of the forward pass and its gradients, without casts and in no order."""
    kept = table[table["direction"].isin(["forward", "gradient"]) & ~table["is_cast"].astype(bool)]
    columns = ["direction", "graph_op", "output_shapes", "input_precisions", "output_precision"]
    return sorted(map(repr, kept[columns].itertuples(index=False, name=None)))


def _applied(policy: Policy, network: nn.Cell, engine: Any) -> Rewritten:
    """Apply the policy; whatever comes of it, no switch of MindSpore's, path or file is changed."""
    before = _switches()
    try:
        return apply(policy, network, engine=engine)
    finally:
        assert _switches() == before


@contextlib.contextmanager
def _taken_off(network: nn.Cell) -> Iterator[None]:
    """Take the policy off at the end; then MindSpore's parser has its own function again."""
    key = PARSER.get_object_key
    yield
    remove(network)
    assert PARSER.get_object_key is key


def generated_networks(examples: int, seed_number: int) -> dict[str, int]:
    """Hold both engines to each other on generated networks in graph mode; how many were converted and refused."""
    _use("graph")
    os.environ["MS_DEV_PRECOMPILE_ONLY"] = "1"
    count = {"converted": 0, "refused": 0}

    @_settled(examples, seed_number)
    @given(rewriting_networks.generated(), st.data())
    def check(made: rewriting_networks.Generated, data: st.DataObject) -> None:
        kind = _module(made.source).Net
        policy = _drawn_policy(data, kind())
        regions, trees = (_forward(kind(), policy, engine, _images(made.inputs)) for engine in ENGINES)
        if isinstance(trees, str):
            # A policy that fits no network is refused by both, in the same words; else the place is named.
            assert trees == regions or ".py:" in trees
            count["refused"] += 1
        else:
            assert trees == regions
            count["converted"] += 1

    check()
    return count


def generated_values(examples: int, seed_number: int) -> dict[str, int]:
    """The same op by op: all in float32 nothing changes, under any policy both engines give the same values."""
    _use("pynative")
    count = {"converted": 0, "refused": 0}

    @_settled(examples, seed_number)
    @given(rewriting_networks.generated(), st.data())
    def check(made: rewriting_networks.Generated, data: st.DataObject) -> None:
        cell = _module(made.source).Net().set_train(False)
        inputs = _images(made.inputs)
        policy = _drawn_policy(data, cell).replace(mode="pynative")
        plain, before = _outputs(cell, inputs), _state(cell)
        try:
            apply(Policy(default="float32"), cell, engine="symbol-tree")
        except InputError:
            count["refused"] += 1
            assert _state(cell) == before
            return
        count["converted"] += 1
        _same(_outputs(cell, inputs), plain)
        found = []
        for engine in ENGINES:
            with contextlib.suppress(InputError):
                _applied(policy, cell, engine)
                found.append(_outputs(cell, inputs))
        if len(found) == 2:
            _same(found[1], found[0])
        remove(cell)
        assert _state(cell) == before
        _same(_outputs(cell, inputs), plain)

    check()
    return count


def _same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)


def _settled(examples: int, seed_number: int) -> Callable[[Any], Any]:
    checked = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
    )
    return lambda test: seed(seed_number)(checked(test))


def _drawn_policy(data: st.DataObject, network: nn.Cell) -> Policy:
    precisions = st.sampled_from(["float32", "float16", "auto"])
    paths = [cell.path for cell in read_outline(network).cells if cell.path]
    layers = data.draw(st.dictionaries(st.sampled_from(paths), precisions, max_size=4))
    lists = {"white_list": ["Conv2D", "Add"], "black_list": data.draw(st.sampled_from([["ReLU"], ["Mul"], []]))}
    return Policy.model_validate({"default": data.draw(precisions), "layers": layers, "ops": lists})


def _module(source: str) -> Any:
    folder = Path(tempfile.mkdtemp(dir=os.getcwd()))
    name = f"made_{next(_NUMBER)}"
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


class Holder(nn.Cell):
    """Calls a network, as a training step does."""

    def __init__(self, network: nn.Cell):
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, *inputs):
        """What the network gives."""
        return self.network(*inputs)


def _forward(network: nn.Cell, policy: Policy, engine: Any, inputs: list[ms.Tensor]) -> list[Any] | str:
    """The asked ops of the forward pass, or why the engine refuses."""
    outline = read_outline(network)
    network.set_train(False)
    with _taken_off(network):
        try:
            _applied(policy, network, engine)
        except InputError as error:
            return str(error)
        with tempfile.TemporaryDirectory() as folder:
            mark_layers(network, Path(folder))
            with dumped_graphs(Path(folder)):
                Holder(network).compile(*inputs)
            table = read_op_table(Path(folder), outline)
            remove_marks(network)
    return _asked(table)


def known_calls(policy: str) -> dict[str, list[str]]:
    """What either engine has, and the other has not, of the ops of one network that computes every known call."""
    use_device("CPU", "graph")
    os.environ["MS_DEV_PRECOMPILE_ONLY"] = "1"
    module = _module(caller(CALLS))
    calls = [getattr(module, f"Call{number}") for number in range(len(CALLS))]
    rows = [ms.Tensor(np.full((4, 4), value, np.float32)) for value in (0.5, 0.25)]
    regions, trees = (
        _forward(module.Calls([kind() for kind in calls]), parse_policy(policy), engine, rows)
        for engine in ENGINES
    )
    assert not isinstance(trees, str), trees
    return {
        "only regions": sorted((Counter(regions) - Counter(trees)).elements()),
        "only trees": sorted((Counter(trees) - Counter(regions)).elements()),
        "low": [row for row in trees if "float16" in row],
    }


def one_call(call: str, policy: str) -> list[Any]:
    """What both engines ask of the ops of one call; a text where it is refused."""
    use_device("CPU", "graph")
    os.environ["MS_DEV_PRECOMPILE_ONLY"] = "1"
    kind = _module(caller((call,))).Call0
    rows = [ms.Tensor(np.full((4, 4), value, np.float32)) for value in (0.5, 0.25)]
    return [_forward(kind(), parse_policy(policy), engine, rows) for engine in ENGINES]


def refusals(policy: str) -> dict[str, str]:
    """What the symbol tree says of each network that it is known to stumble over, "" where it takes it."""
    _use("pynative")
    return {name: _refusal(build(), parse_policy(policy)) for name, build in STUMBLING.items()}


def _refusal(cell: nn.Cell, policy: Policy) -> str:
    before = _state(cell)
    try:
        _applied(policy, cell, "symbol-tree")
    except InputError as error:
        assert _state(cell) == before
        return str(error)
    return ""


def applied_in_turn(network: str, steps: list[list[str]], mode: Mode) -> dict[str, Any]:
    """Output of a network after policies were applied in turn, each [policy, engine], and what is left of them."""
    use_device("CPU", mode)
    ms.set_seed(1)
    cell = NETWORKS[network]()
    rows = ms.Tensor(np.random.default_rng(1).normal(size=(16, WIDTH)).astype(np.float32))
    plain = cell(rows).asnumpy()
    kinds = [type(each) for _, each in named_cells(cell)]
    parameters = [id(each) for each in cell.get_parameters()]
    for policy, engine in steps:
        apply(parse_policy(policy), cell, engine=engine)  # pyright: ignore[reportArgumentType]
    output = cell(rows)
    same_parameters = parameters == [id(each) for each in cell.get_parameters()]
    remove(cell)
    left = [name for _, each in named_cells(cell) for name in each.__dict__ if "halfwise" in name]
    return {
        "type": str(output.dtype),
        "values": output.astype(ms.float32).asnumpy().tolist(),
        "same_parameters": same_parameters,
        "restored": kinds == [type(each) for _, each in named_cells(cell)] and not left,
        "plain again": bool((cell(rows).asnumpy() == plain).all()),
    }


def source(network: str, policy: str) -> dict[str, str]:
    """The source of each Cell that the symbol tree gave a new construct, by path."""
    cell = NETWORKS[network]()
    apply(parse_policy(policy), cell, engine="symbol-tree")
    return {path: source_of(each) for path, each in named_cells(cell) if "halfwise_own_class" in each.__dict__}


class InPlace(nn.Cell):
    """Adds one tensor to another in place."""

    def construct(self, x, y):
        """Two tensors to their sum."""
        x = ops.tanh(x)
        x += y
        return x


class Joins(nn.Cell):
    """Joins two tuples of tensors, of which it cannot be told before that they are tuples."""

    def construct(self, x, y):
        """Two tensors to one in another shape."""
        parts = ops.split(x, 1) + ops.split(y, 1)
        return ops.reshape(parts[0], (-1,))


STATEMENTS = {"in place": InPlace, "joins": Joins}


def statements(name: str, policy: str) -> list[Any]:
    """What both engines ask of the ops of one of these Cells, or why it is refused."""
    use_device("CPU", "graph")
    os.environ["MS_DEV_PRECOMPILE_ONLY"] = "1"
    rows = [ms.Tensor(np.ones((2, 2), np.float32))] * 2
    return [_forward(STATEMENTS[name](), parse_policy(policy), engine, rows) for engine in ENGINES]


def unknown_engine() -> str:
    """What is said of an engine that there is none of."""
    try:
        apply(parse_policy("O3"), nn.Dense(2, 2), engine="autocast")  # pyright: ignore[reportArgumentType]
    except InputError as error:
        return str(error)
    return ""


class Gathers(nn.Cell):
    """Takes rows of a tensor by a tensor of numbers."""

    def __init__(self):
        super().__init__()
        self.ids = ms.Tensor([0, 1])

    def construct(self, x):
        """Images to fewer images."""
        return x[self.ids]


class Recursive(nn.Cell):
    """Calls a function that calls itself."""

    def construct(self, x):
        """Any tensor to the same."""
        return _halved(x, 3)


def _halved(x, times):
    return x if times == 0 else _halved(x * 0.5, times - 1)


class WritesElements(nn.Cell):
    """Writes into a tensor."""

    def construct(self, x):
        """Any tensor to one whose first row is zero."""
        x[0] = 0.0
        return x


class InsideTry(nn.Cell):
    """Computes inside of try."""

    def construct(self, x):
        """Any tensor to twice as much."""
        try:
            x = x * 2.0
        except ValueError:
            x = -x
        return x


class OwnBackward(nn.Cell):
    """Has a backward pass of its own."""

    def construct(self, x):
        """Any tensor to half of it."""
        return x * 0.5

    def bprop(self, x, out, dout):
        """Gradients."""
        return (dout * 0.5,)


STUMBLING = {
    **{name: build for name, (build, _) in {**rewriting_networks.FOLDED, **rewriting_networks.LEFT}.items()},
    "many statements": rewriting_networks.ManyStatements,
    "gathers": Gathers,
    "recursive": Recursive,
    "writes elements": WritesElements,
    "in try too": InsideTry,
    "bprop": OwnBackward,
    "lstm": lambda: nn.LSTM(4, 4),
}
