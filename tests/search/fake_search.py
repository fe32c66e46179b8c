"""A small space and a made-up outcome for every policy, which the tests of search/ share."""

import hashlib
from pathlib import Path
from typing import Any

from halfwise.policies import BUILTIN, DynamicLossScaling, Policy
from halfwise.search.advisors import SamplerAdvisor
from halfwise.search.space import LayerGroup, SearchSpace
from halfwise.search.study import Proposal, Search

LEVELS = tuple((name, BUILTIN[name]) for name in ("O0", "O1", "O2", "O3", "auto"))


def small_space(layers: int = 4, ops: tuple[str, ...] = ("MatMul", "Softmax")) -> SearchSpace:
    """A space of a few layers, each with three choices, and a few ops."""
    return SearchSpace(
        groups=tuple(LayerGroup(f"body.{i}", (f"body.{i}",)) for i in range(layers)),
        layer_choices=("float16", "float32", "auto"),
        ops=ops,
        low_precision="float16",
        loss_scaling=DynamicLossScaling(),
        mode="graph",
    )


def start(folder: Path, sampler: str = "random", seed: int = 0, **changes: Any) -> Search:
    """A study in a folder; reopened if it is there."""
    terms = {"quality_direction": "maximize", "fixed": LEVELS[:1], **changes}
    advisor = SamplerAdvisor(sampler, terms.pop("space", small_space()), seed)
    return Search.create(folder / "journal.log", advisor, **terms)


def asked(search: Search) -> Proposal:
    """The next proposal of a search that has one."""
    proposal = search.ask()
    assert proposal is not None
    return proposal


def figures(policy: Policy) -> tuple[float, float]:
    """A made-up quality and speed that depend on the policy alone; low is fast, but costs in body.0."""
    low = sum(rule == "float16" for rule in policy.layers.values())
    noise = int(hashlib.sha256(str(policy).encode()).hexdigest()[:4], 16) / 0xFFFF
    return (0.9 if policy.layers.get("body.0") == "float16" else 1.0) - 0.01 * noise, 100.0 + 10 * low


def run(search: Search, trials: int) -> list[Proposal]:
    """Ask and tell, one at a time; policies with float16 in body.1 do not train."""
    proposals = []
    for _ in range(trials):
        proposal = asked(search)
        proposals.append(proposal)
        if proposal.policy.layers.get("body.1") == "float16":
            search.tell_infeasible(proposal.number, "non-finite at step 0")
        else:
            search.tell(proposal.number, *figures(proposal.policy))
    return proposals
