"""Whoever measures a speed is alone, and gets its turn; real locks of the kernel, a file opened by each thread."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from halfwise.evaluators.quiet import KernelLocks, NoQuiet, quiet_here
from halfwise.policies.errors import HalfwiseError

HOLDER = """
import sys, time
from pathlib import Path
from halfwise.evaluators.quiet import KernelLocks
with getattr(KernelLocks(Path(sys.argv[1])), sys.argv[2])():
    print("held", flush=True)
    time.sleep(600)
"""


class Scene:
    """Counts who is at it, and remembers whether a measurement ever had company."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.training = self.measuring = self.most_training = 0
        self.disturbed = False

    def enter(self, kind: str, by: int) -> None:
        """One more, or one less."""
        with self.lock:
            setattr(self, kind, getattr(self, kind) + by)
            self.most_training = max(self.most_training, self.training)
            self.disturbed |= self.measuring > 1 or (self.measuring > 0 and self.training > 0)


def test_a_measurement_is_alone_and_gets_its_turn(tmp_path: Path) -> None:
    """Four that train without a pause never run beside two that measure, nor keep them waiting for ever."""
    quiet, scene, over = KernelLocks(tmp_path), Scene(), threading.Event()

    def train() -> None:
        while not over.is_set():
            with quiet.training():
                scene.enter("training", 1)
                over.wait(0.002)
                scene.enter("training", -1)

    def measure() -> None:
        for _ in range(10):
            with quiet.measuring():
                scene.enter("measuring", 1)
                over.wait(0.002)
                scene.enter("measuring", -1)

    trainers = [threading.Thread(target=train, daemon=True) for _ in range(4)]
    measurers = [threading.Thread(target=measure, daemon=True) for _ in range(2)]
    for thread in (*trainers, *measurers):
        thread.start()
    for thread in measurers:
        thread.join()
    over.set()
    for thread in trainers:
        thread.join()
    assert not scene.disturbed
    assert scene.most_training > 1


@pytest.mark.parametrize("held", ["training", "measuring"])
def test_a_killed_process_holds_nothing(tmp_path: Path, held: str) -> None:
    """What a process held is free again when it is killed."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, tmp_path, held], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    got = threading.Event()

    def measure() -> None:
        with KernelLocks(tmp_path).measuring():
            got.set()

    thread = threading.Thread(target=measure, daemon=True)
    thread.start()
    assert not got.wait(0.2)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    thread.join()
    assert got.is_set()


def test_without_need_nobody_waits() -> None:
    """Where speed is a price a training may run beside a measurement."""
    begun: list[str] = []
    with NoQuiet().measuring():
        begun.append("measurement")
        with NoQuiet().training():
            begun.append("training")
    assert begun == ["measurement", "training"]


def test_the_locks_are_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They lie in a folder that is closed to others; one that somebody else has put there is refused."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = quiet_here().folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert quiet_here().folder == folder
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HalfwiseError, match="is not your own folder: remove it, or name another temporary folder"):
        quiet_here()
    assert os.listdir(tmp_path / "elsewhere") == []
