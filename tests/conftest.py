"""Settings that hold for every test."""

import os

# Before mlflow is imported anywhere: no test reports home.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("DO_NOT_TRACK", "1")
