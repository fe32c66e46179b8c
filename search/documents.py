"""Files of a study that other machines need, kept in its storage: each in a finished trial of its own, as text."""

import base64
import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from ..policies.errors import HalfwiseError

# A text column of MySQL holds 65,535 bytes.
CHUNK_CHARACTERS = 32_000
# No file of a study comes near it; a larger one is none of ours.
MOST_BYTES = 256 << 20

_NAME, _CHUNKS = "name", "chunks"


@dataclass(frozen=True)
class Documents:
    """The documents of one study, by name; a name that is put again has the later bytes.

    They lie in an Optuna study of their own, so that nobody reads them who only wants the trials.
    """

    storage: BaseStorage
    study_id: int

    def put(self, name: str, content: bytes) -> None:
        """Keep a file; nothing is written where these very bytes are kept already.

        The name is any text: nothing here makes a path of it.
        """
        if self.get(name) == content:
            return
        # The time would make equal contents differ.
        text = base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")
        chunks = [text[at : at + CHUNK_CHARACTERS] for at in range(0, len(text), CHUNK_CHARACTERS)]
        known = {_NAME: name, _CHUNKS: len(chunks), **{str(number): chunk for number, chunk in enumerate(chunks)}}
        self.storage.create_new_trial(self.study_id, create_trial(value=0.0, user_attrs=known))

    def get(self, name: str) -> bytes | None:
        """The latest bytes of that name; None if there are none.

        Raises:
            HalfwiseError: what is kept is no such file, or larger than `MOST_BYTES`.
        """
        kept = [trial for trial in self._kept() if trial.user_attrs.get(_NAME) == name]
        return _content(name, kept[-1].user_attrs) if kept else None

    def names(self) -> tuple[str, ...]:
        """All names, in the order in which they were first put."""
        return tuple(dict.fromkeys(str(trial.user_attrs.get(_NAME)) for trial in self._kept()))

    def attach(self, number: int, name: str, content: bytes) -> None:
        """Keep a file of a trial, before the trial is told: who sees it told finds the file."""
        self.put(_of_trial(number, name), content)

    def attachment(self, number: int, name: str) -> bytes | None:
        """A file of a trial; None if it has none of that name.

        Raises:
            HalfwiseError: as `get`.
        """
        return self.get(_of_trial(number, name))

    def _kept(self) -> list[FrozenTrial]:
        return self.storage.get_all_trials(self.study_id, deepcopy=False, states=(TrialState.COMPLETE,))


def _of_trial(number: int, name: str) -> str:
    return f"trial {number}: {name}"


def _content(name: str, known: Mapping[str, Any]) -> bytes:
    try:
        packed = base64.b64decode("".join(known[str(number)] for number in range(known[_CHUNKS])), validate=True)
        unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        content = unpacker.decompress(packed, MOST_BYTES)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise HalfwiseError(f"the study's storage holds no readable file under {name!r}: {error}") from error
    if not unpacker.eof:
        raise HalfwiseError(
            f"the study's storage holds a file {name!r} that is cut short, or larger than {MOST_BYTES} bytes"
        )
    return content
