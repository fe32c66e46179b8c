"""Which value each float operand of an op is: an op's output, a Parameter, the step's input or a constant.

The op table lists an op's producers and Parameters each once, in the order of the operands, beside the shapes of
all operands. Matching them in order, by shape, tells which is which.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

Shape = tuple[int, ...]
Kind = Literal["op", "parameter", "input", "constant"]


@dataclass(frozen=True)
class Operand:
    """One float operand: where it comes from (an op's id, a Parameter's name, or nothing), and its elements."""

    kind: Kind
    source: int | str | None
    elements: int
    shape: Shape


def operands(
    row: Any, outputs: Mapping[int, Sequence[Shape]], known: Mapping[str, Shape], batch: int
) -> list[Operand]:
    """The float operands of one row of a float32 op table, in order.

    `outputs` holds each producer's output shapes, `known` the shapes of Parameters as far as they are known. What
    is neither op nor Parameter is the step's input when its first axis is the batch, else a constant.
    """
    shapes = row.input_shapes
    producers = [(number, outputs[number]) for number in row.producers]
    named = [(name, known.get(name)) for name in row.parameters]
    # A value that is given twice is read once, and only then are there fewer bytes than operands ask for.
    floats = sum(4 * prod(s) for s, p in zip(shapes, row.input_precisions, strict=True) if p is not None)
    repeats = row.bytes_read < floats
    matched = next(_match(shapes, producers, named, [], [], repeats), None) or [None] * len(shapes)
    return [
        _operand(source, shape, batch)
        for source, shape, precision in zip(matched, shapes, row.input_precisions, strict=True)
        if precision is not None
    ]


def _match(shapes, producers, named, taken, found, repeats: bool) -> Iterator[list[int | str | None]]:
    """Every way to give each operand its source such that all sources are used, the likeliest first."""
    if not shapes:
        if not producers and not named:
            yield found
        return
    shape, rest = shapes[0], shapes[1:]
    if producers and shape in producers[0][1]:
        yield from _match(rest, producers[1:], named, [*taken, producers[0]], [*found, producers[0][0]], repeats)
    if named and named[0][1] in (None, shape):
        yield from _match(
            rest, producers, named[1:], [*taken, (named[0][0], (shape,))], [*found, named[0][0]], repeats
        )
    for source, outputs in reversed(taken):
        if repeats and shape in outputs:
            yield from _match(rest, producers, named, taken, [*found, source], repeats)
    if len(rest) >= len(producers) + len(named):
        yield from _match(rest, producers, named, taken, [*found, None], repeats)


def _operand(source: int | str | None, shape: Shape, batch: int) -> Operand:
    if isinstance(source, str):
        return Operand("parameter", source, prod(shape), shape)
    if source is not None:
        return Operand("op", source, prod(shape), shape)
    is_input = bool(shape) and shape[0] == batch
    return Operand("input" if is_input else "constant", None, prod(shape), shape)
