"""The job that trains several policies one after the other in one process, each as a trial does.

A process for each would spend a third of its time on warming up. A search needs such processes, because precision
state may leak from one training to the next; none does here, where policies set regions only and all is graph
mode. A test holds the outcomes against those of fresh processes.
"""

from halfwise.evaluators.trial import run_trial

from .shift_request import Outcomes, ShiftRequest


def train_shift(request: ShiftRequest) -> Outcomes:
    """Run the trials; each leaves in its folder what a trial leaves there.

    Raises:
        Exception: what `run_trial` raises.
    """
    outcomes = []
    for trial in request.trials:
        trial.folder.mkdir()
        outcomes.append(run_trial(trial))
    return Outcomes(outcomes=tuple(outcomes))
