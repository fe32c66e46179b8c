"""Workloads whose data loaders do not clean up, or fill the disk."""

from collections.abc import Iterator

from process_jobs import LOADER, start_left_behind
from tiny_workloads import Tiny

from halfwise.evaluators.workload import Batch


class Parent(Tiny):
    """Its data loader's 50 processes outlive it, half of them in sessions of their own."""

    def batches(self, seed: int) -> Iterator[Batch]:
        """Tiny's batches, from a loader that starts processes."""
        start_left_behind(50, LOADER)
        return super().batches(seed)


class Filling(Tiny):
    """Its data loader writes until no space is left."""

    def batches(self, seed: int) -> Iterator[Batch]:
        """None: the disk is full first."""
        with open("cache", "wb") as file:
            while True:
                file.write(b"\0" * (1 << 16))


make_parent = Parent
make_filling = Filling
