"""Surveys of networks that nobody has looked at."""

from typing import Any

from halfwise.evaluators.survey_result import Survey, SurveyedCell


def make_survey(*cells: SurveyedCell, **changes: Any) -> Survey:
    """A survey that found these Cells; what a test does not mind is that of the tiny workloads."""
    fields: dict[str, Any] = {
        "workload": "tiny",
        "metric": "accuracy",
        "direction": "maximize",
        "batch_size": 32,
        "trial_steps": 30,
        "full_steps": 300,
        "parameters": 0,
        "mindspore_version": "2.10.0",
        "cells": cells,
    }
    return Survey(**fields | changes)
