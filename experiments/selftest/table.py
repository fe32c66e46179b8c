"""The results that people sent, as the table of the docs."""

from collections.abc import Iterable
from pathlib import Path

from ...evaluators.json_file import read_json
from .run import SelfTest

HEAD = (
    "| device | MindSpore | date | passed | low precisions | float32 products keep | O1 against float32 |",
    "| --- | --- | --- | --- | --- | --- | --- |",
)


def table_lines(files: Iterable[Path]) -> list[str]:
    """One row a file, in the order of their names.

    Raises:
        HalfwiseError: a file is no self-test.
    """
    return [*HEAD, *(_row(read_json(SelfTest, file)) for file in sorted(files))]


def _row(found: SelfTest) -> str:
    parts = {name: part.found or {} for name, part in found.parts.items()}
    passed = sum(part.error is None for part in found.parts.values())
    bits = parts.get("float32 products", {})
    products = f"{bits.get('matmul', '?')} bits, convolutions {bits.get('convolution', '?')}"
    low = parts.get("precisions", {}).get("low_precisions")
    confirmed = parts.get("confirmation", {})
    cells = (
        f"{found.device} ({found.target})",
        found.versions.get("mindspore", "?"),
        found.date,
        f"{passed} of {len(found.parts)}",
        ", ".join(map(str, low)) if isinstance(low, list) else "?",
        products,
        str(confirmed.get("speed") or "not measured").partition(";")[0],
    )
    return f"| {' | '.join(cells)} |"
