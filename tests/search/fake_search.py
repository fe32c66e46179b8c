"""A small space and a made-up outcome for every policy, which the tests of search/ share."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from halfwise.policies import BUILTIN, DynamicLossScaling, Policy
from halfwise.search.advisors import Advisor, SamplerAdvisor
from halfwise.search.journal import open_journal
from halfwise.search.lease import Owner
from halfwise.search.space import LayerGroup, SearchSpace
from halfwise.search.study import Search
from halfwise.search.told import Proposal

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


def dead_owner() -> Owner:
    """An owner whose process is over: its number is this one's by now."""
    owner = Owner.here()
    return replace(owner, started=owner.started - 1)


def start(folder: Path, sampler: str = "random", seed: int = 0, **changes: Any) -> Search:
    """A study in a folder; reopened if it is there."""
    advisor = SamplerAdvisor(sampler, changes.pop("space", small_space()), seed)
    return open_study(folder, advisor, **{"fixed": LEVELS[:1], **changes})


def open_study(folder: Path, advisor: Advisor, fixed: Any = (), **changes: Any) -> Search:
    """A study in a folder as if each process before this one had been killed: what they ran is given up."""
    terms = {"quality_direction": "maximize", "owner": dead_owner(), **changes}
    search = Search.create(open_journal(folder / "journal.log"), "", advisor, fixed=fixed, **terms)
    for proposal in search.abandoned():
        search.give_up(proposal.number)
    return search


def asked(search: Search, limit: int | None = None) -> Proposal:
    """The next proposal of a search that has one."""
    proposal = search.ask(limit)
    assert isinstance(proposal, Proposal)
    return proposal


def figures(policy: Policy) -> tuple[float, float]:
    """A made-up quality and speed that depend on the policy alone; low is fast, but costs in body.0."""
    low = sum(rule == "float16" for rule in policy.layers.values())
    noise = int(hashlib.sha256(str(policy).encode()).hexdigest()[:4], 16) / 0xFFFF
    return (0.9 if policy.layers.get("body.0") == "float16" else 1.0) - 0.01 * noise, 100.0 + 10 * low


def tell(search: Search, proposal: Proposal) -> None:
    """Tell what a policy comes to; those with float16 in body.1 do not train."""
    if proposal.policy.layers.get("body.1") == "float16":
        search.tell_infeasible(proposal.number, "non-finite at step 0")
    else:
        search.tell(proposal.number, *figures(proposal.policy))


def run(search: Search, trials: int) -> list[Proposal]:
    """Ask and tell, one at a time."""
    proposals = []
    for _ in range(trials):
        proposal = asked(search)
        proposals.append(proposal)
        tell(search, proposal)
    return proposals
