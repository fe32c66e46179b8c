"""The entries of a precision list for a network, and the order in which the usual advice would try them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...evaluators.sensitivity.result import Sensitivity
from ...evaluators.survey_result import Survey, SurveyedCell
from ...policies import OP_CLASSES, LowPrecision, Policy, Precision
from ...policies.layer_types import LAYER_TYPES
from ...policies.ops import family
from ...policies.rules import believe, noisy_or


@dataclass(frozen=True)
class Entry:
    """One line of a list: a layer class of MindSpore's, or an op that layers of the user's own compute.

    `harm` is the chance that it harms in low precision, by the rules over a float32 run; `gain_s` what it saves of
    a step in low precision beside float32, by price, others as the list starts: negative where it costs.
    """

    pattern: str
    harm: float
    gain_s: float

    def applied(self, policy: Policy, precision: Precision) -> Policy:
        """The list with this entry in a precision."""
        return policy.replace(layers={**policy.layers, self.pattern: precision})


def entries_of(
    survey: Survey, found: Sensitivity, start: Policy, precision: LowPrecision, price_s: Callable[[Policy], float]
) -> tuple[Entry, ...]:
    """Every entry that the network has ops for, in the order of the network; `price_s` prices a policy's step."""
    entries: list[Entry] = []
    for pattern, harm in _harms(survey, found, precision).items():
        low, float32 = (Entry(pattern, harm, 0.0).applied(start, each) for each in (precision, "float32"))
        entries.append(Entry(pattern, harm, price_s(float32) - price_s(low)))
    return tuple(entries)


def towards_low(entries: Sequence[Entry]) -> list[Entry]:
    """Least chance of harm first, of equal ones the largest gain."""
    return sorted(entries, key=lambda entry: (round(entry.harm, 2), -entry.gain_s))


def towards_float32(entries: Sequence[Entry]) -> list[Entry]:
    """Largest chance of harm first, of equal ones that which costs least speed."""
    return sorted(entries, key=lambda entry: (-round(entry.harm, 2), entry.gain_s))


def _harms(survey: Survey, found: Sensitivity, precision: LowPrecision) -> dict[str, float]:
    chances: dict[str, list[float]] = {}
    cells = {cell.path: cell for cell in survey.cells}
    parts = {pattern: part for part in found.parts for pattern in part.covers}
    for group in found.groups:
        whole = believe(group, precision).probability
        cell = cells["" if group.covers[0] == "." else group.covers[0]]
        for pattern, op in _patterns(cell):
            part = next((parts[f"{path}::{op}"] for path in group.covers if f"{path}::{op}" in parts), None)
            chances.setdefault(pattern, []).append(whole if part is None else believe(part, precision).probability)
    return {pattern: noisy_or(found) for pattern, found in chances.items()}


def _patterns(cell: SurveyedCell) -> Iterator[tuple[str, str | None]]:
    """A layer of MindSpore's is one entry; of a user's own each op is, but those that follow their data anyway."""
    if cell.type_names[0] in LAYER_TYPES:
        yield cell.type_names[0], None
        return
    for op in dict.fromkeys(family(op) for op in cell.ops):
        if OP_CLASSES.get(op) not in (None, "inplace_normalization"):
            yield f"**::{op}", op
