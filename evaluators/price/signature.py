"""What tells one kernel's time from another's: its op, and the shapes and precisions of its tensors."""

import re
from dataclasses import dataclass
from typing import TypeAlias

Tensor: TypeAlias = tuple[str, tuple[int, ...]]
"""A precision ("other" for what is no float) and a shape."""

OTHER = "other"
HALF_ZEROS = ", half zeros"

_TENSOR = re.compile(r"(\w+)\[(\d+(?:,\d+)*)?\]")
_SHAPED = r"\w+\[(?:\d+(?:,\d+)*)?\]"
_TEXT = re.compile(rf"(?P<op>\w+)(?: {_SHAPED})* -> {_SHAPED}(?P<zeros>{HALF_ZEROS})?")


@dataclass(frozen=True)
class Signature:
    """A kernel by op, inputs in order and first output.

    `half_zeros` says that about half of the values that go in are zeros, as behind a ReLU: where a CPU converts
    a number by branches, they cost several times as much.
    """

    op: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    half_zeros: bool = False

    def __str__(self) -> str:
        """Such as `Cast float32[64,16] -> float16[64,16], half zeros`; `parse` reads it back."""
        words = " ".join([self.op, *map(_text, self.inputs), "->", _text(self.output)])
        return words + (HALF_ZEROS if self.half_zeros else "")

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """The signature that a text spells.

        Raises:
            ValueError: it spells none.
        """
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(
                "must be a kernel such as 'Cast float32[64,16] -> float16[64,16]' "
                f"(with ', half zeros' where its data are so); got {text!r}"
            )
        *inputs, output = [(precision, _shape(shape)) for precision, shape in _TENSOR.findall(text)]
        return cls(found["op"], tuple(inputs), output, found["zeros"] is not None)

    @property
    def kind(self) -> tuple:
        """What kernels of one curve have in common: everything but the sizes."""
        return self.op, tuple(precision for precision, _ in self.inputs), self.output[0], self.half_zeros


def _text(tensor: Tensor) -> str:
    precision, shape = tensor
    return f"{precision}[{','.join(map(str, shape))}]"


def _shape(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()
