"""The three questions that people bring: why quality dropped, why nothing is faster, what the gradients do."""

from .answer import Answer
from .gradients import why_gradients
from .quality import why_quality
from .speed import why_speed
from .subject import Subject, subject_of

__all__ = ["Answer", "Subject", "subject_of", "why_gradients", "why_quality", "why_speed"]
