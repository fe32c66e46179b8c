"""docs/tutorial.md, run from top to bottom: what it tells a reader to write and type, and what it shows."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_page import Block, Page

ROOT = Path(__file__).parents[2]
PAGE = Page.read(ROOT / "docs" / "tutorial.md")
WRITTEN = ("python", "yaml", "diff")


def patched(text: str, patch: str) -> str:
    """A file's text after a patch whose hunks each fit in exactly one place."""
    for hunk in patch.partition("@@\n")[2].split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(before) == 1, before
        text = text.replace(before, "".join(line[1:] for line in lines if line[0] != "-"))
    return text


def follows(shown: str, printed: str) -> bool:
    """Whether each shown line was printed, in that order: … stands for any text, a figure for any figure."""
    at = 0
    for line in shown.splitlines():
        match = re.compile(as_pattern(line)).search(printed, at)
        if match is None:
            return False
        at = match.end()
    return True


def as_pattern(line: str) -> str:
    """The regular expression that stands for a shown line."""
    parts = re.split(r"(…|\d(?:[\d,.]*\d)?)", line)
    gaps = (".*" if gap == "…" else r"\d(?:[\d,.]*\d)?" for gap in parts[1::2])
    words = map(re.escape, parts[::2])
    return "".join(part for pair in itertools.zip_longest(words, gaps, fillvalue="") for part in pair)


def run(commands: str, folder: Path) -> str:
    """What the commands print, typed into a shell in that folder."""
    environment = {name: value for name, value in os.environ.items() if name != "HALFWISE_HOME"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=800
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr


def written_lines(block: Block) -> int:
    """How many lines a reader writes for a block: of a patch the new ones."""
    if block.language == "diff":
        return sum(line.startswith("+") for line in block.lines)
    return len(block.lines)


def test_a_reader_writes_fourteen_lines():
    """From a script that knows nothing of halfwise to a training under the policy, as the page says."""
    total = sum(written_lines(block) for block in PAGE.blocks if block.language in WRITTEN)
    assert total == 14
    assert "fourteen lines" in PAGE.text.partition("## ")[0]


@pytest.mark.parametrize("name", ["train.py", "evaluate.py"])
def test_the_readers_scripts_know_nothing_of_halfwise(name):
    """The tutorial starts from scripts of a stranger's."""
    assert "halfwise" not in (ROOT / "examples" / "tutorial" / name).read_text(encoding="utf-8")


def test_shown_output_is_compared():
    """Figures may differ, words and order may not."""
    assert follows("accuracy 0.97\ndone …", "x\naccuracy 0.9\ndone in 3 s\n")
    assert follows("holds.", "it holds.")
    assert not follows("accuracy 0.97", "accuracy nan")
    assert not follows("a\nb", "b\na")


@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_page_from_top_to_bottom(tmp_path):
    """Each file is written, each command typed, and what the page shows of their output was printed."""
    for script in (ROOT / "examples" / "tutorial").glob("*.py"):
        shutil.copy(script, tmp_path)
    printed, accuracies = "", []
    for block in PAGE.blocks:
        if block.language == "sh":
            printed = run(block.text, tmp_path)
            accuracies += [float(found) for found in re.findall(r"^accuracy.* (\d\.\d+)$", printed, flags=re.M)]
        elif block.language == "text":
            assert follows(block.text, printed), f"shown:\n{block.text}\nprinted:\n{printed}"
        elif block.language == "diff":
            file = tmp_path / block.text.split(maxsplit=2)[1]
            file.write_text(patched(file.read_text(encoding="utf-8"), block.text), encoding="utf-8")
        else:
            assert block.file is not None
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    before, under_the_policy, of_the_checkpoint = accuracies
    assert min(accuracies) > 0.95
    assert under_the_policy == pytest.approx(before, abs=0.015)
    assert of_the_checkpoint == pytest.approx(under_the_policy, abs=0.005)
