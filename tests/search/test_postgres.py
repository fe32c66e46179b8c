"""What a database server does to a search: it restarts, goes away, or refuses."""

import subprocess
import sys
import threading
from pathlib import Path
from signal import SIGINT, SIGQUIT

import pytest
from postgres import PASSWORD, Postgres

from halfwise.policies.errors import HalfwiseError
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress

from .fake_search import asked, figures
from .places import database_at

OPEN = """
import sys
from pathlib import Path
from halfwise.search.storage import open_storage
from halfwise.search.storage_address import StorageAddress
open_storage(StorageAddress.parse(sys.argv[1], Path("unused")))
"""


@pytest.mark.parametrize("signal", [SIGINT, SIGQUIT])
def test_a_search_outlasts_a_restart_of_the_server(postgres: Postgres, signal: int) -> None:
    """Asked and told while the server is down for a moment, the search goes on as soon as it is back."""
    search = database_at(postgres.url).open()
    first = asked(search)
    postgres.stop(signal)
    back = threading.Timer(0.5, postgres.start)
    back.start()
    search.tell(first.number, *figures(first.policy))
    back.join()
    postgres.stop(signal)
    postgres.start()
    second = asked(search)
    assert search.beat() == ()
    search.tell(second.number, *figures(second.policy))
    assert [told.number for told in search.finished()] == [0, 1]


def test_a_server_that_stays_away_is_one_clear_error(postgres: Postgres) -> None:
    """After its patience the search says which storage, why, and what to do; what was told is there afterwards."""
    place = database_at(postgres.url)
    search = place.open(patience_s=0.5)
    search.tell(asked(search).number, 0.5, 100.0)
    postgres.stop()
    try:
        with pytest.raises(
            HalfwiseError, match=r"the storage postgresql://tester:\*\*\*@127.* for 0\.5 s"
        ) as caught:
            search.ask()
        assert "Nothing that finished is lost" in str(caught.value)
        assert PASSWORD not in str(caught.value)
        assert "\n" not in str(caught.value)
    finally:
        postgres.start()
    assert [told.number for told in place.open().finished()] == [0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("s3cr3t", "wr0ng"), r'refused what halfwise asked of it: .*authentication failed for user "tester"'),
        (("/studies", "/nothing"), r'refused what halfwise asked of it: .*database "nothing" does not exist'),
        (("127.0.0.1", "127.0.0.2"), r"has not answered for 0\.2 s: .*refused"),
    ],
)
def test_a_mistyped_address_is_one_clear_error(postgres: Postgres, change: tuple[str, str], message: str) -> None:
    """A wrong password or name is said at once, a missing server after a while, no password in either."""
    address = StorageAddress.parse(postgres.url.replace(*change), Path("unused"))
    with pytest.raises(HalfwiseError, match=message) as caught:
        open_storage(address, patience_s=0.2)
    assert "3cr3t" not in str(caught.value)
    assert "wr0ng" not in str(caught.value)


def test_a_missing_driver_is_named(tmp_path: Path) -> None:
    """Without the optional driver, the error says what to install."""
    blocked = "import sys; sys.modules['psycopg'] = None\n" + OPEN
    done = subprocess.run(
        [sys.executable, "-c", blocked, "postgresql://me@127.0.0.1/db"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip install 'halfwise[postgresql]'" in done.stderr.splitlines()[-1]


@pytest.mark.full
def test_processes_may_open_a_new_database_at_once(postgres: Postgres) -> None:
    """Several processes make the tables of one empty database: all of them find it ready."""
    url = postgres.create_database("fresh")
    processes = [subprocess.Popen([sys.executable, "-c", OPEN, url]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
