"""What tests of pattern rules run in fresh processes; every function takes and returns plain data."""

import gc
import importlib
import inspect
import itertools
import operator
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from mindspore import nn
from mindspore.rewrite.ast_helpers import ast_flattener
from mindspore.rewrite.common import namespace
from mindspore.rewrite.parsers import assign_parser
from mindspore.rewrite.symbol_tree import symbol_tree
from rewriting_networks import CHANNELS, FOLDED, LEFT, STATEMENTS, Generated, convolution, generated

from halfwise.evaluators.device import use_device
from halfwise.policies import HalfwiseError, Mode, parse_policy
from halfwise.policies.rewrite import apply
from halfwise.policies.rewrite.network_outline import named_cells
from halfwise.policies.rewrite.patterns import (
    Anything,
    Declined,
    Followed,
    Match,
    Rule,
    chain,
    node,
    pattern,
    rewrite,
)
from halfwise.policies.rewrite.transforms import fold_batchnorm

_NUMBER = itertools.count()


def fold(network: str, mode: Mode) -> dict[str, Any]:
    """Fold one of the named networks under watch; what changed, what was left, and how far the outputs are."""
    _use(mode)
    cell = {**FOLDED, **STATEMENTS, **LEFT}[network][0]().set_train(False)
    inputs = _images(2 if network == "residual" else 1)
    with _untouched(cell, inputs):
        found = rewrite(cell, [fold_batchnorm], inputs)
    return {
        "changed": [change.layers for change in found.report.changes],
        "reasons": [left.reason for left in found.report.left],
        "where": [left.where for left in found.report.left],
        "left": [left.layer for left in found.report.left],
        "norms": [path for path, each in named_cells(found.network) if isinstance(each, nn.BatchNorm2d)],
        "difference": found.equality.largest_difference if found.equality else None,
        "source": found.source,
        "modified": _difference(cell, found.network, inputs),
    }


def generated_networks(mode: Mode, examples: int, seed_number: int) -> int:
    """Hold generated networks to every promise of the rewriter; how many there were."""
    _use(mode)
    count = 0

    @seed(seed_number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example),
    )
    @given(generated())
    def check(made: Generated) -> None:
        nonlocal count
        count += 1
        cell = _built(made).set_train(False)
        inputs = _images(made.inputs)
        with _untouched(cell, inputs):
            _changes_nothing(cell, inputs)
            _folds(cell, inputs)
            _reaches_every_call(cell, inputs, hooks=mode == "pynative")

    check()
    return count


def _use(mode: Mode) -> None:
    # oneDNN's reference convolution on AVX-512 CPUs takes 24 ms where this takes 0.1.
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    use_device("CPU", mode)
    ms.set_seed(1)


@pattern(nn.Dense)
def never(dense):
    """Matches nothing in a network without Dense layers."""
    raise AssertionError("there is no Dense layer")


def _changes_nothing(cell: nn.Cell, inputs: list[ms.Tensor]) -> None:
    for rules in ([], [never]):
        found = rewrite(cell, rules, inputs)
        assert found.report.changes == ()
        assert found.report.left == ()
        assert found.equality is None
        for (path, old), (same, new) in zip(named_cells(cell), named_cells(found.network), strict=True):
            assert (path, type(old)) == (same, type(new))
            assert old is not new
        assert [id(each) for each in cell.get_parameters()] == [
            id(each) for each in found.network.get_parameters()
        ]
        assert _difference(cell, found.network, inputs) == 0


def _folds(cell: nn.Cell, inputs: list[ms.Tensor]) -> None:
    found = rewrite(cell, [fold_batchnorm], inputs)
    assert _difference(cell, found.network, inputs) <= 1e-5
    left = {each.layer for each in found.report.left}
    norms = [path for path, each in named_cells(found.network) if isinstance(each, nn.BatchNorm2d)]
    own = {id(each) for each in cell.get_parameters()}
    made = {change.made for change in found.report.changes}
    for path, each in found.network.cells_and_names():
        new = [
            parameter for parameter in each._params.values() if id(parameter) not in own and parameter is not None
        ]
        assert bool(new) == (path in made), path
    assert {_first_name(found.network, path) for path in norms} <= {
        _first_name(found.network, path) for path in left
    }
    if not found.report.changes:
        assert _difference(cell, found.network, inputs) == 0


def _first_name(network: nn.Cell, path: str) -> int:
    return id(dict(named_cells(network))[path])


class AddOne(nn.Cell):
    """Adds one."""

    def construct(self, x):
        """Any tensor to one more."""
        return x + 1.0


