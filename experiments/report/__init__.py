"""A study as one HTML page that needs nothing else: no network, no MLflow, no halfwise."""

from .files import write_report
from .page import front_html, report_html

__all__ = ["front_html", "report_html", "write_report"]
