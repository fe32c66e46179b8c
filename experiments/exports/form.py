"""What an export gives: the text of a file, and what that form of it cannot say."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Exported:
    """`lost` are sentences: what the policy asks and the text does not, or says otherwise."""

    text: str
    lost: Sequence[str]