def _reaches_every_call(cell: nn.Cell, inputs: list[ms.Tensor], hooks: bool) -> None:
    """What is reported as followed is followed at every call: a hook on the untouched layers gives the same."""
    paths = {id(each): path for path, each in reversed(named_cells(cell))}
    found = rewrite(cell, [_adding(set(paths.values()))], inputs)
    convolutions = [path for path, each in named_cells(cell) if type(each) is nn.Conv2d]
    left = {each.layer for each in found.report.left}
    changed = {change.layers[0] for change in found.report.changes}
    same = {path: id(each) for path, each in named_cells(cell)}
    reported = {same[path] for path in left | changed}
    assert {same[path] for path in convolutions} == reported
    if not hooks:
        return
    whole = {path for path in changed if same[path] not in {same[other] for other in left}}
    found = rewrite(cell, [_adding(whole)], inputs)
    handles = [
        each.register_forward_hook(lambda c, i, o: o + 1.0)
        for each in {same[path]: dict(named_cells(cell))[path] for path in whole}.values()
    ]
    wanted = _outputs(cell, inputs)
    for handle in handles:
        handle.remove()
    got = _outputs(found.network, inputs)
    for name, value in wanted.items():
        np.testing.assert_array_equal(got[name], value)


def _adding(paths: set[str]) -> Rule:
    def build(match: Match) -> Followed | Declined:
        return Followed(AddOne()) if match.paths[0] in paths else Declined("not asked for")

    return Rule("add-one", chain(nn.Conv2d), build, tolerance=float("inf"))


def _built(made: Generated) -> nn.Cell:
    folder = Path(tempfile.mkdtemp(dir=os.getcwd()))
    name = f"generated_{next(_NUMBER)}"
    (folder / f"{name}.py").write_text(made.source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name).Net()
    finally:
        sys.path.remove(str(folder))


def _images(number: int) -> list[ms.Tensor]:
    random = np.random.default_rng(0)
    return [ms.Tensor(random.normal(size=(2, CHANNELS, 4, 4)).astype(np.float32)) for _ in range(number)]


@contextmanager
def _untouched(cell: nn.Cell, inputs: list[ms.Tensor]) -> Iterator[None]:
    """Nothing of the network, the rewriter's switches, Python's path or the working folder is changed inside."""
    # Running comes first: a first run in graph mode leaves its marks on a Cell.
    before = _outputs(cell, inputs), _state(cell), _switches()
    yield
    assert _state(cell) == before[1]
    after = _outputs(cell, inputs)
    assert list(after) == list(before[0])
    for name, value in before[0].items():
        np.testing.assert_array_equal(after[name], value)
    assert _switches() == before[2]


def _state(cell: nn.Cell) -> list[Any]:
    return [
        [
            (path, id(each), type(each), each.training, list(each._cells), sorted(each.__dict__))
            for path, each in named_cells(cell)
        ],
        [(id(each), each.name, each.asnumpy().tobytes()) for each in cell.get_parameters()],
    ]


def _switches() -> list[Any]:
    """Every plain value and container that modules and classes of the rewriter keep, apart from names taken."""
    kept: list[Any] = [list(sys.path), sorted(os.listdir()), ms.get_context("mode")]
    for module in (namespace, assign_parser, symbol_tree, ast_flattener):
        classes = [
            each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__
        ]
        for holder in (module, *classes):
            plain = (bool, int, str, list, tuple)
            kept.append({name: repr(value) for name, value in vars(holder).items() if isinstance(value, plain)})
    return kept


def _outputs(cell: nn.Cell, inputs: list[ms.Tensor]) -> dict[str, np.ndarray]:
    # In graph mode `x += y` writes into the very tensor that a network was called with.
    return dict(_leaves(cell(*(each.copy() for each in inputs)), ""))


def _leaves(value: Any, name: str) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, ms.Tensor):
        yield name, value.asnumpy().copy()
    else:
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(each, f"{name}.{key}")


def _difference(one: nn.Cell, other: nn.Cell, inputs: list[ms.Tensor]) -> float:
    wanted, found = _outputs(one, inputs), _outputs(other, inputs)
    assert list(wanted) == list(found)
    return max(
        float(np.abs(value - found[name]).max() / max(1.0, np.abs(value).max())) for name, value in wanted.items()
    )


def fold_all(networks: list[str], mode: Mode) -> dict[str, dict[str, Any]]:
    """`fold` for each of these networks, by name."""
    return {name: fold(name, mode) for name in networks}


