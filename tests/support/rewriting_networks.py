"""Networks for tests of the rewriter: those that it must leave or refuse by name, and generated ones as source."""

from dataclasses import dataclass

import mindspore as ms
from hypothesis import strategies as st
from mindspore import nn, ops

CHANNELS = 2
SCALE = 0.5


def convolution() -> nn.Conv2d:
    """A convolution that keeps the shape."""
    return nn.Conv2d(CHANNELS, CHANNELS, 3)


def norm() -> nn.BatchNorm2d:
    """A BatchNorm whose statistics and scale are none of the defaults."""
    made = nn.BatchNorm2d(CHANNELS)
    for parameter, value in (
        (made.moving_mean, 0.3),
        (made.moving_variance, 0.7),
        (made.gamma, 1.5),
        (made.beta, 0.2),
    ):
        parameter.set_data(ms.Tensor([value, -value if parameter is made.moving_mean else 2 * value], ms.float32))
    return made


class Plain(nn.Cell):
    """A convolution and its BatchNorm."""

    def __init__(self):
        super().__init__()
        self.conv = convolution()
        self.bn = norm()

    def construct(self, x):
        """Images to images."""
        return self.bn(self.conv(x))


class Inherited(Plain):
    """Inherits its construct."""


class CallsSuper(Plain):
    """Calls the construct of its parent."""

    def construct(self, x):
        """Images to images."""
        return self.bn(self.conv(super().construct(x) + 1))


class ReadByMethod(Plain):
    """Calls a method of the convolution's output beside the BatchNorm."""

    def construct(self, x):
        """Images to images."""
        y = self.conv(x)
        return self.bn(y) + y.sum()


class ReadInBranch(Plain):
    """Reads the convolution's output in a branch."""

    def construct(self, x):
        """Images to images."""
        y = self.conv(x)
        z = x
        if self.training is False:
            z = y * 2
        return self.bn(y) + z


class ChangedInBranch(Plain):
    """Changes the convolution's output in a branch, before the BatchNorm reads it."""

    def construct(self, x):
        """Images to images."""
        y = self.conv(x)
        if self.training is False:
            y = y * 2
        return self.bn(y)


class InputSetAnew(Plain):
    """Sets the convolution's input anew before the BatchNorm."""

    def construct(self, x):
        """Images to images."""
        y = self.conv(x)
        x = x * 2
        return self.bn(y) + x


class WeightRead(Plain):
    """Reads the convolution's weight too."""

    def construct(self, x):
        """Images to images."""
        return self.bn(self.conv(x)) + self.conv.weight.sum()


class ReadFromOutside(nn.Cell):
    """Calls a layer of a layer."""

    def __init__(self):
        super().__init__()
        self.inner = Plain()

    def construct(self, x):
        """Images to images."""
        return self.inner(x) + self.inner.conv(x)


class CalledTwice(Plain):
    """Calls the pair twice."""

    def construct(self, x):
        """Images to images."""
        x = self.bn(self.conv(x))
        return self.bn(self.conv(x))


class TwoNames(Plain):
    """One convolution under two names."""

    def __init__(self):
        super().__init__()
        self.other = self.conv

    def construct(self, x):
        """Images to images."""
        return self.bn(self.conv(x)) + self.other(x)


class Eager(Plain):
    """An `or` whose second side must not be computed."""

    def construct(self, x):
        """Images to images."""
        flag = x is None or self.conv(x) is None
        return self.bn(self.conv(x)) if flag is not None else x


class ByNumber(nn.Cell):
    """Calls layers out of a CellList made in a comprehension."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([each for _ in range(2) for each in (convolution(), norm())])

    def construct(self, x):
        """Images to images."""
        x = self.layers[1](self.layers[0](x))
        return self.layers[3](self.layers[2](x))


class ByComputedName(Plain):
    """Reaches a layer by a computed name."""

    def construct(self, x):
        """Images to images."""
        return self.bn(getattr(self, "co" + "nv")(x)) + self.bn(self.conv(x))


class InMethod(Plain):
    """Calls the pair in a method."""

    def _features(self, x):
        return self.bn(self.conv(x))

    def construct(self, x):
        """Images to images."""
        return self._features(x)


class InTry(Plain):
    """Calls the pair inside try and except; only PyNative mode runs it."""

    def construct(self, x):
        """Images to images."""
        try:
            y = self.bn(self.conv(x))
        except ValueError:
            y = x
        return y


class TakenApart(nn.Cell):
    """Goes through the layers of a SequentialCell one by one."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(convolution(), norm())

    def construct(self, x):
        """Images to the output of every layer."""
        found = ()
        for layer in self.body:
            x = layer(x)
            found += (x,)
        return found


