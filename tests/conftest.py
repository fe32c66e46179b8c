"""Settings that hold for every test."""

import os

from hypothesis import settings

# Before mlflow is imported anywhere: no test reports home.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("DO_NOT_TRACK", "1")

# No test is timed: on a busy machine an example takes as long as it takes.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A server that tests may ask for.
pytest_plugins = ["postgres"]
