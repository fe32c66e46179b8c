"""The most memory that a policy may need, and how a policy beyond it is told so."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt


class MemoryBound(BaseModel):
    """A bound in bytes, and which figure it holds for besides the price.

    The price is a lower bound of what a step needs, so a policy whose price lies above is refused without
    training. Of kind "measured", the peak that the device reports for a training must stay within it too; a CPU
    has no such figure, for resident memory is above all Python's and MindSpore's own.
    """

    model_config = ConfigDict(frozen=True)

    limit_bytes: PositiveInt
    kind: Literal["priced", "measured"] = "priced"

    def refuse_priced(self, needed_bytes: int) -> str | None:
        """Why a step of this price is refused; None if it fits."""
        return self._refuse(needed_bytes, "at least ", "priced")

    def refuse_measured(self, peak_bytes: int | None, device: str) -> str | None:
        """Why a training with this peak is refused; None if it fits, is not known, or does not matter."""
        if self.kind == "priced" or peak_bytes is None:
            return None
        return self._refuse(peak_bytes, "", f"peak measured on {device}")

    def _refuse(self, needed_bytes: int, least: str, figure: str) -> str | None:
        if needed_bytes <= self.limit_bytes:
            return None
        needed, limit = size_words(needed_bytes), size_words(self.limit_bytes)
        return f"needs {least}{needed} of memory ({figure}), more than {limit}"


def size_words(size_bytes: int) -> str:
    """Such as "17.2 GB" (10^9 bytes), "500 MB" or "3.5 kB"."""
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if size_bytes >= size:
            return f"{size_bytes / size:.4g} {unit}"
    return f"{size_bytes / 1e3:.4g} kB"
