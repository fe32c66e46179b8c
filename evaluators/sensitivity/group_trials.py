"""Which groups get a pass alone: the likeliest harm first, its ops after it, as long as there is time."""

import itertools
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import mindspore as ms

from ...policies.rules import AloneEffect, GroupStatistics, believe
from ..child import error_line
from ..prepared import Prepared
from ..workload import Workload
from .alone import AlonePasses
from .collect import Collected
from .result import GroupPaths, SensitivityRequest

# Groups below this probability of harm are not taken apart into their ops.
_TAKEN_APART_FROM = 0.05


@dataclass
class GroupTrials:
    """What is known of each group and part after `run`; `passes` counts the passes that it took."""

    request: SensitivityRequest
    collected: Collected
    started_s: float
    passes: int = 0
    groups: dict[str, GroupStatistics] = field(default_factory=dict)
    parts: list[GroupStatistics] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self, prepared: Prepared, workload: Workload) -> None:
        """Fill in groups and parts."""
        for group in self.request.groups:
            self.groups[group.name] = self._statistics(group)
        ms.set_context(mode=ms.PYNATIVE_MODE)
        passes = self._passes(prepared, workload) if self.request.precisions else None
        suspects = sorted(self.request.groups, key=lambda g: self._harm(self.groups[g.name]), reverse=True)
        for group in suspects:
            self.groups[group.name] = self._tried(passes, self.groups[group.name])
            if self._harm(self.groups[group.name]) >= _TAKEN_APART_FROM:
                self.parts += [self._tried(passes, part) for part in self._parts(group)]
        self.passes = passes.passes if passes else 0
        self._say_untried()

    def _statistics(self, group: GroupPaths) -> GroupStatistics:
        return GroupStatistics(
            name=group.name,
            covers=group.covers,
            ops=self.collected.statistics(group.paths, group.op),
            steps=self.collected.steps,
        )

    def _parts(self, group: GroupPaths) -> Iterable[GroupStatistics]:
        """The ops of a group one by one, if it has several."""
        ops = self.groups[group.name].governed_ops
        for op in ops if len(ops) > 1 else ():
            yield self._statistics(GroupPaths(name=f"{group.name}::{op}", paths=group.paths, op=op))

    def _passes(self, prepared: Prepared, workload: Workload) -> AlonePasses | None:
        """None, with a note, where MindSpore cannot run the network without compiling it."""
        last = next(itertools.islice(workload.batches(self.request.seed), self.request.steps - 1, None))
        paths = tuple(dict.fromkeys(path for group in self.request.groups for path in group.paths))
        try:
            return AlonePasses(prepared, last, paths, self.collected.loss_scale, self.request.seed)
        except (RuntimeError, TypeError, ValueError) as error:
            self.notes.append(
                f"no group was tried alone: PyNative mode cannot run the network: {error_line(error)}"
            )
            return None

    def _tried(self, passes: AlonePasses | None, group: GroupStatistics) -> GroupStatistics:
        effects: list[AloneEffect] = []
        for precision in self.request.precisions:
            if passes is None or time.monotonic() - self.started_s > self.request.alone_time_s:
                break
            try:
                effects.append(passes.effect(group.covers, precision))
            except (RuntimeError, TypeError, ValueError) as error:
                self.notes.append(f"{group.name} does not run alone in {precision}: {error_line(error)}")
        return group.model_copy(update={"alone": tuple(effects)})

    def _harm(self, group: GroupStatistics) -> float:
        """The largest belief of all precisions, or that of float16 where the device computes none."""
        return max(believe(group, precision).probability for precision in self.request.precisions or ("float16",))

    def _say_untried(self) -> None:
        untried = [name or "the network itself" for name, group in self.groups.items() if not group.alone]
        late = time.monotonic() - self.started_s > self.request.alone_time_s
        if untried and late:
            self.notes.append(
                f"{len(untried)} of {len(self.groups)} groups were not tried alone within "
                f"{self.request.alone_time_s:g} s: {', '.join(untried)}"
            )
