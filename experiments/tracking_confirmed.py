"""What a study's shortlist came to on a device, in MLflow: verdicts with the study, figures with each trial."""

from .device_confirmation import ConfirmedPolicy, DeviceConfirmation
from .tracking_fields import LONGEST_TAG, MetricValue, finite, shortened


def confirmed_tag(found: DeviceConfirmation, file: str) -> dict[str, str]:
    """The verdicts of all policies; the whole of them is in the file of this name."""
    verdicts = "; ".join(f"{each.name} {each.confirmation}" for each in found.policies)
    return {f"halfwise.confirmed_on.{found.device}": shortened(verdicts, LONGEST_TAG, file)}


def confirmed_metrics(each: ConfirmedPolicy, device: str) -> list[MetricValue]:
    """Only what was measured; a figure that is not known is left out."""
    lost, speed = each.confirmation.lost, each.comparison
    figures = {
        "quality_lost": lost and lost.mean,
        "quality_lost_low": lost and lost.low,
        "quality_lost_high": lost and lost.high,
        "speed_ratio": speed and speed.judged.median,
        "speed_ratio_low": speed and speed.judged.low,
        "speed_ratio_high": speed and speed.judged.high,
    }
    return list(finite({f"confirmed_on_{device}_{name}": value for name, value in figures.items()}))
