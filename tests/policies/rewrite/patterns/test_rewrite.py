"""Rules on real networks: what is rewritten computes the same, what is not is named, and nothing else changes."""

from typing import Any

import pytest
from fresh_process import in_fresh_process
from rewriting_networks import FOLDED, LEFT

MODES = ("graph", "pynative")


@pytest.fixture(scope="module", params=MODES)
def folded(request) -> dict[str, Any]:
    """Every network that can be folded, folded in one mode, by name."""
    return in_fresh_process("rewriting_jobs:fold_all", networks=list(FOLDED), mode=request.param)


@pytest.fixture(scope="module")
def left() -> dict[str, Any]:
    """Every network that cannot be folded, by name."""
    return in_fresh_process("rewriting_jobs:fold_all", networks=list(LEFT), mode="pynative")


@pytest.mark.parametrize("network", FOLDED)
def test_awkward_networks_are_folded(folded, network):
    """Networks that MindSpore's own engine skips or breaks are folded whole, within 1e-5, and nothing is left."""
    found = folded[network]
    assert len(found["changed"]) == FOLDED[network][1]
    assert (found["left"], found["norms"]) == ([], [])
    assert 0 <= found["difference"] <= 1e-5
    assert found["modified"] <= 1e-5


def test_statements_of_every_kind_stand_around_a_match():
    """Loops, assertions, walrus, starred and keyword arguments around it stay as they are."""
    found = in_fresh_process("rewriting_jobs:fold", network="many statements", mode="pynative")
    assert found["changed"] == [["conv", "bn"], ["inner.conv", "inner.bn"]]
    assert found["left"] == []
    assert found["modified"] <= 1e-5


@pytest.mark.parametrize("network", LEFT)
def test_what_cannot_be_folded_is_named_and_left_whole(left, network):
    """Where folding would change the result, or cannot be followed, nothing changes; reason and place are told."""
    found = left[network]
    assert (found["changed"], found["difference"], found["modified"]) == ([], None, 0)
    assert set(found["left"]) == set(found["norms"])
    assert all(LEFT[network][1] in reason for reason in found["reasons"])
    assert all(
        "rewriting_networks.py:" in where or where in ("CellList", "SequentialCell") for where in found["where"]
    )


@pytest.mark.parametrize(("mode", "examples"), [("pynative", 8), ("graph", 3)])
def test_generated_networks(mode, examples):
    """Folding stays within 1e-5, no rules change nothing, every call is reached or named, the original is kept."""
    found = in_fresh_process("rewriting_jobs:generated_networks", mode=mode, examples=examples, seed_number=0)
    assert found >= examples


@pytest.mark.full
@pytest.mark.parametrize(("mode", "examples"), [("pynative", 15), ("graph", 8)])
@pytest.mark.parametrize("number", range(1, 4))
def test_many_generated_networks(mode, examples, number):
    """The same for a hundred more networks."""
    found = in_fresh_process("rewriting_jobs:generated_networks", mode=mode, examples=examples, seed_number=number)
    assert found >= examples


@pytest.mark.parametrize("mode", MODES)
def test_training_goes_on_as_it_would_have(mode):
    """A network rewritten beside its optimizer trains bit for bit as before: weights, statistics, random draws."""
    plain, rewritten = (
        in_fresh_process("rewriting_jobs:training", mode=mode, rewritten=each) for each in (False, True)
    )
    assert rewritten == plain


@pytest.mark.parametrize("mode", MODES)
def test_a_graph_is_replaced_by_one_cell(mode):
    """Of two sums the one of a layer with its own input becomes one Cell; the other is left with the reason."""
    found = in_fresh_process("rewriting_jobs:graph_pattern", mode=mode)
    assert found["changed"] == [["first", "`first_out + x`"]]
    assert [layer for layer, _ in found["left"]] == ["`second_out + y`"]
    assert found["difference"] == 0
    assert "self.first(x)" in found["source"]
    assert found["paths"] == ["", "first", "first.layer", "second"]


def test_bad_rules_and_networks_are_refused_in_words():
    """Each kind of rule or network that cannot be taken is one sentence that says what is wrong."""
    said = in_fresh_process("rewriting_jobs:refusals")
    assert "must return a Cell, Followed, Declined or nothing, but returned 3" in said["not a Cell"]
    assert "rule mine failed at conv (Plain, rewriting_networks.py:" in said["raises"]
    assert "does not come to an end" in said["endless"]
    assert "outputs differ by" in said["too far"]
    assert "output of the rewritten network is float16" in said["types"]
    assert "does not run" in said["does not run"]
    assert said["policy"].startswith("InputError: layer ")
    assert "differ from run to run" in said["random"]
    assert said["types, said so"] == "Float16"


def test_a_rewritten_network_can_be_rewritten_and_leaves_no_file():
    """A second rewriting reads the first one's construct; the source files go with the networks."""
    found = in_fresh_process("rewriting_jobs:again_and_gone")
    assert found["once"] > 0
    assert found["twice"] == ["its input is not made by Conv2d but by self.conv_add_one (AddOne, line 5)"]
    assert found["again"] == 0
    assert (found["there"], found["gone"]) == (True, True)
