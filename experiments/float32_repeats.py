"""Float32 trained with several seeds: how much of a difference in quality is mere noise."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ..evaluators.json_file import read_json, write_json
from ..evaluators.outcome import Finite
from ..policies import BUILTIN, LossScaling, Mode
from ..policies.errors import HalfwiseError, InputError

if TYPE_CHECKING:
    # Who reads the qualities needs nothing that trains.
    from ..evaluators.evaluator import Evaluator

REPEATS = 3
# Quality can repeat exactly, where it counts few samples; a spread of nothing would make every difference matter.
_LEAST_SHARE = 0.001


class Float32Repeats(BaseModel):
    """The quality that float32 reached, and the loss of each step, by seed; the first seed is the study's own."""

    model_config = ConfigDict(frozen=True)

    qualities: dict[int, Finite]
    losses: dict[int, tuple[Finite, ...]] = {}

    @property
    def curves(self) -> tuple[tuple[float, ...], ...]:
        """The losses of all seeds, for the band that trials must keep to."""
        return tuple(self.losses.values())

    @property
    def noise(self) -> float:
        """The standard deviation over seeds, in the metric's unit; at least a thousandth of the quality."""
        values = list(self.qualities.values())
        return max(statistics.stdev(values), _LEAST_SHARE * abs(statistics.fmean(values)), 1e-12)

    @property
    def relative_noise(self) -> float:
        """The noise as a share of the mean quality; infinite where that is 0."""
        mean = abs(statistics.fmean(self.qualities.values()))
        return self.noise / mean if mean else float("inf")


def float32_repeats(evaluator: "Evaluator", loss_scaling: LossScaling, mode: Mode, file: Path) -> Float32Repeats:
    """Train float32 with some seeds, or read what an earlier start of the study has kept in `file`.

    Raises:
        InputError: the study was started with another seed.
        HalfwiseError: float32 does not train with one of the seeds: there is nothing to compare policies with.
    """
    if file.exists():
        return _kept(file, evaluator.seed)
    policy = BUILTIN["O0"].replace(mode=mode, loss_scaling=loss_scaling)
    qualities: dict[int, float] = {}
    losses: dict[int, tuple[float, ...]] = {}
    for seed in _seeds(evaluator.seed):
        outcome = replace(evaluator, seed=seed).evaluate(policy, None, file.parent / f"float32-{seed}")
        if outcome.quality is None:
            raise HalfwiseError(
                f"float32 does not train with seed {seed} ({outcome.cause}), so there is nothing to compare low "
                "precision with: mend the workload, or train longer (`steps`)"
            )
        qualities[seed] = outcome.quality
        losses[seed] = tuple(loss for loss in outcome.losses if loss is not None)
    found = Float32Repeats(qualities=qualities, losses=losses)
    write_json(found, file)
    return found


def _kept(file: Path, seed: int) -> Float32Repeats:
    found = read_json(Float32Repeats, file)
    if min(found.qualities) != seed:
        raise InputError(
            f"this study was started with seed {min(found.qualities)}, not {seed}: go on with that one, or start "
            "a study under another name"
        )
    return found


def _seeds(first: int) -> Sequence[int]:
    return range(first, first + REPEATS)
