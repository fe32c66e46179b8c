"""Jobs for the tests of processes: they start others, fill disks, and need no MindSpore."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from pydantic import RootModel

from halfwise.evaluators.request import Request
from halfwise.evaluators.watcher import STOPPING

LOADER = "loader-process-of-halfwise-test"
"""What stands in the command lines of the processes that `leaving_workloads` starts."""


class Note(RootModel[str]):
    """What a job says."""


class LoaderRequest(Request):
    """Start processes that outlive the job; `mark` stands in their command lines, `ending` is what follows."""

    mark: str
    processes: int = 50
    ending: str = "return"


class HeldRequest(Request):
    """Hold memory in processes that share it, or each have their own."""

    processes: int
    each_bytes: int
    shared: bool


def say_hello(request: Request) -> Note:
    """Does nothing else."""
    return Note("hello")


def leave_processes(request: LoaderRequest) -> Note:
    """Half of the processes are children; half have left family and session before the job goes on."""
    start_left_behind(request.processes, request.mark)
    if request.ending == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if request.ending == "hang":
        (request.folder / "ready").touch()
        time.sleep(600)
    return Note("done")


def start_left_behind(processes: int, mark: str) -> None:
    """Half children, half orphans in sessions of their own; all of them have started when this returns."""
    for number in range(processes):
        child = os.fork()
        if child == 0:
            if number % 2 == 0:
                os.execv(_sleep(), [mark, "600"])
            os.setsid()
            if os.fork() == 0:
                os.execv(_sleep(), [mark, "600"])
            os._exit(0)
        if number % 2:
            os.waitpid(child, 0)


def hold_memory(request: HeldRequest) -> Note:
    """Each process has touched its bytes and waits, half of them as orphans in sessions of their own."""
    held = np.ones(request.each_bytes, np.uint8) if request.shared else None
    for number in range(request.processes):
        if os.fork() == 0:
            if number % 2 == 0 or os.setsid() or os.fork() == 0:
                own = held if held is not None else np.ones(request.each_bytes, np.uint8)
                time.sleep(600 + float(own[0]))
            os._exit(0)
    time.sleep(4)
    return Note("still here")


def say_how_signals_are(request: Request) -> Note:
    """Which of the signals that stop a search this job would not hear."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    deaf = [number.name for number in STOPPING if number in blocked or signal.getsignal(number) == signal.SIG_IGN]
    return Note(" ".join(sorted(deaf)))


def say_how_likely_a_victim(request: Request) -> Note:
    """The kernel's adjustment of how likely this process is ended when memory runs out."""
    return Note(Path("/proc/self/oom_score_adj").read_text(encoding="ascii").strip())


def signal_own_group(request: Request) -> Note:
    """SIGKILL to its whole group of processes."""
    os.killpg(0, signal.SIGKILL)
    return Note("survived")


def segfault(request: Request) -> Note:
    """Ends by SIGSEGV."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return Note("survived")


def fill_disk(request: Request) -> Note:
    """Writes until there is no space left, and prints on all the while."""
    with open("big", "wb") as file:
        while True:
            print("writing on")
            file.write(b"\0" * (1 << 16))


def fill_disk_in_silence(request: Request) -> Note:
    """As a library that does not say why it failed; some space is left, too little for what it had to write."""
    with contextlib.suppress(OSError):
        fill_disk(request)
    os.truncate("big", os.path.getsize("big") - (32 << 10))
    raise ValueError("the graph cannot be read")


def find_no_space(request: Request) -> Note:
    """As on a disk that is full, but only for big files."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def delete_folder(request: Request) -> Note:
    """Deletes the folder that it works in."""
    shutil.rmtree(request.folder)
    return Note("nowhere")


def search_that_dies(folder: str, mark: str) -> None:
    """What a search does: start a job that hangs; then it is killed, as by SIGKILL. Run with `python -c`."""
    from halfwise.evaluators.process import Limits, start_job

    request = LoaderRequest(folder=Path(folder), target="CPU", mark=mark, ending="hang", processes=4)
    job = start_job("process_jobs:leave_processes", request, Note, Limits(time_s=600, memory_bytes=8 << 30))
    while not (request.folder / "ready").exists():
        time.sleep(0.02)
    print(job.watcher.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def dying_search(folder: Path, mark: str) -> subprocess.Popen[str]:
    """A process that runs `search_that_dies`."""
    code = f"import process_jobs; process_jobs.search_that_dies({str(folder)!r}, {mark!r})"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _sleep() -> str:
    return next(path for path in ("/bin/sleep", "/usr/bin/sleep") if os.path.exists(path))
