"""The comparison of the op table with the policy."""

from halfwise.evaluators.evidence import prove
from halfwise.policies import OpLists, Policy, resolve


def test_every_step_is_as_asked(compiled):
    """What the rewrite layer made of each policy equals the policy, op by op."""
    for name in ("blocks", "blocks-other", "encoder", "functions-first", "shared"):
        step = compiled(name)
        proof = prove(step.table, step.assignments, step.policy)
        assert proof.mismatched == ()
        assert proof.holds
        assert proof.matched > 20


def test_another_policy_is_not_what_was_compiled(compiled):
    """Measured against a policy for another block, the ops of both blocks are named, gradients included."""
    step = compiled("blocks")
    other = Policy(default="float32", layers={"c": "float16"})
    proof = prove(step.table, resolve(other, step.outline), other)
    assert not proof.holds
    assert {wrong.layer.partition(".")[0] for wrong in proof.mismatched} == {"b", "c"}
    softmax = {(wrong.layer, wrong.asked, wrong.got) for wrong in proof.mismatched if wrong.op == "Softmax"}
    assert softmax == {("b", "float32", "float16"), ("c", "float16", "float32")}
    backward = [wrong for wrong in proof.mismatched if wrong.op == "GeLUGrad"]
    assert [wrong.layer for wrong in backward] == ["c.gelu", "b.gelu"]
    assert all(wrong.why.startswith("its gradient: asked by the layer") for wrong in backward)


def test_summary_reads_as_a_sentence(compiled):
    """Counts of low ops, of those kept float32, and what this device makes of the low ones."""
    step = compiled("shared")
    summary = prove(step.table, step.assignments, step.policy).summary
    assert summary == (
        "asked: 6 of 14 ops float16, 8 kept float32 by their layers; "
        "on this CPU 6 of the 6 run float32 kernels behind casts"
    )


def test_black_list_and_idle_entries(compiled):
    """An op that the black list keeps float32 is counted as such; a list entry that names no op here is idle."""
    step = compiled("functions-first")
    policy = Policy(default="float16", ops=OpLists(white_list=("Conv2D",), black_list=("Softmax",)))
    proof = prove(step.table, resolve(policy, step.outline), policy)
    assert proof.idle == ("Conv2D",)
    assert "4 kept float32 by the black list" in proof.summary
    assert not any(wrong.op == "Softmax" for wrong in proof.mismatched)
    assert {wrong.op for wrong in proof.mismatched} >= {"MatMul", "BiasAdd"}
