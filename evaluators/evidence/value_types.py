"""The types of values in MindSpore's graph text: element type and shape of every tensor."""

import re
from dataclasses import dataclass
from functools import lru_cache
from math import prod

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REPEAT = re.compile(r"\*(\d+)")
_REF_KEY = re.compile(r"ref_key=(.*?)(?:, is_parameter|, is_inplace|>|$)")
_NUMBER_FORMATS = {
    "Float16": "float16",
    "Float32": "float32",
    "Float64": "float64",
    "BFloat16": "bfloat16",
}
_BITS = re.compile(r"\d+")


@dataclass(frozen=True)
class TensorType:
    """One tensor: MindSpore's name of its element type, and its shape; -1 where a length is unknown.

    `parameter` is the Parameter's name when the value is one, else None.
    """

    element: str
    shape: tuple[int, ...]
    parameter: str | None = None

    @property
    def precision(self) -> str | None:
        """`float32`, `float16`, `bfloat16` or `float64`; None for what is not a float."""
        return _NUMBER_FORMATS.get(self.element)

    @property
    def known(self) -> bool:
        """Whether all lengths are known when the graph is compiled."""
        return all(length >= 0 for length in self.shape)

    @property
    def size(self) -> int:
        """Number of elements, of a known shape."""
        return prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes that it takes, of a known shape: the bits in the element's name, at least one byte for each."""
        bits = _BITS.search(self.element)
        return self.size * max(1, int(bits[0]) // 8 if bits else 1)


@lru_cache(maxsize=4096)  # One step repeats few types.
def tensors_of(text: str) -> tuple[TensorType, ...]:
    """The tensors in one type such as `<Ref[Tensor[Float32]], (16, 8), ref_key=w, …>`, in order.

    Tuples are flattened; scalars, strings, functions and monads hold no tensor.

    Raises:
        ValueError: element types and shapes do not go together; the message holds the text.
    """
    fields = split_outside_brackets(text.strip().removeprefix("<").removesuffix(">"))
    elements = _elements(fields[0]) if fields else []
    if not any(elements):
        return ()
    shapes = _shapes(fields[1] if len(fields) > 1 else "")
    if len(elements) != len(shapes):
        raise ValueError(f"{len(elements)} values with {len(shapes)} shapes in the type {text!r}")
    key = _REF_KEY.search(text) if fields[0].startswith("Ref[") else None
    found = zip(elements, shapes, strict=True)
    return tuple(TensorType(element, shape or (), key[1] if key else None) for element, shape in found if element)


def split_outside_brackets(text: str) -> list[str]:
    """The parts of `text` between commas that stand outside of all brackets, stripped."""
    parts, start, depth = [], 0, 0
    for place, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*parts, last] if last or parts else []


def _elements(text: str) -> list[str | None]:
    """Element type of each value in `Tuple[Tensor[Float32]*2,Int64]`; None for what is no tensor."""
    word = _WORD.match(text)
    name = word[0] if word else ""
    rest = text[len(name) :]
    end = _closing(rest) if rest.startswith("[") else 0
    inner, after = rest[1:end], rest[end + 1 :] if end else rest
    repeat = _REPEAT.match(after)
    times = int(repeat[1]) if repeat else 1
    if name == "Tensor":
        return [inner or None] * times
    if name == "Ref":
        return _elements(inner) * times
    if name in ("Tuple", "List", "Dictionary", "NamedTuple") and inner:
        return [e for part in split_outside_brackets(inner) for e in _elements(part)] * times
    return [None] * times


def _shapes(text: str) -> list[tuple[int, ...] | None]:
    """Shape of each value in `TupleShape((6, 8), NoShape)`; None for what has none."""
    text = text.strip()
    if text.startswith("("):
        lengths = [part for part in text[1:-1].replace(" ", "").split(",") if part]
        return [tuple(int(length) for length in lengths)]
    name, _, inner = text.partition("(")
    if name in ("TupleShape", "ListShape", "SequenceShape"):
        return [shape for part in split_outside_brackets(inner[:-1]) for shape in _shapes(part)]
    return [None]


def _closing(text: str) -> int:
    """Place of the bracket that closes the one `text` starts with."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "[({") - (character in "])}")
        if depth == 0:
            return place
    raise ValueError(f"a bracket is not closed in the type {text!r}")
