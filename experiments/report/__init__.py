"""A study as one HTML page that needs nothing else: no network, no MLflow, no halfwise."""

from .page import front_html, report_html

__all__ = ["front_html", "report_html"]
