"""Prices of a ResNet-50 step against published training speeds; no figure of a price is fitted to them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from halfwise.evaluators.price import Device, load_devices, price_table
from halfwise.policies import BUILTIN

from .bench import Bench, Figure, Say
from .compiled import compile_step

WORKLOAD = "resnet50"
LEVELS = ("O0", "O2", "O3")
BATCH_SIZES = (256, 32, 1)
LARGE, SMALL = 256, 1
SMALL_BATCH_TARGET = 1.2
LARGE_BATCH_TARGET = 2


@dataclass(frozen=True)
class Published:
    """How many times faster a card trained ResNet-50 v1.5 in mixed precision, and how far off a price may be."""

    device: str
    words: str
    ratios: tuple[float, ...]
    within: float

    @property
    def ratio(self) -> float:
        """The one to judge by, of several cards the middle."""
        return sum(self.ratios) / len(self.ratios)


# NVIDIA DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5/README, training performance on one
# GPU, read 2026-11-30. Its mixed precision keeps the data of normalisations in float16 and fuses casts.
PUBLISHED = (
    # 367 to 1200 images/s with 16 GB, 356 to 1156 with 32 GB.
    Published("v100", "V100 from float32", (3.26, 3.24), within=0.25),
    # 938 to 2470 images/s with 80 GB.
    Published("a100-tf32", "A100 from TF32", (2.63,), within=0.40),
)

SpeedUps = Mapping[str, float]
"""Priced speed-ups over float32, by policy."""


def run(folder: Path, say: Say) -> tuple[Figure, ...]:
    """Compile each level at each batch size, price all of it, and print one table."""
    sizes = ", ".join(map(str, BATCH_SIZES))
    say(f"{WORKLOAD}, 224 x 224, {', '.join(LEVELS)} at batch sizes {sizes}: compiled, and nothing is run")
    tables = {size: _tables(folder / str(size), size) for size in BATCH_SIZES}
    devices = load_devices()
    priced = {
        (row.device, size): _speed_ups(tables[size], devices[row.device])
        for row in PUBLISHED
        for size in BATCH_SIZES
    }
    for line in _table(priced):
        say(line)
    return (*_against_published(priced), *_small_batch(priced))


def _tables(folder: Path, batch_size: int) -> Mapping[str, pd.DataFrame]:
    return {level: compile_step(folder / level, WORKLOAD, BUILTIN[level], batch_size).table for level in LEVELS}


def _speed_ups(tables: Mapping[str, pd.DataFrame], device: Device) -> SpeedUps:
    """Over O0 on the same device; "O2 fused" and "O3" with what the device fuses, "O2" without."""
    unfused = device.model_copy(update={"fused_casts": None})
    seconds = {
        "O2": price_table(tables["O2"], unfused).step_time_s,
        "O2 fused": price_table(tables["O2"], device).step_time_s,
        "O3": price_table(tables["O3"], device).step_time_s,
    }
    float32_s = price_table(tables["O0"], device).step_time_s
    return {name: float32_s / step_time_s for name, step_time_s in seconds.items()}


def _table(priced: Mapping[tuple[str, int], SpeedUps]) -> Iterator[str]:
    """As docs/prices.md shows it."""
    yield "| device | batch size | O0 | O2 | O2 fused | O3 | published mixed against float32 | off (O2 fused) |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in PUBLISHED:
        words = " to ".join(f"{ratio:.2f}x" for ratio in sorted(row.ratios))
        for size in BATCH_SIZES:
            found = priced[row.device, size]
            figures = " | ".join(f"{found[name]:.2f}x" for name in ("O2", "O2 fused", "O3"))
            # The published figures are of large batches.
            compared = f"{words} | {found['O2 fused'] / row.ratio - 1:+.0%}" if size == LARGE else "|"
            yield f"| {row.words} | {size} | 1x | {figures} | {compared} |"


def _against_published(priced: Mapping[tuple[str, int], SpeedUps]) -> Iterator[Figure]:
    for row in PUBLISHED:
        off = abs(priced[row.device, LARGE]["O2 fused"] / row.ratio - 1)
        what = f"{row.words}, O2 fused at batch size {LARGE}: how far the priced speed-up is off the published one"
        yield Figure(what, 100 * off, "at most", 100 * row.within, "%")


def _small_batch(priced: Mapping[tuple[str, int], SpeedUps]) -> Iterator[Figure]:
    """What launches do to a gain: they cost the same in any precision."""
    small, large = (priced["v100", size]["O2 fused"] for size in (SMALL, LARGE))
    what = f"V100, O2 fused: priced speed-up over float32 at batch size {SMALL}"
    yield Figure(what, small, "at most", SMALL_BATCH_TARGET, "x")
    what = f"V100, O2 fused: its speed-up at batch size {LARGE} against that at {SMALL}"
    yield Figure(what, large / small, "at least", LARGE_BATCH_TARGET, "x")


BENCH = Bench(
    "prices",
    "ResNet-50 priced against published V100 (within 25%) and A100 (within 40%) speed-ups, at batch 256 and 1",
    run,
)
