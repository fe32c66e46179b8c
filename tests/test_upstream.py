"""What the page on MindSpore's faults says is so: each of its programs prints what stands below it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "upstream.md"
# A program, and what the text behind it says that it prints.
_PART = re.compile(
    r"^## (?P<title>.+?)$.*?^```python\n(?P<program>.*?)^```\n\nprints (?P<words>[^\n]+)", re.M | re.S
)
PARTS = [match.groupdict() for match in _PART.finditer(PAGE.read_text(encoding="utf-8"))]
EXACT = [part for part in PARTS if part["words"].startswith("`")]


def printed(program: str, folder: Path) -> str:
    """What the program prints in a process of its own, as a person would start it."""
    file = folder / "shown.py"
    file.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_every_part_of_the_page_has_a_program():
    """Each fault can be reproduced, and all but the one that hangs on the processor have their exact words."""
    titles = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.M)
    assert [part["title"] for part in PARTS] == titles
    assert len(EXACT) == len(PARTS) - 1


@pytest.mark.full
@pytest.mark.parametrize("part", EXACT, ids=[part["title"] for part in EXACT])
def test_a_fault_shows_as_the_page_says(part: dict[str, str], tmp_path: Path):
    """MindSpore still does what the page says; where it no longer does, the page and our way round it can go."""
    words = re.match(r"`([^`]+)`", part["words"])
    assert words is not None
    assert printed(part["program"], tmp_path).splitlines()[-1] == words[1]


@pytest.mark.full
def test_the_convolution_names_its_implementation(tmp_path: Path):
    """Whatever the processor: the program shows which convolution oneDNN picked."""
    (part,) = [part for part in PARTS if part not in EXACT]
    lines = [line.split(",") for line in printed(part["program"], tmp_path).splitlines()]
    picked = [line[6] for line in lines if line[2:6] == ["primitive", "exec", "cpu", "convolution"]]
    assert len(picked) == 1
    assert ":" in picked[0]
