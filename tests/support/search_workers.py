"""Worker processes that share a study: each asks, trains for no time at all, tells; run as a program."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from halfwise.policies import BUILTIN, DynamicLossScaling
from halfwise.search.advisors import SamplerAdvisor
from halfwise.search.space import LayerGroup, SearchSpace
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress
from halfwise.search.study import Busy, Search

SPACE = SearchSpace(
    groups=tuple(LayerGroup(f"body.{i}", (f"body.{i}",)) for i in range(6)),
    layer_choices=("float16", "float32", "auto"),
    ops=(),
    low_precision="float16",
    loss_scaling=DynamicLossScaling(),
    mode="graph",
)


@dataclass(frozen=True)
class Shared:
    """A study that workers share: where it is, and how many trials it may have. Without a URL it is a journal."""

    url: str | None
    journal: str
    study: str
    limit: int

    def open(self) -> Search:
        """The study, for one process."""
        address = StorageAddress.parse(self.url, Path(self.journal))
        fixed = [(name, BUILTIN[name]) for name in ("O0", "O1", "O2")]
        advisor = SamplerAdvisor("random", SPACE, 1)
        return Search.create(open_storage(address), address.prefix(self.study), advisor, "maximize", fixed)


def work(shared: Shared, report: Path, killed_at: int | None, others_died: Callable[[], object]) -> None:
    """Try policies until none is left; what was told goes to the report. `killed_at`: die in that trial."""
    search, told = shared.open(), []
    while (asked := search.ask(shared.limit)) is not None:
        if isinstance(asked, Busy):
            for proposal in search.abandoned():
                search.give_up(proposal.number)
            time.sleep(0.02)
            continue
        if len(told) == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(asked.number % 4 / 200)
        search.tell(asked.number, 1.0, 100.0 + asked.number)
        told.append((asked.number, asked.name))
        if killed_at is None:
            others_died()
    report.write_text(json.dumps(told))


def main(request: str) -> None:
    """Fork one process for each of the numbers at which they are to be killed, and wait for all."""
    asked = json.loads(request)
    shared, reports = Shared(**asked["shared"]), Path(asked["reports"])
    shared.open()
    workers = []
    # Whoever is to be killed holds the pipe open for as long as it lives: the others leave it its trial.
    reading, writing = os.pipe()
    for number, killed_at in enumerate(asked["killed_at"]):
        if not (pid := os.fork()):
            if killed_at is None:
                os.close(writing)
            work(shared, reports / f"{number}.json", killed_at, lambda: os.read(reading, 1))
            os._exit(0)
        workers.append(pid)
    os.close(writing)
    for pid in workers:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(sys.argv[1])
