"""Whether the owner of a trial still runs, as far as one can see."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfwise.search.lease import BEAT_S, EXPIRY_S, Owner, Watch

JSON = st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=2))
SHOW = """
import json, time
from halfwise.search.lease import Owner
print(json.dumps(Owner.here().stored()), flush=True)
time.sleep(60)
"""


def test_an_owner_is_alive_as_long_as_its_process() -> None:
    """Another process sees it run, and sees at once that it was killed, before anybody has waited for it."""
    process = subprocess.Popen([sys.executable, "-c", SHOW], stdout=subprocess.PIPE)
    assert process.stdout is not None
    owner = Owner.read(json.loads(process.stdout.readline()))
    assert owner is not None
    assert (owner.pid, owner.host) == (process.pid, Owner.here().host)
    assert owner.alive() is True
    process.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert owner.alive() is False, "a process that nobody has waited for is over too"
    process.wait()
    assert owner.alive() is False


def test_a_later_process_of_the_same_number_is_another_one() -> None:
    """The number alone does not tell a process: its start does."""
    here = Owner.here()
    assert here.alive() is True
    assert replace(here, started=here.started - 1).alive() is False


@pytest.mark.parametrize("change", [{"boot": "other"}, {"pid_namespace": "pid:[1]"}, {"boot": "", "pid": 1}])
def test_what_cannot_be_seen_is_unknown(change: dict[str, object]) -> None:
    """Of a process on another machine, before a restart, or in another container nobody here can tell."""
    assert replace(Owner.here(), **change).alive() is None


def test_an_owner_is_read_back_as_it_was_stored() -> None:
    """Two owners of one process are told apart by their workers' names."""
    first, second = Owner.here("1"), Owner.here("2")
    assert Owner.read(first.stored()) == first
    assert first != second
    assert Owner.here() != Owner.here()


@given(
    JSON | st.dictionaries(st.sampled_from(["host", "boot", "pid_namespace", "pid", "started", "worker"]), JSON)
)
def test_what_is_no_owner_is_none(stored: object) -> None:
    """A storage may hold anything in an owner's place: it is an owner, or nobody."""
    owner = Owner.read(stored)
    assert owner is None or Owner.read(owner.stored()) == owner


@given(st.lists(st.tuples(st.floats(0, 3 * EXPIRY_S), st.booleans()), max_size=40))
def test_a_lease_is_over_after_so_much_watched_silence(looks: list[tuple[float, bool]]) -> None:
    """It counts from the last renewal that was seen; of each pause between two looks at most one beat counts."""
    now_s, pulse, quiet_s = 0.0, 0, 0.0
    watch = Watch(clock=lambda: now_s)
    assert not watch.silent("lease", pulse)
    for pause_s, renewed in looks:
        now_s += pause_s
        pulse += renewed
        quiet_s = 0.0 if renewed else quiet_s + min(pause_s, BEAT_S)
        if abs(quiet_s - EXPIRY_S) > 1e-6:
            assert watch.silent("lease", pulse) == (quiet_s > EXPIRY_S)
        else:
            watch.silent("lease", pulse)
    assert not watch.silent("another", pulse)
