"""Opens the storage that an address names: a journal file, or a database through Optuna's RDBStorage."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import sqlalchemy
from optuna.storages import BaseStorage, RDBStorage, get_storage
from sqlalchemy.exc import IntegrityError, ProgrammingError

from ..policies.errors import HalfwiseError, InputError
from .journal import open_journal
from .patient_storage import PATIENCE_S, Patience, PatientStorage
from .storage_address import StorageAddress

# A server that a person has just named is there, or is mistyped.
OPENING_PATIENCE_S = 10
_ATTEMPTS = 3

# A server that vanished without a word (a cut cable) is noticed after about 20 s.
_CONNECTION: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "postgresql": {
            "connect_timeout": 10,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 2,
            "tcp_user_timeout": 20_000,
        },
        "mysql": {"connect_timeout": 10, "read_timeout": 30, "write_timeout": 30},
        "sqlite": {"timeout": 30},
    }
)


def open_storage(address: StorageAddress, patience_s: float = PATIENCE_S) -> BaseStorage:
    """The storage at an address, made ready for studies if it is new.

    A database that is away is tried again for `patience_s`, each time that it goes; when it is opened first, for
    `OPENING_PATIENCE_S` at most.

    Raises:
        InputError: the driver of such a database is not installed.
        HalfwiseError: the storage cannot be opened; each call on it raises one where it stays away.
    """
    if address.path is not None:
        return open_journal(address.path)
    opening = Patience(address, min(patience_s, OPENING_PATIENCE_S))
    return PatientStorage(
        get_storage(opening.call(lambda: _open_database(address))), Patience(address, patience_s)
    )


def studies_in(address: StorageAddress, patience_s: float = OPENING_PATIENCE_S) -> tuple[str, ...]:
    """The names of the Optuna studies in a storage, none where there is no storage yet; nothing is made.

    Raises:
        InputError: the driver of such a database is not installed.
        HalfwiseError: the storage cannot be read.
    """
    if address.path is not None:
        there = address.path.exists()
    else:
        there = _file_is_there(address) and Patience(address, patience_s).call(lambda: _has_tables(address))
    return tuple(each.study_name for each in open_storage(address, patience_s).get_all_studies()) if there else ()


def _open_database(address: StorageAddress) -> RDBStorage:
    """Optuna's storage; where several processes make the tables at once, all but one of them try again."""
    for attempt in range(_ATTEMPTS):
        try:
            return RDBStorage(_template(address), engine_kwargs=_engine_options(address))
        except ImportError as error:
            raise _no_driver(address) from error
        except (IntegrityError, ProgrammingError):
            if attempt == _ATTEMPTS - 1:
                raise
        except RuntimeError as error:
            raise HalfwiseError(f"the storage {address} belongs to another version of Optuna: {error}") from error
    raise AssertionError("unreachable")


def _has_tables(address: StorageAddress) -> bool:
    assert address.url is not None
    try:
        engine = sqlalchemy.create_engine(address.url, **_engine_options(address))
    except ImportError as error:
        raise _no_driver(address) from error
    try:
        return sqlalchemy.inspect(engine).has_table("studies")
    finally:
        engine.dispose()


def _file_is_there(address: StorageAddress) -> bool:
    """Whether a file of sqlite's is, which looking into it would make."""
    database = address.url.database if address.url is not None else None
    return address.kind != "sqlite" or (database is not None and Path(database).exists())


def _template(address: StorageAddress) -> str:
    """The URL as Optuna takes it: a template, in which braces are doubled."""
    assert address.url is not None
    return address.url.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}")


def _engine_options(address: StorageAddress) -> dict[str, Any]:
    # A connection that died while a trial trained is found out before it is used.
    return {"pool_pre_ping": True, "connect_args": dict(_CONNECTION[address.kind])}


def _no_driver(address: StorageAddress) -> InputError:
    return InputError(
        f"a storage {address.kind}:// needs a driver that is not installed: pip install 'halfwise[{address.kind}]'"
    )
