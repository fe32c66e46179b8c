"""What policies came to on a device, in words."""

from typing import Any

from halfwise.evaluators.speed.comparison import Comparison, Ratio
from halfwise.experiments.confirmation import Confirmation
from halfwise.experiments.device_confirmation import ConfirmedPolicy, DeviceConfirmation
from halfwise.experiments.long_float32 import LongFloat32

RATIO = Ratio(median=1.5, low=1.4, high=1.6)
SPEED = Comparison(
    device="Ascend", wall=RATIO, cpu=RATIO, rounds=10, pairs=90, waiting_share=0.01, conclusive=True
)
HELD = Confirmation(steps=40, quality_lost={2: 0.001, 3: 0.003}, allowed=0.01, steps_trained=80)
FAILED = Confirmation(steps=40, quality_lost={2: None}, allowed=0.01, causes={2: "non-finite"}, steps_trained=7)


def confirmed(confirmation: Confirmation, **more) -> ConfirmedPolicy:
    """A policy with that confirmation."""
    return ConfirmedPolicy(name="trial 7", policy="{}", digest="d", confirmation=confirmation, **more)


def test_each_figure_is_called_what_it_is():
    """Measured quality and speed with their intervals, and the price apart from them as a price."""
    lines = list(confirmed(HELD, comparison=SPEED, priced_speedup=1.82, priced_on="a100").lines("Ascend"))
    assert str(SPEED).startswith("1.50x float32's speed (1.40 to 1.60), measured on Ascend by wall time")
    assert lines == [
        "trial 7 on Ascend, against float32 with the same seeds:",
        f"  {HELD}",
        f"  {SPEED}",
        "  1.82x float32's speed, priced on a100, not measured",
    ]


def test_what_is_not_known_is_left_out_or_said():
    """Without a price there is no word of one; without a measurement the reason stands in its place."""
    lines = list(confirmed(FAILED, note="it does not train").lines("CPU"))
    assert lines[1:] == [f"  {FAILED}", "  speed not measured: it does not train"]


def test_all_must_hold():
    """A device's confirmation holds if every policy does."""
    known: dict[str, Any] = {"workload": "w", "metric": "m", "device": "CPU", "mindspore_version": "2.10.0"}
    float32 = LongFloat32(steps=40, qualities={2: 0.9, 3: 0.9}, steps_trained=80)
    held = DeviceConfirmation(**known, float32=float32, policies=(confirmed(HELD),))
    assert held.holds
    assert not held.model_copy(update={"policies": (confirmed(HELD), confirmed(FAILED))}).holds
    assert DeviceConfirmation.model_validate_json(held.model_dump_json()) == held