class Trained(nn.Cell):
    """Two Dense layers with Dropout and a BatchNorm: what keeps state while it trains."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.dropout = nn.Dropout(p=0.5)
        self.other = nn.Dropout(p=0.25)
        self.second = nn.Dense(8, 2)

    def construct(self, x):
        """(N, 4) to (N, 2)."""
        x = self.norm(self.first(x))
        return self.second(self.dropout(x) + self.other(x))


def training(mode: Mode, rewritten: bool) -> dict[str, Any]:
    """Losses and weights of a training whose optimizer holds the Parameters of the network as it was built."""
    _use(mode)
    network = Trained()
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    trained = network
    inputs = ms.Tensor(np.random.default_rng(1).normal(size=(16, 4)).astype(np.float32))
    if rewritten:
        rule = Rule("watched", chain(nn.Dropout), lambda match: Followed(nn.Identity()))
        found = rewrite(network, [rule], [inputs])
        assert len(found.report.changes) == 2
        trained = found.network
        assert [id(each) for each in trained.get_parameters()] == [id(each) for each in network.get_parameters()]
    trained.set_train(True)
    ms.set_seed(5)

    def loss(x):
        return (trained(x) ** 2).mean()

    step = ms.value_and_grad(loss, None, optimizer.parameters)
    losses = []
    for _ in range(4):
        value, gradients = step(inputs)
        optimizer(gradients)
        losses.append(value.asnumpy().item().hex())
    return {"losses": losses, "weights": [each.asnumpy().tobytes().hex() for each in network.get_parameters()]}


def refusals() -> dict[str, str]:
    """What is said of rules and networks that cannot be taken, by case."""
    _use("pynative")
    cell, inputs = FOLDED["plain"][0]().set_train(False), _images(1)
    under_policy = FOLDED["plain"][0]()
    apply(parse_policy("O3"), under_policy)
    random = nn.SequentialCell(convolution(), Random())

    def raising(match: Match) -> nn.Cell:
        raise KeyError("no such layer")

    def rule(build: Any, kind: type = nn.Conv2d, **settings: Any) -> list[Rule]:
        return [Rule("mine", chain(kind), build, **settings)]

    cases: dict[str, tuple[nn.Cell, list[Rule]]] = {
        "not a Cell": (cell, rule(lambda match: 3)),
        "raises": (cell, rule(raising)),
        "endless": (cell, rule(lambda match: convolution(), tolerance=float("inf"))),
        "too far": (cell, rule(lambda match: Followed(AddOne()))),
        "types": (cell, rule(lambda match: Followed(ToHalf()), nn.BatchNorm2d, tolerance=1.0)),
        "does not run": (cell, rule(lambda match: Followed(nn.Dense(3, 3)))),
        "policy": (under_policy, rule(lambda match: None)),
        "random": (random, rule(lambda match: Followed(nn.Identity()))),
    }
    said = {}
    for name, (network, rules) in cases.items():
        try:
            rewrite(network, rules, inputs)
        except HalfwiseError as error:
            said[name] = f"{type(error).__name__}: {error}"
    found = rewrite(
        cell, rule(lambda m: Followed(ToHalf()), nn.BatchNorm2d, tolerance=1.0, changes_types=True), inputs
    )
    said["types, said so"] = str(found.network(*inputs).dtype)
    return said


class Random(nn.Cell):
    """Adds noise, in evaluation too."""

    def construct(self, x):
        """Images to images."""
        return x + ms.Tensor(np.random.normal(size=x.shape).astype(np.float32))


class ToHalf(nn.Cell):
    """Casts down."""

    def construct(self, x):
        """Any tensor to float16."""
        return x.astype(ms.float16)


class PlusOne(nn.Cell):
    """Adds one too."""

    def construct(self, x):
        """Any tensor to one more."""
        return 1.0 + x


def again_and_gone() -> dict[str, Any]:
    """A rewritten network rewritten once more; whether its source files are there, and after it has gone."""
    _use("pynative")
    cell, inputs = FOLDED["local class"][0]().set_train(False), _images(1)
    once = rewrite(cell, [_adding({"conv"})], inputs)
    twice = rewrite(once.network, [fold_batchnorm], inputs)
    thrice = rewrite(once.network, [Rule("mine", chain(AddOne), lambda match: PlusOne())], inputs)
    file = Path(type(once.network).construct.__code__.co_filename)
    answer = {
        "once": _difference(cell, once.network, inputs),
        "twice": [left.reason for left in twice.report.left],
        "again": _difference(once.network, thrice.network, inputs),
        "there": file.exists(),
    }
    del once, twice, thrice
    gc.collect()
    return {**answer, "gone": not file.exists()}


def graph_pattern(mode: Mode) -> dict[str, Any]:
    """A sum of a layer's output and its input, replaced by one Cell that is given both, in a branching network."""
    _use(mode)

    value = Anything()

    @pattern(node(operator.add, node(nn.Conv2d, value), value))
    def merge_shortcut(layer, add):
        return Shortcut(layer)

    cell = Branching().set_train(False)
    inputs = _images(2)
    with _untouched(cell, inputs):
        found = rewrite(cell, [merge_shortcut], inputs)
    return {
        "changed": [change.layers for change in found.report.changes],
        "left": [(left.layer, left.reason) for left in found.report.left],
        "difference": _difference(cell, found.network, inputs),
        "source": found.source,
        "paths": [path for path, _ in named_cells(found.network)],
    }


class Branching(nn.Cell):
    """One sum of a layer and its own input, and one of a layer and another value."""

    def __init__(self):
        super().__init__()
        self.first = convolution()
        self.second = convolution()

    def construct(self, x, y):
        """Two images to one and a list."""
        total = self.first(x) + x
        return self.second(total) + y, [total]


class Shortcut(nn.Cell):
    """A layer with its shortcut."""

    def __init__(self, layer: nn.Cell):
        super().__init__(auto_prefix=False)
        self.layer = layer

    def construct(self, x):
        """Images to images."""
        return self.layer(x) + x
