"""`halfwise rewrite`: rules on a workload's network, and what is said of those that cannot be read."""

import ast
import json
import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import run_halfwise

from halfwise.experiments.rewrite_rules import RULES, asked_rules
from halfwise.policies.errors import InputError

SUPPORT = Path(__file__).parents[1] / "support"
halfwise = partial(run_halfwise, timeout_s=200)


def test_rewrite_prints_what_changed_and_writes_the_construct(tmp_path):
    """Each change is a line, the comparison's figure is the last, and the file holds the construct as Python."""
    file, before = tmp_path / "made.py", sorted(SUPPORT.iterdir())
    result = halfwise(
        *("rewrite", "--workload", "tiny_workloads:make_tiny", "--mode", "pynative"),
        *("--rule", "check-finite", "--rule", "fold-batchnorm", "--layer", "nn.Dense", "-o", str(file)),
    )
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "tiny: 2 matched, 2 changed, 0 left"
    assert lines[1].startswith("changed  check-finite: first -> first_check_finite (TinyNet, tiny_workloads.py:")
    assert lines[-1].startswith("outputs of the rewritten network differ by 0 at most, measured on one batch")
    calls = [each.func for each in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(each, ast.Call)]
    assert "self.second_check_finite" in map(ast.unparse, calls)
    assert sorted(SUPPORT.iterdir()) == before


def test_rewrite_says_when_nothing_matches():
    """Without a match nothing is compared, no figure is given, and that is no failure."""
    result = halfwise(
        *("rewrite", "--workload", "tiny_workloads:make_tiny", "--rule", "fold-batchnorm"),
        *("--mode", "pynative", "--format", "json"),
    )
    assert result.returncode == 0
    found = json.loads(result.stdout)
    assert (found["changed"], found["left"], found["largest_difference"]) == ([], [], None)


@given(
    st.sampled_from(sorted(RULES)),
    st.floats(min_value=1e-30, max_value=1e30),
    st.lists(st.sampled_from(["nn.Dense", "nn.Conv2d", "nn.LayerNorm"]), max_size=3),
)
def test_a_rule_reads_back(name, limit, layers):
    """A rule's text gives its name and limit, once for each layer type; folding goes behind no layer."""
    text = f"{name}={limit!r}" if RULES[name] else name
    asked = asked_rules((text,), tuple(layers))
    kinds = [None] if name == "fold-batchnorm" else list(dict.fromkeys(layers)) or ["nn.Dense", "nn.Conv2d"]
    assert [each.layer for each in asked] == kinds
    assert all((each.name, each.limit) == (name, limit if RULES[name] else None) for each in asked)


@given(
    st.one_of(
        st.text(max_size=14),
        st.builds(
            "{}={}".format, st.sampled_from(sorted(RULES)), st.text(alphabet="0123456789.-einfa _", max_size=6)
        ),
    )
)
def test_any_text_is_a_rule_or_refused(text):
    """Whatever is typed is either a rule with a positive, finite limit or an input error that repeats it."""
    name, equals, value = text.partition("=")
    takes_it = name in RULES and RULES[name] == bool(equals) and (not equals or _positive(value))
    if not takes_it:
        with pytest.raises(InputError, match=re.escape(f"--rule {text}: ")):
            asked_rules((text,), ())
        return
    (asked, *_) = asked_rules((text,), ())
    assert (asked.name, asked.limit) == (name, float(value) if equals else None)


def _positive(value: str) -> bool:
    try:
        return 0 < float(value) < float("inf")
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("rules", "layers", "words"),
    [
        (("fold-batchnrm",), (), "did you mean 'fold-batchnorm'"),
        (("clip-norm",), (), "takes a limit"),
        (("check-finite=3",), (), "takes no limit"),
        (("clip-value=-1",), (), "must be a positive number, but got '-1'"),
        (("check-finite",), ("nn.Dens",), "did you mean 'nn.Dense'"),
        (("clip-norm=1", "clip-norm=2"), (), "ask for clip-norm once"),
    ],
)
def test_what_is_wrong_is_named(rules, layers, words):
    """Each wrong input is refused with what is wrong and what is allowed."""
    with pytest.raises(InputError, match=words):
        asked_rules(rules, layers)
