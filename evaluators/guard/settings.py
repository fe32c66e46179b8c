"""When a guard steps in, and how far it goes."""

from dataclasses import dataclass
from typing import get_args

from ...policies.errors import InputError
from ...policies.precision import LowPrecision


@dataclass(frozen=True)
class Guard:
    """Bounds: a guard steps in at a loss that is not finite, and where too many steps are skipped.

    Too many are more than `most_skips` of the last `window` steps. After `quiet_steps` steps without a change, the
    last change is taken back; if it has to be made again, after twice as many, and so on; None is never. The last
    good state is kept every `keep_every` steps: a copy of all that the step holds, in the machine's memory.
    `low_precisions` are those that the device computes, as `learn_device(...).low_precisions` finds them: a layer
    moves from float16 to bfloat16 only where that is among them.

    Raises:
        InputError: a number is too small, or such a bound could never be passed.
    """

    most_skips: int = 8
    window: int = 50
    quiet_steps: int | None = 1000
    keep_every: int = 1
    low_precisions: tuple[LowPrecision, ...] = ("float16",)

    def __post_init__(self) -> None:
        """Checks the numbers."""
        if not 0 <= self.most_skips < self.window:
            raise InputError(
                "most_skips must be at least 0 and less than window, or it is never passed; "
                f"got {self.most_skips} of {self.window} steps"
            )
        for name, value in (("quiet_steps", self.quiet_steps), ("keep_every", self.keep_every)):
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1; got {value}")
        unknown = [name for name in self.low_precisions if name not in get_args(LowPrecision)]
        if unknown:
            raise InputError(
                f"low_precisions may name {', '.join(get_args(LowPrecision))}; got {', '.join(map(repr, unknown))}"
            )


DEFAULT = Guard()
"""The guard of a training that names none."""
