"""Reads hostile files with an eye on what Python does meanwhile: `python watched_reading.py KIND EXAMPLES FOLDER`.

Ends with an error at the first file that gets more than one of our own errors, and at the first forbidden deed.
"""

import gzip
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from hostile_files import VALID, hostile_content, hostile_json
from hypothesis import HealthCheck, Phase, given, settings

from halfwise.evaluators.json_file import read_json
from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.price.device_file import BUILTIN_FILE, load_devices
from halfwise.experiments.experiment_file import load_experiment, named_policies
from halfwise.experiments.op_table_file import load_op_tables
from halfwise.policies import HalfwiseError, load_policy, parse_policy
from halfwise.policies.canonical import printable
from halfwise.policies.yaml_nodes import MAX_NODES

OUTCOME: dict[str, Any] = {
    "status": "trained",
    "policy": "{}",
    "policy_name": "O0",
    "digest": "0123456789ab",
    "seed": 1,
    "device": "CPU",
    "mindspore_version": "2.10.0",
    "metric": "accuracy",
    "direction": "maximize",
    "quality": 0.9,
    "losses": [1.0, 0.5],
    "notes": ["a"],
}
TABLES = {"dynamic": [{"id": 0, "op": "MatMul", "layer": "a", "input_shapes": [[2, 3]], "flops": None}]}
# Whatever starts, loads or reaches something; `open` is looked at more closely.
FORBIDDEN = (
    *("exec", "compile", "import", "pickle.", "marshal.", "ctypes.", "code.", "object.__"),
    *("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "pty.", "socket."),
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown"),
    *("os.truncate", "os.putenv", "os.kill", "os.chdir", "shutil.", "tempfile.", "webbrowser.", "urllib."),
)


class Watch:
    """While it is on, the only deed allowed is to open certain files for reading."""

    def __init__(self, *files: Path) -> None:
        """Watches this process from now to its end: hooks cannot be taken away."""
        self.files, self.on = files, False
        self.deeds: list[str] = []
        self.events = 0
        sys.addaudithook(self._hear)
        self._count_yaml_events()

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open":
            path, mode, flags = arguments
            # A number is a file that was opened before, which was seen.
            known = isinstance(path, int) or Path(path) in self.files
            if not known or flags & os.O_ACCMODE != os.O_RDONLY:
                self.deeds.append(f"opened {path!r} ({mode}, {flags})")
        elif event.startswith(FORBIDDEN):
            self.deeds.append(f"{event} {arguments!r:.200}")

    def _count_yaml_events(self) -> None:
        counted: Any = yaml.SafeLoader
        get_event = counted.get_event

        def count(loader: Any) -> Any:
            self.events += 1
            return get_event(loader)

        counted.get_event = count

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Raises AssertionError at the end if anything forbidden was done."""
        self.deeds, self.events, self.on = [], 0, True
        try:
            yield
        finally:
            self.on = False
        assert self.deeds == [], self.deeds
        assert self.events <= sum(min(3 * file.stat().st_size + 6, 3 * MAX_NODES) for file in self.files)


def read_experiment(file: Path) -> None:
    """The experiment, and the policies that stand in it as texts."""
    experiment = load_experiment(file, {})
    texts = {name: text for name, text in experiment.policies.items() if text.lstrip().startswith("{")}
    named_policies(experiment.model_copy(update={"policies": texts}), file.parent)


READERS: dict[str, Callable[[Path], Any]] = {
    "policy": load_policy,
    "text": lambda file: parse_policy(file.read_bytes().decode("utf-8", "surrogateescape")),
    "experiment": read_experiment,
    "devices": load_devices,
    "outcome": lambda file: read_json(Outcome, file),
    "tables": load_op_tables,
}
RIGHT = {
    **{kind: text.encode() for kind, text in VALID.items()},
    "text": VALID["policy"].encode(),
    "outcome": json.dumps(OUTCOME).encode(),
    "tables": gzip.compress(json.dumps(TABLES).encode()),
}
CONTENTS = {
    "policy": hostile_content("policy"),
    "text": hostile_content("policy"),
    "experiment": hostile_content("experiment"),
    "devices": hostile_content("devices"),
    "outcome": hostile_json(OUTCOME),
    "tables": hostile_json(TABLES).map(lambda content: gzip.compress(content, mtime=0)) | hostile_json(TABLES),
}


def main(kind: str, examples: int, folder: Path) -> None:
    """Prints how many files were read whole and how many were refused."""
    file = folder / "file"
    read, counts = READERS[kind], {"read": 0, "refused": 0}
    warm_up(read, file, RIGHT[kind])
    watch = Watch(file, BUILTIN_FILE) if kind == "devices" else Watch(file)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(content=CONTENTS[kind])
    def look(content: bytes) -> None:
        file.write_bytes(content)
        try:
            with watch.watching():
                read(file)
            counts["read"] += 1
        except HalfwiseError as error:
            counts["refused"] += 1
            message = str(error)
            assert message == printable(message)
            assert 0 < len(message) < 60_000

    look()
    print(f"{counts['read']} read, {counts['refused']} refused")


def warm_up(read: Callable[[Path], Any], file: Path, right: bytes) -> None:
    """Modules that are loaded at the first use are loaded before anything is watched."""
    for content in (right, b"a: [b", b"\xff", b'{"a": 1, "a": 2}', b"{}"):
        file.write_bytes(content)
        try:
            read(file)
        except HalfwiseError:
            continue


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
