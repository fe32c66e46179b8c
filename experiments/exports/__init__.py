"""Policies in the forms that other programs take; each says what it cannot express."""

from .amp_lists import amp_lists
from .form import Exported
from .layer_csv import layer_csv
from .mixlist import mixlist
from .python_snippet import python_snippet
from .rewritten_source import rewritten_source
from .subject import Subject, subject_of

FORMS = {
    "python": python_snippet,
    "amp-lists": amp_lists,
    "mixlist": mixlist,
    "csv": layer_csv,
}
"""Each form by its name, as `halfwise export --as` takes it; `source` is no matter of layers but of code."""

FILES = {
    "python": "precisions.py",
    "amp-lists": "amp_lists.py",
    "mixlist": "mixlist.json",
    "csv": "precisions.csv",
    "source": "constructs.py",
}
"""The file that each is written to where no other is named."""

__all__ = ["FILES", "FORMS", "Exported", "Subject", "rewritten_source", "subject_of"]
