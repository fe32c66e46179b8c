"""Every zoo network as a function of this module: `residual_20_groups_3_hazards_seed_7`, `planted_norm_seed_0`.

`references` writes such names; a trial's process calls the function.
"""

from collections.abc import Callable

from .references import read_name
from .workload import ZooWorkload


def __getattr__(name: str) -> Callable[[], ZooWorkload]:
    """The function of that name; it raises InputError where no such network can be drawn."""
    plan = read_name(name)
    if plan is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return lambda: ZooWorkload(plan())
