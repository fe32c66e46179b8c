"""A training whose policy changes while it runs: by a schedule, and by a guard where a layer fails."""

import logging
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mindspore as ms
from mindspore import nn

from ...policies import Policy, PolicySchedule, Precision, raised, resolve, safer
from ...policies.errors import HalfwiseError
from ...policies.rewrite import apply, make_scaler, read_outline
from ..eager_origin import all_finite
from ..step import TrainStep
from ..step_state import StepState, put_state, put_value, take_state
from .blame import blame
from .checkpoint import Good, TrainingState, put_scaling, read, scaling_of, state_of, write
from .record import Change, ChangeKind, Raise, Record
from .settings import DEFAULT, Guard

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class StepResult:
    """What came of one batch: the unscaled loss, whether the weights were updated, and the loss scale used.

    `changes` are the lines of the log that this step added.
    """

    loss: float
    finite: bool
    loss_scale: float
    changes: tuple[Change, ...]


class GuardedTraining:
    """Trains a network under a policy or a schedule, and looks after it.

    Where the guard has to step in, the weights, the optimizer and the loss scaling go back to the last good step,
    the layer that went wrong moves to the next safer precision, the step is compiled again and takes the same
    batch once more; as often as needed. Where no layer can be named, all layers become float32. A batch that is
    not finite itself changes no policy. Without a `guard` only the schedule is followed.

    `train_step` is the Cell that trains, `policy` the one in force now. Every change stands in `log`, and goes to
    Python's logging as a warning.
    """

    def __init__(
        self,
        network: nn.Cell,
        loss: nn.Cell,
        optimizer: nn.Optimizer,
        schedule: Policy | PolicySchedule,
        inputs: int = 1,
        guard: Guard | None = DEFAULT,
    ) -> None:
        """The first `inputs` tensors of a batch go to the network, the rest to the loss.

        Raises:
            InputError: a policy of the schedule does not fit the network.
        """
        self.schedule = PolicySchedule.always(schedule) if isinstance(schedule, Policy) else schedule
        self.guard = guard
        self._outline = read_outline(network)
        for phase in self.schedule.phases:
            resolve(phase.policy, self._outline)
        self._record = Record()
        self.policy = self.schedule.policy_at(0)
        apply(self.policy, network)
        self.train_step = TrainStep(network, loss, optimizer, make_scaler(self.policy.loss_scaling), inputs)
        self.train_step.set_train()
        self._good = Good(take_state(self.train_step), 0)

    @property
    def steps(self) -> int:
        """Training steps done, skipped ones too."""
        return self._record.steps

    @property
    def log(self) -> tuple[Change, ...]:
        """Every change so far, in order."""
        return self._record.log

    def step(self, *batch: ms.Tensor) -> StepResult:
        """One training step on the network's inputs and the loss's labels.

        Raises:
            HalfwiseError: the step goes wrong with every layer in float32.
        """
        before = len(self.log)
        self.begin()
        loss, finite, scale = _read(self.settle(self.train_step(*batch), batch))
        return StepResult(loss, finite, scale, self.log[before:])

    def begin(self) -> None:
        """To be called before each call of `train_step`: a phase may begin here, or a change be taken back."""
        phase = self.schedule.number_at(self.steps)
        if self.steps and phase != self.schedule.number_at(self.steps - 1):
            self._note("phase", f"phase {phase + 1} of {len(self.schedule.phases)} begins", "as scheduled")
            self._put_policy()
        back = self._record.due_back(self.guard) if self.guard else None
        if back is not None:
            quiet = self.steps - self._record.quiet_since
            self._record = self._record.without_last()
            self._put_policy()
            self._note("taken back", f"{back} as the phase asks again", f"{quiet} quiet steps", back.layers)

    def settle(self, outputs: Sequence[ms.Tensor], batch: Sequence[ms.Tensor]) -> Sequence[ms.Tensor]:
        """To be called with what `train_step` gave for a batch; what it gives in the end.

        Raises:
            HalfwiseError: the step goes wrong with every layer in float32.
        """
        if self.guard is None:
            self._record = self._record.counted()
            return outputs
        why, state = self._examine(outputs, self.guard)
        while why and all_finite(batch):
            self._step_in(why, outputs, batch, self.guard)
            outputs = self.train_step(*batch)
            why, state = self._examine(outputs, self.guard)
        if why:
            self._pass_over(why)
        self._record = self._record.counted(self.guard, skipped=not why and not _read(outputs)[1])
        if state is not None:
            self._good = Good(state, self.steps)
        return outputs

    def state_dict(self) -> dict[str, Any]:
        """Everything beside Parameters that a resumed training needs, as plain data for JSON.

        Save the Parameters of `train_step` with it, or both at once by `save`.
        """
        return state_of(self.train_step, self.schedule, self._record).model_dump(mode="json")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state_dict`, after the Parameters were loaded; what they are now counts as good.

        Raises:
            InputError: it is no such state, or one of another schedule.
        """
        found = TrainingState.parse(state, self.schedule)
        self._record = found.record
        self._put_policy()
        put_scaling(self.train_step, found)
        self._good = Good(take_state(self.train_step), self.steps)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a MindSpore checkpoint from which a training goes on as if it had never stopped.

        The network's Parameters stand in it under their own names, so `mindspore.load_checkpoint(path, network)`
        takes them.

        Raises:
            InputError: the name does not end in .ckpt.
            NotWritten: the file cannot be written.
        """
        write(path, self.train_step, state_of(self.train_step, self.schedule, self._record), self._good)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on from what `save` wrote.

        Raises:
            InputError: the training was under another schedule.
            HalfwiseError: the file cannot be read, or is not of this network.
        """
        found = read(path)
        self.load_state_dict(found.state)
        now, self._good = found.states(self.train_step)
        put_state(self.train_step, now)

    def _examine(self, outputs: Sequence[ms.Tensor], guard: Guard) -> tuple[str | None, StepState | None]:
        """Why the guard must step in, None if it need not; and the state, if it is one to keep as good."""
        loss, finite, _ = _read(outputs)
        if not math.isfinite(loss):
            return f"the loss is {loss}", None
        if not finite:
            skips = self._record.passes(guard)
            return f"{skips} of the last {guard.window} steps were skipped" if skips else None, None
        if (self.steps + 1) % guard.keep_every:
            return None, None
        state = take_state(self.train_step)
        return (None, state) if state.finite else ("the weights are not finite after the update", None)

    def _step_in(self, why: str, outputs: Sequence[ms.Tensor], batch: Sequence[ms.Tensor], guard: Guard) -> None:
        """Raise what is to blame, and go back to what was good.

        Raises:
            HalfwiseError: nothing is left to raise.
        """
        found = self._to_raise(outputs, batch, guard)
        if found is None:
            put_state(self.train_step, self._good.state)
            raise HalfwiseError(
                f"step {self.steps}: {why} with every layer in float32, so it is not the precision: look at the "
                "learning rate and the data"
            )
        self._record = self._record.with_raise(found)
        self._put_policy()
        put_state(self.train_step, self._good.state)
        self._note("raised", f"{found} to {found.precision}", why, found.layers, self._good.steps)

    def _to_raise(self, outputs: Sequence[ms.Tensor], batch: Sequence[ms.Tensor], guard: Guard) -> Raise | None:
        """The first layer to blame that can be raised; all that are low where none can; None where none is low."""
        assignments = {each.path: each for each in resolve(self.policy, self._outline)}
        rises: dict[str, Precision] = {
            path: to for path, each in assignments.items() if (to := safer(each, guard.low_precisions))
        }
        if not rises:
            return None
        if not take_state(self.train_step).finite:
            put_state(self.train_step, self._good.state)
        # What the step used: it has been lowered since.
        put_value(self.train_step.scaler.scale_value, outputs[2].asnumpy())
        first = next((each.layer for each in blame(self.train_step, batch) if each.layer in rises), None)
        if first is None:
            return Raise(layers=tuple(rises), precision="float32")
        return Raise(layers=(first,), precision=rises[first])

    def _pass_over(self, why: str) -> None:
        """Leave a batch that is not finite behind, and what it did to statistics that the network keeps."""
        spoilt = not take_state(self.train_step).finite
        if spoilt:
            put_state(self.train_step, self._good.state)
        self._note(
            "kept",
            "the policy stays",
            f"the batch is not finite, and {why}",
            (),
            self._good.steps if spoilt else None,
        )

    def _put_policy(self) -> None:
        """Make the phase's policy with what is raised the one in force; compiled at the next step."""
        before = self.policy.loss_scaling
        self.policy = raised(self.schedule.policy_at(self.steps), self._outline, self._record.floors)
        apply(self.policy, self.train_step.network)
        # The step keeps its graph, with the old regions in it, until it is told to forget it.
        self.train_step.compile_cache.clear()
        if self.policy.loss_scaling != before:
            self.train_step.scaler = make_scaler(self.policy.loss_scaling)
            scaler = {key: parameter.asnumpy().copy() for key, parameter in scaling_of(self.train_step)}
            good = StepState({**self._good.state.arrays, **scaler}, self._good.state.random)
            self._good = Good(good, self._good.steps)

    def _note(
        self, kind: ChangeKind, what: str, why: str, layers: tuple[str, ...] = (), good_steps: int | None = None
    ) -> None:
        change = Change(step=self.steps, kind=kind, what=what, why=why, layers=layers, good_step=good_steps)
        self._record = self._record.noted(change)
        _LOG.warning("%s", change)


def _read(outputs: Sequence[ms.Tensor]) -> tuple[float, bool, float]:
    """Loss, whether the update was applied, and the loss scale; waits for the step."""
    loss, finite, scale = (output.asnumpy().item() for output in outputs)
    return float(loss), bool(finite), float(scale)
