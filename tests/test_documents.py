"""README and docs: every command in them exists, and each language says what the other says."""

import re
import shlex
from pathlib import Path

import click
import pytest
from markdown_page import Page

from halfwise.experiments.cli import halfwise

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
COMMANDS = [
    pytest.param(command, id=f"{file.name}: {command[:60]}")
    for file in PAGES
    if file.name != "CHANGELOG.md"
    for command in dict.fromkeys(Page.read(file).commands)
]
TRANSLATED = ["README.md", "docs/tutorial.md"]


def parse(command: str) -> None:
    """Hold a command against the program without running it; sentences may leave out what stands behind its name.

    Raises:
        click.UsageError: no such command, option or choice; an option without its value; a word too many.
    """
    words = shlex.split(command.partition(" 2>")[0].replace("...", "").replace("…", ""), comments=True)[1:]
    group: click.Command = halfwise
    while isinstance(group, click.Group) and words and not words[0].startswith("-"):
        name = words.pop(0)
        found = group.commands.get(name)
        if found is None:
            raise click.UsageError(f"no command {name!r}")
        group = found
    context = click.Context(group)
    values, rest, _ = group.make_parser(context).parse_args(words)
    if rest:
        raise click.UsageError(f"unexpected {rest}")
    for parameter in group.params:
        value = values.get(parameter.name or "")
        if isinstance(parameter.type, click.Choice) and isinstance(value, str):
            parameter.type.convert(value, parameter, context)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_documented_command_can_be_typed(command):
    """Its name, its options and the number of its words are the program's."""
    parse(command)


@pytest.mark.parametrize(
    "command",
    [
        "halfwise serach x",
        "halfwise front a b",
        "halfwise front --plott",
        "halfwise search x --trials",
        "halfwise search x --device TPU",
    ],
)
def test_a_wrong_command_is_found(command):
    """A misspelled command or option, a word too many, an option without its value, and no such choice."""
    with pytest.raises(click.UsageError):
        parse(command)


def test_most_pages_show_commands():
    """Commands are found in sentences, tables, indented lines and shell blocks."""
    assert len(COMMANDS) > 60


def test_every_command_stands_in_the_readme():
    """The table lists each command of the program."""
    listed = {command.split()[1] for command in Page.read(ROOT / "README.md").commands}
    assert listed >= set(halfwise.commands)


def test_every_page_is_linked_from_the_readme():
    """A reader finds each page of docs/ from the README."""
    linked = {link.partition("#")[0] for link in Page.read(ROOT / "README.md").links}
    assert {f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md") if ".zh-CN" not in file.name} <= linked


def in_chinese(name: str) -> Path:
    """The Chinese page of an English one."""
    return (ROOT / name).with_suffix(".zh-CN.md")


def in_one_language(links: list[str]) -> list[str]:
    """Links without what differs between languages: the mark of the language, and the anchors."""
    return [link.replace(".zh-CN", "").partition("#")[0] for link in links]


@pytest.mark.parametrize("name", TRANSLATED)
def test_the_languages_have_the_same_parts(name):
    """As many headings of the same levels, the same blocks of code, and the same links, in order."""
    english, chinese = Page.read(ROOT / name), Page.read(in_chinese(name))
    assert chinese.heading_levels == english.heading_levels
    assert [(b.language, code_of(b.text), b.file) for b in chinese.blocks] == [
        (b.language, code_of(b.text), b.file) for b in english.blocks
    ]
    assert in_one_language(chinese.links) == in_one_language(english.links)


@pytest.mark.parametrize("name", TRANSLATED)
def test_the_languages_name_the_same_commands(name):
    """What stands in backticks is the same, and so is the number of the tables' rows."""
    english, chinese = Page.read(ROOT / name), Page.read(in_chinese(name))
    assert sorted(chinese.code) == sorted(english.code)
    assert len(re.findall(r"^\|", chinese.prose, flags=re.M)) == len(re.findall(r"^\|", english.prose, flags=re.M))


@pytest.mark.parametrize("name", TRANSLATED)
def test_the_languages_lead_to_each_other(name):
    """The first line of each is a link to the other."""
    english, chinese = ROOT / name, in_chinese(name)
    assert f"]({chinese.name})" in english.read_text(encoding="utf-8").splitlines()[0]
    assert f"]({english.name})" in chinese.read_text(encoding="utf-8").splitlines()[0]


def code_of(text: str) -> str:
    """A block without its comments, which are translated."""
    return re.sub(r" *#.*", "", text)
