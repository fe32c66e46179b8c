"""What a person may write as a storage, and what of it is ever shown."""

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.policies.errors import InputError
from halfwise.search.storage_address import StorageAddress

JOURNAL = Path("/home/me/studies/digits/journal.log")


def parse(url: str | None) -> StorageAddress:
    """The address, for a study whose journal would be there."""
    return StorageAddress.parse(url, JOURNAL)


def test_no_url_is_the_journal_of_the_study() -> None:
    """The default is a file in the study's folder, which several workers share and which holds one study."""
    address = parse(None)
    assert (address.kind, address.path, address.reveal()) == ("journal", JOURNAL, None)
    assert str(address) == str(JOURNAL)
    assert address.several_workers
    assert address.prefix("digits") == ""


@pytest.mark.parametrize("kind", ["postgresql", "mysql"])
def test_a_database_server_is_shared_by_all_studies(kind: str) -> None:
    """Its text shows where it is and as whom; the whole URL is given out only when asked for."""
    address = parse(f"{kind}://me:qx%40zz@db.example:5433/studies?connect_timeout=3&password=other")
    assert str(address) == f"{kind}://me:***@db.example:5433/studies"
    assert "qx" not in repr(address)
    assert parse(address.reveal()) == address
    assert "qx%40zz" in str(address.reveal())
    assert address.several_workers
    assert address.prefix("digits") == "digits"
    address.refuse_one_worker_only()


def test_sqlite_is_for_one_worker() -> None:
    """A file of sqlite's is a storage for one worker; for several it is refused with the reason and the remedy."""
    address = parse("sqlite:///studies.db")
    assert not address.several_workers
    with pytest.raises(
        InputError, match=r"sqlite:///studies.db cannot be shared .* locks its whole file .* postgre"
    ):
        address.refuse_one_worker_only()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("redis://:secret@host:6379", "storage redis:// is refused: Optuna's snapshots in Redis are unpickled"),
        ("rediss://:secret@host", "storage rediss:// is refused"),
        (
            "postgres://me:secret@host/db",
            "unknown kind of storage postgres://: allowed are postgresql://USER@HOST",
        ),
        ("postgresql+psycopg2://me:secret@host/db", r"unknown kind of storage postgresql\+psycopg2://"),
        ("file:///secret", "unknown kind of storage file://"),
        ("secret", "what was given as storage is no URL: allowed are"),
        ("", "what was given as storage is no URL"),
        ("me:secret@host/db", "what was given as storage is no URL"),
        ("postgresql://me:se@cret@host/db", "has more than one '@': in a name or password write %40"),
        ("postgresql://me:secret@host:port/db", r"the storage URL postgresql://\.\.\. cannot be read"),
        ("postgresql://me:secret@host", "names no database: postgresql://USER@HOST/DATABASE"),
        ("sqlite://", "a sqlite storage needs a file: sqlite:///relative.db"),
        ("sqlite:///:memory:", "a sqlite storage needs a file"),
    ],
)
def test_anything_else_is_refused_without_its_secrets(url: str, message: str) -> None:
    """The error says what is allowed, and repeats of the URL no more than its scheme."""
    with pytest.raises(InputError, match=message) as caught:
        parse(url)
    assert not re.search("secret|cret", str(caught.value))


def shown(url: str) -> str:
    """Everything that is ever printed of a storage: its texts, or the error."""
    try:
        address = parse(url)
    except InputError as error:
        return f"{error} {error!r}"
    said = f'connection to "{address.reveal()}" failed with {address.url and address.url.password}'
    return f"{address} {address!r} {address.hide(said)}"


# Nothing that a user, a host or a message could hold by chance.
SECRETS = st.text(st.sampled_from("QXZ7%@:/?#[]{}&= é\\'\""), min_size=4, max_size=12).filter(
    lambda text: sum(each in "QXZ7" for each in text) >= 4
)


@given(
    st.sampled_from(["postgresql", "mysql", "redis", "postgres", "POSTGRESQL"]),
    SECRETS,
    st.sampled_from(["{kind}://me:{secret}@host/db", "{kind}://me@host/db?password={secret}"]),
    st.booleans(),
)
def test_a_password_is_never_shown(kind: str, secret: str, form: str, quoted: bool) -> None:
    """Whatever a URL with a secret is made of, and however it is mistyped, no piece of the secret is printed."""
    # An option that is not quoted ends where the next one begins.
    quoted = quoted or "?" in form
    url = form.format(kind=kind, secret=quote(secret, safe="") if quoted else secret)
    text = shown(url)
    assert not re.search("[QXZ7]{2,}|[QXZ7].?[QXZ7]", text), text


@given(st.text(max_size=60), st.sampled_from(["", "postgresql://", "mysql://", "sqlite:///", "sqlite:"]))
def test_any_text_is_an_address_or_our_error(text: str, before: str) -> None:
    """The parser lets no exception of another's through, and what it takes is read back the same."""
    try:
        address = parse(before + text)
    except InputError:
        return
    assert parse(address.reveal()) == address
