"""Shares of this machine's cores, so that several trial processes at a time do not get in each other's way."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

# What OpenMP takes for the number of its threads.
THREADS_VARIABLE = "OMP_NUM_THREADS"


def own_cores() -> frozenset[int]:
    """The cores that this thread may run on."""
    return frozenset(os.sched_getaffinity(0))


def share_of(cores: frozenset[int], place: int, of: int) -> frozenset[int]:
    """The cores of the process at `place` among `of`, from 0: neighbours, as even as can be, and at least one.

    With more processes than cores several share one.
    """
    ordered = sorted(cores)
    first, end = place * len(ordered) // of, (place + 1) * len(ordered) // of
    return frozenset(ordered[first : max(end, first + 1)])


@contextmanager
def on_cores(cores: frozenset[int]) -> Iterator[None]:
    """Keep this thread, and every process and thread that it starts meanwhile, to these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def threads_environment(cores: frozenset[int]) -> Mapping[str, str]:
    """What makes a process run one thread a core; nothing where the user has set another number."""
    return {} if THREADS_VARIABLE in os.environ else {THREADS_VARIABLE: str(len(cores))}
