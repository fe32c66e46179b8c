"""Training under policies that change: by schedule, and where a layer turns out to need a safer precision."""

from .callback import GuardCallback
from .record import Change
from .settings import Guard
from .training import GuardedTraining, StepResult

__all__ = ["Change", "Guard", "GuardCallback", "GuardedTraining", "StepResult"]