class ModuleConstant(Plain):
    """Uses a constant and a function of its module."""

    def construct(self, x):
        """Images to images."""
        return ops.relu(self.bn(self.conv(x)) * SCALE)


class Annotated(Plain):
    """Annotates an assignment."""

    def construct(self, x):
        """Images to images."""
        y: ms.Tensor = self.conv(x)
        return self.bn(y)


class Nested(nn.Cell):
    """SequentialCells in one another and a shared block."""

    def __init__(self):
        super().__init__()
        self.block = Plain()
        self.body = nn.SequentialCell(nn.SequentialCell(convolution(), norm(), nn.ReLU()), self.block)

    def construct(self, x):
        """Images to images."""
        return self.block(self.body(x))


class Residual(nn.Cell):
    """Two inputs, a branch that is added, a tuple and a dict of outputs."""

    def __init__(self):
        super().__init__()
        self.conv = convolution()
        self.bn = norm()
        self.side = convolution()

    def construct(self, x, y):
        """Two images to a dict."""
        total = self.bn(self.conv(x)) + self.side(y)
        return {"total": total, "more": (total * 2, x)}


class ManyStatements(Plain):
    """Statements of every kind around a pair in plain ones, and an inner Cell with two inputs."""

    def __init__(self):
        super().__init__()
        self.inner = Residual()

    def construct(self, x, *rest, scale: float = 1.0, **named):
        """Images to images."""
        first, *others = [x, x * scale, x]
        assert len(others) == 2, f"two and {first.shape}"
        y: ms.Tensor = self.bn(self.conv(first))
        y = self.inner(y, y=others[0])["total"] + self.inner(*others)["more"][0]
        total, index = y[0:1, ...], 0
        while index < 2:
            total += y.mean() * index
            index += 1
        picked = [each * 2 for each in (total, y) if each is not None]
        if (size := len(picked)) > 2:
            raise ValueError(size)
        weigh = lambda value: value * SCALE  # noqa: E731
        return weigh(picked[-1]) if x.ndim == 4 and not rest else {**named, "x": x}["x"]


def local_class() -> nn.Cell:
    """A class that is defined in a function, whose construct uses a name of the function."""
    factor = 3.0

    class Local(Plain):
        def construct(self, x):
            return self.bn(self.conv(x)) * factor

    return Local()


def same_names() -> nn.Cell:
    """Two different classes of one name in one network."""

    def one():
        class Twin(Plain):
            def construct(self, x):
                return self.bn(self.conv(x)) * 2.0

        return Twin()

    def other():
        class Twin(Plain):
            def construct(self, x):
                return self.bn(self.conv(x)) + 2.0

        return Twin()

    return nn.SequentialCell(one(), other())


# By name: the network, and how many of its pairs are folded.
FOLDED = {
    "plain": (Plain, 1),
    "inherited": (Inherited, 1),
    "local class": (local_class, 1),
    "same names": (same_names, 2),
    "module constant": (ModuleConstant, 1),
    "annotated": (Annotated, 1),
    "nested": (Nested, 2),
    "residual": (Residual, 1),
}
# Only PyNative mode runs it.
STATEMENTS = {"many statements": (ManyStatements, 2)}
# By name: the network, and a word of the reason why nothing is folded.
LEFT = {
    "calls super": (CallsSuper, "super()"),
    "read by method": (ReadByMethod, "also read by"),
    "read in branch": (ReadInBranch, "also read by `if"),
    "changed in branch": (ChangedInBranch, "does not follow"),
    "input set anew": (InputSetAnew, "set anew"),
    "weight read": (WeightRead, "also read by another statement"),
    "read from outside": (ReadFromOutside, "as self.inner.conv in ReadFromOutside"),
    "called twice": (CalledTwice, "another statement"),
    "two names": (TwoNames, "under another name"),
    "eager": (Eager, "both sides of its `or`"),
    "by number": (ByNumber, "CellList"),
    "by computed name": (ByComputedName, "getattr"),
    "in method": (InMethod, "in InMethod._features"),
    "taken apart": (TakenApart, "taken apart"),
    "in try": (InTry, "outside branches"),
}


