"""`python -m benchmarks.faults.asker`: asks for trials and tells them at once, for how fast a storage can be."""

import sys
from pathlib import Path

from pydantic import BaseModel

from halfwise.policies import DynamicLossScaling
from halfwise.search.advisors import SamplerAdvisor
from halfwise.search.space import LayerGroup, SearchSpace
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress
from halfwise.search.study import Search
from halfwise.search.told import Busy

LAYERS = 8


class Task(BaseModel):
    """Where the study is (a URL, or a journal's path), what it is called, and how many trials it may have."""

    url: str | None
    journal: str
    study: str
    trials: int


def main() -> None:
    """Read the task from the first line, open the study and say so; from the next line on make its trials."""
    task = Task.model_validate_json(sys.stdin.readline())
    search = _search(task)
    print("ready", flush=True)
    sys.stdin.readline()
    while (proposal := search.ask(task.trials)) is not None:
        if not isinstance(proposal, Busy):
            search.tell(proposal.number, 0.5, 100.0, 0.0)


def _search(task: Task) -> Search:
    space = SearchSpace(
        groups=tuple(LayerGroup(f"layers.{i}", (f"layers.{i}",)) for i in range(LAYERS)),
        layer_choices=("float16", "float32", "auto"),
        ops=("MatMul", "Softmax"),
        low_precision="float16",
        loss_scaling=DynamicLossScaling(),
        mode="graph",
    )
    address = StorageAddress.parse(task.url, Path(task.journal))
    advisor = SamplerAdvisor("random", space, 1)
    return Search.create(open_storage(address), address.prefix(task.study), advisor, "maximize", ())


if __name__ == "__main__":
    main()
