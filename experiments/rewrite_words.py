"""A rewriting's report in words."""

from collections.abc import Iterator

from ..evaluators.rewriting_result import RewritingResult


def rewriting_lines(found: RewritingResult) -> Iterator[str]:
    """Counts, a line for each change and each layer that was left, and what the comparison measured."""
    yield f"{found.workload}: {found.matched} matched, {len(found.changed)} changed, {len(found.left)} left"
    for change in found.changed:
        yield f"changed  {change.rule}: {', '.join(change.layers)} -> {change.made} ({change.where})"
    for left in found.left:
        yield f"left     {left.rule}: {left.layer} ({left.where}): {left.reason}"
    if found.largest_difference is None:
        yield "nothing changed, so there was nothing to compare"
    else:
        yield (
            f"outputs of the rewritten network differ by {found.largest_difference:.2g} at most, "
            f"measured on one batch in evaluation; the rules allow {found.tolerance:.2g}"
        )
