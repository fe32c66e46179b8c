"""How many processes of this machine make the trials of a search, on which cores and devices."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..evaluators.device_names import Target
from ..policies.errors import InputError
from ..search.storage_address import StorageAddress
from .cores import on_cores, own_cores, share_of, threads_environment
from .crew import Crew, Hand
from .experiment_file import Experiment
from .home import StudyFolder

STORAGE_VARIABLE = "HALFWISE_STORAGE"
# Without the working folder on Python's path, where a module of the user's could hide one of Python's own.
_PROGRAM = (sys.executable, "-P", "-c", "from halfwise.experiments.cli import main; main()")


@dataclass(frozen=True)
class Workers:
    """The search makes trials too, so it starts one worker less than `count`; each has its share of `cores`.

    `devices` are those of the search and of its workers by number, None for the first ones; `threads` are the
    environment of each.
    """

    count: int
    devices: tuple[int, ...] | None
    cores: frozenset[int]
    threads: tuple[Mapping[str, str], ...]

    @classmethod
    def of(cls, experiment: Experiment, address: StorageAddress) -> "Workers":
        """What the experiment asks for: one worker a device, where devices are named.

        Raises:
            InputError: there are more or fewer devices than workers, or the storage is for one worker only.
        """
        devices = experiment.devices
        count = experiment.workers or (len(devices) if devices else 1)
        if devices is not None and len(devices) != count:
            raise InputError(
                f"{count} workers and {len(devices)} devices: there must be one device for each worker, since two "
                "on one would bend each other's speed"
            )
        if count > 1:
            address.refuse_one_worker_only()
        cores = own_cores()
        shares = [share_of(cores, place, count) for place in range(count)]
        return cls(count, devices, cores, tuple(map(threads_environment, shares)))

    @property
    def own_device(self) -> int | None:
        """The device of the search itself, None for the first."""
        return None if self.devices is None else self.devices[0]

    @contextmanager
    def own_share(self) -> Iterator[None]:
        """Keep this process, and all that it starts, to its share of the cores: all of them if it works alone."""
        if self.count == 1:
            yield
            return
        added = self.threads[0]
        os.environ.update(added)
        try:
            with on_cores(share_of(self.cores, 0, self.count)):
                yield
        finally:
            for name in added:
                del os.environ[name]

    def crew(self, folder: StudyFolder, search_path: Path, address: StorageAddress, target: Target) -> Crew:
        """The workers beside the search; `target` is the kind of device that it trains on."""
        url = address.reveal()
        # On the command line everybody would see the password.
        storage = {} if url is None else {STORAGE_VARIABLE: url}
        hands: list[Hand] = []
        for place in range(1, self.count):
            name = f"worker-{place}"
            options = ["--home", str(folder.path.parent), "--search-path", str(search_path), "--name", name]
            if target != "CPU":
                options += ["--device-id", str(place if self.devices is None else self.devices[place])]
            hands.append(
                Hand(
                    name=name,
                    command=(*_PROGRAM, "worker", folder.name, *options),
                    environment={**self.threads[place], **storage},
                    cores=share_of(self.cores, place, self.count),
                    folder=folder.worker_folder(name),
                )
            )
        return Crew(hands)
