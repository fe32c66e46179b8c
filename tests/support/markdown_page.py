"""What a markdown page holds: its headings, fenced blocks, links and commands."""

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", flags=re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the file that the sentence before it names last, if one does."""

    language: str
    text: str
    file: str | None

    @property
    def lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.text.splitlines() if line.strip()]


@dataclass(frozen=True)
class Page:
    """The text of a page."""

    text: str

    @classmethod
    def read(cls, file: Path) -> "Page":
        """The page in a file."""
        return cls(file.read_text(encoding="utf-8"))

    @property
    def blocks(self) -> list[Block]:
        """All fenced blocks, in order."""
        found = []
        end = 0
        for match in _FENCE.finditer(self.text):
            named = re.findall(r"`([\w-]+\.\w+)`", self.text[end : match.start()].rstrip().rpartition("\n\n")[2])
            found.append(Block(match["language"], match["text"], named[-1] if named else None))
            end = match.end()
        return found

    @property
    def prose(self) -> str:
        """The page without its fenced blocks."""
        return _FENCE.sub("", self.text)

    @property
    def heading_levels(self) -> list[int]:
        """The level of each heading, in order."""
        return [len(marks) for marks in re.findall(r"^(#+) ", self.prose, flags=re.M)]

    @property
    def links(self) -> list[str]:
        """The targets of all links and pictures, in order."""
        return re.findall(r"\]\(([^)\s]+)\)", self.prose)

    @property
    def code(self) -> list[str]:
        """What stands in backticks within sentences, in order."""
        return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", self.prose)

    @property
    def commands(self) -> list[str]:
        """Every `halfwise ...` command: in sentences, in shell blocks, and in indented lines."""
        indented = re.findall(r"^ {4}(halfwise .+)$", self.prose, flags=re.M)
        shell = [line for block in self.blocks if block.language in ("sh", "bash") for line in _joined(block.text)]
        spoken = [text for text in self.code if text.startswith("halfwise ")]
        return [*indented, *(line for line in shell if line.startswith("halfwise ")), *spoken]


def _joined(text: str) -> list[str]:
    return re.sub(r"\\\n\s*", "", text).splitlines()
