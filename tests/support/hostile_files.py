"""Files that somebody else made: valid ones bent out of shape, raw bytes, and what has harmed other readers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
MORE_FIELDS = """
max_memory: 16GB
time_limit: 1h30m
precisions: [float32, float16]
"""
VALID: Mapping[str, str] = {
    "policy": (ROOT / "examples" / "policy.yaml").read_text(encoding="utf-8"),
    "experiment": (ROOT / "examples" / "my_workload.yaml").read_text(encoding="utf-8") + MORE_FIELDS,
    "devices": (ROOT / "benchmarks" / "search" / "zoo" / "devices.yaml").read_text(encoding="utf-8"),
}

# Each would leave a file called `canary` behind, load the module `hostile_module`, or never end.
HOSTILE_TEXTS = (
    '!!python/object/apply:os.system ["touch canary"]',
    '!!python/object/apply:subprocess.check_output [["touch", "canary"]]',
    "!!python/object/new:os.system [touch canary]",
    "!!python/name:os.system",
    "!!python/module:hostile_module",
    "!!python/object:hostile_module.Harm {}",
    "!<tag:yaml.org,2002:python/name:os.system> ''",
    "!<%1b[2J> x",
    "%TAG ! tag:yaml.org,2002:python/\n---\n!name:os.system ''",
    "a: &a [x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nd: [*c, *c, *c]",
    "&a [*a, *a]",
    "<<: {default: float16}",
    "? {a: b}\n: c",
    "? [a]\n: b",
    "!!binary aGFsZndpc2U=",
    "!!set {a, b}",
    "!!timestamp 2026-01-01",
    "a: 1\n---\nb: 2",
    "[" * 200,
    "{a: " * 200,
    "- " * 200,
    "? " * 200,
    '"\\ud800"',
    '"\\x1b[2J\\x07"',
    '\'__import__("os").system("touch canary")\'',
    "$(touch canary)",
    "`touch canary`",
    "{{ 7 * 7 }}",
    "\ufeff",
    "\x00",
    "\x1b[2J",
    "\u2028",
    "\u202e",
    ".nan",
    "-.inf",
    "1e999",
    "9" * 5000,
    "0x" + "f" * 400,
    "\t",
    "x" * 5000,
    "=",
    "|",
    ">",
    "'",
    '"',
    "%",
    "@",
    "#",
    ": ",
    "\n",
    ",",
    "]",
    "}",
)
HOSTILE_VALUES: tuple[Any, ...] = (
    *HOSTILE_TEXTS,
    *("../../../etc/passwd", "/dev/zero", "file:///etc/passwd", "a\x00b", "~root", "\\\\host\\share", "con", "."),
    *(
        "<script>alert(1)</script>",
        "[bold red]x[/]",
        "[/x]",
        "$\\frac$",
        "a\nb\r\x1b]0;t\x07",
        "__class__",
        "\U0001f600",
    ),
    *(None, True, False, 0, -1, 2**63, 10**30, 1e308, 5e-324, float("nan"), float("inf"), "", " ", "null", "~"),
    *(
        [],
        {},
        [[]],
        [[[[[[[[[[]]]]]]]]]],
        {"": {"": {"": {}}}},
        ["float16"] * 500,
        {f"k{i}": i for i in range(300)},
    ),
)


def hostile_content(kind: str) -> st.SearchStrategy[bytes]:
    """The content of a file that is read as one of the kinds in `VALID`."""
    valid = VALID[kind]
    return st.one_of(
        _bent_trees(yaml.safe_load(valid)).map(_as_text),
        _cut_texts(valid),
        _cut_texts(valid).flatmap(_cut_texts),
        st.sampled_from(HOSTILE_TEXTS).map(str.encode),
        st.binary(max_size=300),
        st.builds(_spliced_bytes, st.just(valid.encode()), st.integers(0, len(valid)), st.binary(max_size=8)),
    ).map(lambda content: content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


def hostile_json(valid: Any) -> st.SearchStrategy[bytes]:
    """The content of a JSON file, from a valid value."""
    text = json.dumps(valid)
    return st.one_of(
        _bent_trees(valid).map(lambda tree: json.dumps(tree, default=str)),
        _cut_texts(text),
        st.sampled_from(HOSTILE_TEXTS),
        st.builds(lambda depth: "[" * depth, st.sampled_from([60, 300, 100_000])),
        st.binary(max_size=300),
    ).map(lambda content: content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))


def _as_text(tree: Any) -> str:
    # JSON is YAML too; dates of a YAML file are texts in it.
    return json.dumps(tree, default=str, ensure_ascii=False)


def _spliced_bytes(content: bytes, place: int, inserted: bytes) -> bytes:
    return content[:place] + inserted + content[place:]


@st.composite
def _cut_texts(draw: st.DrawFn, text: str) -> str:
    """A part of the text left out, said twice, or replaced by something hostile."""
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 80)))
    inserted = draw(st.sampled_from(["", text[start:end] * 2, *HOSTILE_TEXTS]) | st.text(max_size=5))
    return text[:start] + inserted + text[end:]


@st.composite
def _bent_trees(draw: st.DrawFn, tree: Any) -> Any:
    """One to three entries somewhere in the tree replaced, renamed, added or wrapped."""
    for _ in range(draw(st.integers(1, 3))):
        tree = draw(_bent(tree))
    return tree


@st.composite
def _bent(draw: st.DrawFn, tree: Any) -> Any:
    inner = isinstance(tree, dict | list) and len(tree) > 0
    if inner and draw(st.integers(0, 3)):
        places = sorted(tree, key=str) if isinstance(tree, dict) else range(len(tree))
        place = draw(st.sampled_from(list(places)))
        copy: Any = tree.copy()
        change = draw(st.sampled_from(["bend", "bend", "replace", "drop", "rename"]))
        if change == "bend":
            copy[place] = draw(_bent(tree[place]))
        elif change == "replace":
            copy[place] = draw(_values)
        else:
            value = copy.pop(place)
            if change == "rename" and isinstance(copy, dict):
                copy[draw(_keys)] = value
        return copy
    if isinstance(tree, dict) and draw(st.booleans()):
        return {**tree, draw(_keys): draw(_values)}
    wraps = draw(st.sampled_from([0, 0, 1, 5, 40]))
    value = draw(_values)
    for _ in range(wraps):
        value = [value]
    return value


_keys = st.sampled_from([value for value in HOSTILE_VALUES if isinstance(value, str)]) | st.text(max_size=5)
_values = st.sampled_from(HOSTILE_VALUES) | st.text(max_size=5) | st.integers() | st.floats()
