"""Settings that hold for every test."""

import os
import signal

from hypothesis import settings

# Before mlflow is imported anywhere: no test reports home.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("DO_NOT_TRACK", "1")

# No test is timed: on a busy machine an example takes as long as it takes.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell lets what it starts in the background ignore these, and everything that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A server that tests may ask for.
pytest_plugins = ["postgres"]
