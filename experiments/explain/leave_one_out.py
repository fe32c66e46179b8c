"""Leave-one-out: a policy trained again with one of its low sites back in float32 at a time, then with several."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...evaluators.evaluator import Evaluator
from ...evaluators.json_file import read_json, write_json
from ...evaluators.outcome import Outcome
from ...policies import Policy, save_policy
from ...policies.errors import HalfwiseError
from ...search.site_space import SiteGroup
from ..localize_policy import returned_to_float32
from ..paired import lost_against
from ..progress import Display


@dataclass(frozen=True)
class Tried:
    """The policy with `back` in float32: what it lost in the metric's unit, or the cause why it does not train."""

    back: tuple[SiteGroup, ...]
    policy_file: Path
    lost: float | None
    cause: str | None

    def __str__(self) -> str:
        """One line for people."""
        found = f"lost {self.lost:.2g}" if self.lost is not None else f"does not train: {self.cause}"
        return f"with {', '.join(site.name for site in self.back)} in float32: {found}"


@dataclass(frozen=True)
class LeaveOneOut:
    """Trains `policy` as the trial was: same seed, batches and length; nothing twice, all is kept in `folder`.

    `float32` is what trainings are held against, `earlier` outcomes of the study by training key, `allowed` what
    may be lost, in the metric's unit.
    """

    policy: Policy
    evaluator: Evaluator
    float32: Outcome
    earlier: Mapping[str, Outcome]
    folder: Path
    allowed: float

    def holds(self, tried: Tried) -> bool:
        """Whether it trained and lost no more than is allowed."""
        return tried.lost is not None and tried.lost <= self.allowed

    def alone(self, sites: Sequence[SiteGroup], display: Display) -> list[Tried]:
        """Each site back by itself; those that leave least to be lost first, of those that fail the first given.

        Raises:
            HalfwiseError: a training did not run to its end, which says nothing of the policy.
        """
        display.note(
            f"training with each of {len(sites)} sites back in float32, {self.evaluator.steps} steps each"
        )
        return sorted((self._try((site,), display) for site in sites), key=_least_lost)

    def together(self, alone: Sequence[Tried], display: Display) -> Iterator[Tried]:
        """More and more of them back at once, best first, until what is lost is allowed; none if one is enough.

        Raises:
            HalfwiseError: as `alone`.
        """
        sites = tuple(site for tried in alone for site in tried.back)
        found = alone[0]
        for count in range(2, len(sites) + 1):
            if self.holds(found):
                return
            found = self._try(sites[:count], display)
            yield found

    def _try(self, back: tuple[SiteGroup, ...], display: Display) -> Tried:
        policy = returned_to_float32(self.policy, back, self.evaluator.survey)
        place = self.folder / policy.digest
        outcome = self._outcome(policy, place)
        lost = lost_against(self.float32, outcome) if outcome.status == "trained" else None
        tried = Tried(back, place / "policy.yaml", lost, outcome.cause)
        display.note(str(tried))
        return tried

    def _outcome(self, policy: Policy, place: Path) -> Outcome:
        kept = place / "outcome.json"
        if kept.exists():
            return read_json(Outcome, kept)
        outcome = self.evaluator.evaluate(policy, None, place, self.earlier)
        if outcome.status == "failed":
            raise HalfwiseError(f"a training did not run to its end: {outcome.cause}: {outcome.message}")
        save_policy(policy, place / "policy.yaml")
        write_json(outcome, kept)
        return outcome


def _least_lost(tried: Tried) -> tuple[bool, float]:
    """Those that do not train come last, in the order of suspicion that they have."""
    return (tried.lost is None, tried.lost or 0.0)
