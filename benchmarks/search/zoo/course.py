"""A zoo network to be searched: outcomes come from the book where they are known, and from training where not."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from halfwise.evaluators.device_facts import DeviceFacts
from halfwise.policies.errors import HalfwiseError
from halfwise.search.propose.cost_model import Choices
from halfwise.search.propose.prior import Prior
from halfwise.search.proposers import Knowledge

from .laboratory import Laboratory
from .lengths import TRIAL_STEPS
from .outcomes import LOW, Book, Trained, book_path, read_book
from .plan import Plan

Train = Callable[[Choices], Trained]

GOAL = 0.95
"""The share of the best trainable policy's speed-up that is to be reached."""

# The cost model is less than 5% off the price of the compiled step.
_SURELY_TOO_SLOW = 0.95


class Course:
    """One network with its goal; `trained` counts the policies that the book did not hold."""

    def __init__(self, book: Book, hazards: int, train: Train) -> None:
        """`hazards` is how many were planted."""
        self.book = book
        self.hazards = hazards
        self.trained = 0
        self._train = train

    @cached_property
    def known(self) -> Knowledge:
        """What every searcher may know: costs, noise, what may be lost, and chances of harm."""
        network = self.book.network
        names = (site.name for site in network.costs.sites)
        chances = {(name, LOW): chance for name, chance in zip(names, network.chances, strict=True)}
        return Knowledge(network.costs, network.repeats.noise, network.allowed, Prior(chances))

    def outcome(self, choices: Choices) -> Trained:
        """What the policy comes to; what had to be trained is added to the book."""
        if choices not in self.book.outcomes:
            self.book.add(self._train(choices))
            self.trained += 1
        return self.book.outcomes[choices]

    def counted(self, outcome: Trained) -> float:
        """What the trial counts: 1, and its diagnosis by its steps over a trial's."""
        return 1 + outcome.diagnosis_steps / TRIAL_STEPS

    def reached(self, outcome: Trained) -> bool:
        """Whether it trains without loss beyond what is allowed, and is about as fast as can be."""
        lost = outcome.quality_lost
        return lost is not None and lost <= self.known.max_quality_lost and outcome.speedup >= self.needed

    def too_slow(self, choices: Choices) -> bool:
        """Whether the policy cannot reach the goal, whatever else it comes to."""
        return self.known.costs.speedup(choices) < _SURELY_TOO_SLOW * self.needed

    @cached_property
    def needed(self) -> float:
        """The priced speed-up from which on the goal is reached."""
        return GOAL * self.book.outcomes[self.book.network.best].speedup


def open_course(plan: Plan, folder: Path, device: Callable[[], DeviceFacts]) -> Course:
    """The planned network with its book in a folder; without one, all that a book begins with is found out.

    `device` is asked when something has to be trained.

    Raises:
        HalfwiseError: the network does not learn, or not under the policy that its plan calls the best trainable.
    """
    path = book_path(folder, plan.name)
    book = read_book(path) if path.exists() else _begin(plan, path, Laboratory(plan, device()))
    return Course(
        book, len(plan.truth.hazards), lambda choices: Laboratory(plan, device()).train(book.network, choices)
    )


def _begin(plan: Plan, path: Path, laboratory: Laboratory) -> Book:
    network = laboratory.look()
    best = laboratory.train(network, network.best)
    if best.quality_lost is None or best.quality_lost > network.allowed:
        raise HalfwiseError(
            f"the best policy of {plan.name} must lose at most {network.allowed:.3g}, but it lost "
            f"{best.quality_lost} ({best.cause}): a group does harm that is no hazard by the plan"
        )
    book = Book(path, network, ())
    book.add(best)
    return book
