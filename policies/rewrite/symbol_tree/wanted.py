"""What a policy wants of the code of one Cell."""

from dataclasses import dataclass

from ...ops import OP_CLASSES
from ...policy import Mode, Policy
from ...precision import Precision
from ...regions import AskedOps, asked_ops, border_of
from ...resolve import Assignment


@dataclass(frozen=True)
class Wanted:
    """The precision of its ops, of what enters it (None: as it comes), and the mode that the policy is for."""

    asked: AskedOps
    border: Precision | None
    mode: Mode

    def precisions_of(self, ops: frozenset[str]) -> dict[str, Precision | None]:
        """The precision that is wanted of each of these ops that has one; None where it follows its inputs."""
        return {op: self._precision(op) for op in sorted(ops) if op in OP_CLASSES}

    @property
    def key(self) -> object:
        """Equal for what is wanted alike."""
        return self.border, self.mode, self.asked.low, tuple(sorted(self.asked.precisions.items()))

    def _precision(self, op: str) -> Precision | None:
        if self.asked.is_white(op):
            return self.asked.low
        return "float32" if self.asked.is_black(op) else None


def wanted_of(assignment: Assignment, policy: Policy) -> Wanted:
    """What the policy wants of the Cell of this assignment.

    Raises:
        InputError: the Cell is asked for float16 and bfloat16 both.
    """
    asked = asked_ops(assignment, policy)
    return Wanted(asked, border_of(assignment, asked), policy.mode)
