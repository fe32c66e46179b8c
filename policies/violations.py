"""How a validator names the very entry that breaks a rule."""

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError


class Violation(NamedTuple):
    """A broken rule: where, counted from the value under validation, what the rule is, and what was found."""

    place: tuple[str | int, ...]
    rule: str
    found: object


def fail(violations: Iterable[Violation]) -> None:
    """Raise all violations at once, each at its own place; nothing happens when there are none.

    Raises:
        ValidationError: pydantic merges it into the error of the value that is being validated.
    """
    details = [
        InitErrorDetails(
            type=PydanticCustomError("rule", "{rule}", {"rule": violation.rule}),
            loc=violation.place,
            input=violation.found,
        )
        for violation in violations
    ]
    if details:
        raise ValidationError.from_exception_data("rule", details)
