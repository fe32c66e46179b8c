"""The file that holds a study: Optuna's journal, kept whole whatever is killed, and however full the disk is."""

import fcntl
import json
import os
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from optuna.exceptions import OptunaError
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend

from ..policies.errors import HalfwiseError

LOCK_PATIENCE_S = 60
# A night of trials takes a megabyte or two.
MOST_BYTES = 1 << 30

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.0005, 0.02
# What a record of each kind must hold for Optuna to read it.
_FIELDS: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {
        0: ("study_name", "directions"),
        1: ("study_id",),
        2: ("study_id", "user_attr"),
        3: ("study_id", "system_attr"),
        4: ("study_id", "datetime_start"),
        5: ("trial_id", "param_name", "param_value_internal", "distribution"),
        6: ("trial_id", "state", "values"),
        7: ("trial_id", "step", "intermediate_value"),
        8: ("trial_id", "user_attr"),
        9: ("trial_id", "system_attr"),
    }
)


def open_journal(path: Path, patience_s: float = LOCK_PATIENCE_S) -> JournalStorage:
    """The storage in a file, which is made if it is not there; its folder must be.

    Raises:
        HalfwiseError: the file cannot be read or made, or a record other than the last is damaged.
    """
    try:
        if not path.exists():
            path.touch()
    except OSError as error:
        raise _unusable("open", path, error) from error
    try:
        return JournalStorage(Journal(path, patience_s))
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        OptunaError,
    ) as error:
        raise HalfwiseError(f"the study's journal {path} holds records that mean nothing: {error!r}") from error


class Journal(BaseJournalBackend):
    """One record a line, appended under a lock of the kernel's, which goes with the process that held it.

    What a killed or refused write left behind the last whole record is never read; whoever writes next keeps it in
    a file beside the journal, and cuts it off.
    """

    def __init__(self, path: Path, patience_s: float = LOCK_PATIENCE_S) -> None:
        """`patience_s` is how long to wait for the lock, which others hold for milliseconds."""
        self._path = path.resolve()
        self._patience_s = patience_s
        # Where each record begins that was read, and where the next one would.
        self._places = [0]

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        """The whole records from this one on.

        Raises:
            HalfwiseError: the file cannot be read, or a record other than the last is damaged.
        """
        start = self._places[log_number_from]
        try:
            with self._path.open("rb") as file:
                self._refuse_size(os.fstat(file.fileno()).st_size)
                file.seek(start)
                lines = file.read().split(b"\n")[:-1]
        except OSError as error:
            raise _unusable("read", self._path, error) from error
        records = [_record(line) for line in lines]
        if records and records[-1] is None:
            records.pop()
        for number, (line, record) in enumerate(zip(lines, records, strict=False), start=log_number_from):
            if record is None:
                raise self._damaged(number)
            start += len(line) + 1
            if number + 1 == len(self._places):
                self._places.append(start)
        return [record for record in records if record is not None]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write records to the disk, all or none.

        Raises:
            HalfwiseError: the file cannot be written, or the lock is held for longer than the patience.
        """
        written = b"".join(json.dumps(log, separators=(",", ":")).encode() + b"\n" for log in logs)
        try:
            # Without O_CREAT: a journal that was deleted is not begun anew, without its first records.
            file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
            try:
                with self._locked(file):
                    self._cut_torn_record(file)
                    _write(file, written)
            finally:
                os.close(file)
        except OSError as error:
            raise _unusable("write", self._path, error) from error

    @contextmanager
    def _locked(self, file: int) -> Generator[None, None, None]:
        deadline, pause_s = time.monotonic() + self._patience_s, _FIRST_PAUSE_S
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise HalfwiseError(
                        f"another process has held the study's journal {self._path} for {self._patience_s:g} s: "
                        "it may be stopped; let it go on, or end it, and start again"
                    ) from error
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def _cut_torn_record(self, file: int) -> None:
        """Cut off a last record that is not whole, after keeping it in a file of its own."""
        size, known = os.fstat(file).st_size, self._places[-1]
        self._refuse_size(size)
        unknown = os.pread(file, size - known, known)
        begin = known + unknown.rfind(b"\n", 0, -1) + 1
        torn = unknown[begin - known :]
        if not torn or (torn.endswith(b"\n") and _record(torn) is not None):
            return
        _keep(self._path.with_name(f"{self._path.name}.torn-{begin}"), torn)
        os.ftruncate(file, begin)

    def _refuse_size(self, size: int) -> None:
        if size < self._places[-1]:
            raise HalfwiseError(
                f"the study's journal {self._path} was replaced or cut short while it was in use; start again"
            )
        if size > MOST_BYTES:
            raise HalfwiseError(f"the study's journal {self._path} is larger than {MOST_BYTES} bytes: it is none")

    def _damaged(self, number: int) -> HalfwiseError:
        return HalfwiseError(
            f"line {number + 1} of the study's journal {self._path} is damaged, so the study cannot go on; "
            "start one under another name (the results of finished trials are still in this one's folder)"
        )


def _write(file: int, written: bytes) -> None:
    """Append; what was written of it is taken back where the rest does not fit."""
    size, done = os.fstat(file).st_size, 0
    try:
        while done < len(written):
            done += os.write(file, written[done:])
    except OSError:
        # Only what is this process's own, should another have taken the lock for lost.
        if done and os.fstat(file).st_size == size + done:
            os.ftruncate(file, size)
        raise
    os.fsync(file)


def _keep(path: Path, torn: bytes) -> None:
    with path.open("ab") as file:
        file.write(torn)
        file.flush()
        os.fsync(file.fileno())


def _record(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None if it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if _is_record(record) else None


def _is_record(record: object) -> bool:
    if not isinstance(record, dict):
        return False
    known = cast(dict[str, Any], record)
    operation = known.get("op_code")
    fields = _FIELDS.get(operation) if isinstance(operation, int) else None
    return fields is not None and all(field in known for field in ("worker_id", *fields))


def _unusable(what: str, path: Path, error: OSError) -> HalfwiseError:
    return HalfwiseError(
        f"cannot {what} the study's journal {path}: {error.strerror or error}; nothing that finished is lost: put "
        "that right and start again"
    )