@dataclass(frozen=True)
class Generated:
    """The source of a module whose class `Net` takes `inputs` images."""

    source: str
    inputs: int


@st.composite
def generated(draw: st.DrawFn) -> Generated:
    """A network of two block classes and a top: containers, shared layers, branches, inputs and outputs."""
    inputs = draw(st.integers(1, 2))
    first = _cell(draw, "First", ["x"], [])
    second = _cell(draw, "Second", ["x"], ["First"])
    top = _cell(draw, "Net", ["a", "b"][:inputs], ["First", "Second"])
    head = (
        "from mindspore import nn, ops\nfrom rewriting_networks import convolution, norm\n\nSCALE = 0.5\n\n\n"
        "def halved(v):\n    return v * SCALE\n\n\n"
    )
    return Generated(head + "\n\n".join((first, second, top)), inputs)


def _cell(draw: st.DrawFn, name: str, inputs: list[str], blocks: list[str]) -> str:
    kinds = [
        "convolution()",
        "convolution()",
        "norm()",
        "norm()",
        "nn.ReLU()",
        *(f"{block}()" for block in blocks),
    ]
    layers = {f"l{index}": draw(st.sampled_from(kinds)) for index in range(draw(st.integers(2, 5)))}
    kind = st.lists(st.sampled_from(kinds), min_size=1, max_size=3)
    layers["seq"] = f"nn.SequentialCell({', '.join(draw(kind))})"
    if draw(st.booleans()):
        layers["alias"] = f"self.{draw(st.sampled_from(sorted(layers)))}"
    lines = [f"        self.{each} = {made}" for each, made in layers.items()]
    lines.append(f"        self.cells_of_it = nn.CellList([{', '.join(draw(kind))}])")
    lines.append(f"        self.flag = {draw(st.booleans())}")
    callees = [*(f"self.{each}" for each in layers), "ops.relu", "halved", "self.method"]
    method = draw(st.sampled_from(sorted(layers)))
    body, names = [], list(inputs)
    for _ in range(draw(st.integers(1, 6))):
        body += _statement(draw, callees, names)
    results = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)) if name == "Net" else []
    value = _expression(draw, callees, names, 2)
    returned = f"{value}, {{'more': ({', '.join(results)},)}}" if results else value
    return (
        f"class {name}(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        + "\n".join(lines)
        + f"\n\n    def method(self, v):\n        return self.{method}(v) * 0.5\n"
        + f"\n    def construct(self, {', '.join(inputs)}):\n"
        + "\n".join(f"        {line}" for line in body)
        + f"\n        return {returned}\n"
    )


def _statement(draw: st.DrawFn, callees: list[str], names: list[str]) -> list[str]:
    value = _expression(draw, callees, names, draw(st.integers(1, 3)))
    target = draw(st.sampled_from(["x", "y", "z", "relu_var", "l0_var"]))
    old = draw(st.sampled_from(names))
    kinds = {
        "assign": [f"{target} = {value}"],
        "again": [f"{target} = {value}"],
        "twice": [f"{target} = other = {value}"],
        "in place": [f"{old} += {value}"],
        "branch": [f"if self.flag:\n            {old} = {value}"],
        "two branches": [
            f"if not self.flag:\n            {target} = {value}\n        else:\n            {target} = {old}"
        ],
        "loop": [f"for layer in self.cells_of_it:\n            {old} = layer({old})"],
        "number": [f"{target} = self.cells_of_it[0]({old})"],
        "choice": [f"{target} = {value} if self.flag else {old}"],
        "pair": [f"{target}, other = {value}, {old}"],
        "method of a value": [f"{target} = {old} + {old}.mean()"],
    }
    kind = draw(st.sampled_from(sorted(kinds)))
    if kind in ("assign", "again", "twice", "two branches", "number", "choice", "pair", "method of a value"):
        names.append(target)
    if kind in ("twice", "pair"):
        names.append("other")
    return kinds[kind]


def _expression(draw: st.DrawFn, callees: list[str], names: list[str], depth: int) -> str:
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(names))
    inner = _expression(draw, callees, names, depth - 1)
    if draw(st.integers(0, 4)) == 0:
        return f"({inner} + {_expression(draw, callees, names, depth - 1)} * SCALE)"
    return f"{draw(st.sampled_from(callees))}({inner})"
