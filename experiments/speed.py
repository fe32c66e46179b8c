"""The speed that a study compares policies by: interchangeable kinds with one face."""

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from ..evaluators.outcome import Outcome

# What a search on a CPU prices for: its peaks have sources, and its float32 (TF32) is the honest baseline there.
DEFAULT_ROW = "a100-tf32"


class Speed(Protocol):
    """How fast a policy trains, in samples per second, by one way of knowing it."""

    @property
    def label(self) -> str:
        """What every figure of this speed is called: the kind, and the device."""
        ...

    def of(self, outcome: Outcome) -> float | None:
        """Samples per second, counting applied updates only; None where it is not known."""
        ...


@dataclass(frozen=True)
class Measured:
    """Float32's speed times the median ratio that was measured side by side with it.

    Where there is no such ratio (the float32 trial itself, and a study whose float32 does not train) it is that of
    the trial's own steps. On a CPU it is samples per second of process CPU time: on shared machines wall time says
    more about the neighbours than about the policy (22-39% between equal runs in fresh processes, against 3-13%).
    """

    device: str

    @property
    def label(self) -> str:
        """Such as "measured on Ascend"."""
        return "measured on CPU, per second of CPU time" if self.device == "CPU" else f"measured on {self.device}"

    def of(self, outcome: Outcome) -> float | None:
        """None where the steps were not timed."""
        if outcome.against_float32 is not None and outcome.float32_samples_per_s is not None:
            return outcome.float32_samples_per_s * outcome.against_float32.judged.median
        return self._own(outcome)

    def _own(self, outcome: Outcome) -> float | None:
        if outcome.step_time is None or outcome.throughput_samples_per_s is None:
            return None
        if self.device != "CPU":
            return outcome.throughput_samples_per_s
        return outcome.throughput_samples_per_s * outcome.step_time.wall_s / outcome.step_time.process_cpu_s


@dataclass(frozen=True)
class Priced:
    """The price of the asked op table on a row of the device table; nothing was run there."""

    row: str

    @property
    def label(self) -> str:
        """Such as "priced on a100-tf32"."""
        return f"priced on {self.row}, not measured"

    def of(self, outcome: Outcome) -> float | None:
        """Skipped updates cost their time and train nothing, priced as measured."""
        steps = outcome.updates_applied + outcome.updates_skipped
        if outcome.priced is None or steps == 0:
            return None
        return outcome.priced.throughput_samples_per_s * outcome.updates_applied / steps


class PricedFor(BaseModel):
    """`speed: {priced: ROW}` in an experiment file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    priced: Annotated[str, Field(min_length=1)]


SpeedChoice = Literal["auto", "measured"] | PricedFor
"""What an experiment may ask for; auto is measured on an accelerator and priced on a CPU."""


def choose_speed(choice: SpeedChoice, device: str) -> Speed:
    """The speed that an experiment on this device compares by."""
    if isinstance(choice, PricedFor):
        return Priced(choice.priced)
    return Priced(DEFAULT_ROW) if choice == "auto" and device == "CPU" else Measured(device)


def speed_named(row: str | None, device: str) -> Speed:
    """The speed of a study that keeps the row it priced for, or None where it measured."""
    return Measured(device) if row is None else Priced(row)
