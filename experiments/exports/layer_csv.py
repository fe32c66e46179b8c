"""A policy as a table: one line a layer, and one for each op that has a rule of its own."""

import csv
import io
from collections.abc import Iterator

from ...policies.regions import asked_ops
from .form import Exported
from .subject import Subject

COLUMNS = ("layer", "op", "precision", "rule", "reason")
# A spreadsheet takes a cell that begins like this for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def layer_csv(subject: Subject) -> Exported:
    """`rule` is the pattern that decided, or "default"; the reason is the policy's own, empty where it gives none.

    The network itself has the empty path. A text that a spreadsheet would take for a formula gets a ' in front.
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows([_shown(cell) for cell in row] for row in _rows(subject))
    return Exported(file.getvalue(), ())


def _rows(subject: Subject) -> Iterator[tuple[str, str, str, str, str]]:
    reasons = subject.policy.reasons
    for assignment in subject.assignments():
        asked_ops(assignment, subject.policy)
        rule = assignment.rule
        yield assignment.path, "", assignment.precision, rule, reasons.get(rule, "")
        for op, precision in assignment.op_precisions.items():
            rule = assignment.op_rules[op]
            yield assignment.path, op, precision, rule, reasons.get(rule, "")


def _shown(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
