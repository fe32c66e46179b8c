"""Studies whose processes are killed at random moments, over the command line: nothing that finished is lost."""

from pathlib import Path

import pytest
from postgres import Postgres

from benchmarks.faults.kills import Verdict, besieging
from benchmarks.faults.study import FaultyStudy

SEED = 1


def besieged(study: FaultyStudy, kills: int) -> Verdict:
    """What a siege of two workers comes to; pytest shows what it said if the test fails."""
    with besieging(study, SEED, print) as siege:
        return siege.run(kills)


def assert_nothing_lost(verdict: Verdict) -> None:
    """No finished trial is gone, none counts twice, nothing is left, and each process lost one trial at most."""
    assert verdict.lost == ()
    assert verdict.doubled == ()
    assert verdict.running == ()
    assert verdict.broken == ()
    assert max(verdict.lost_by_process.values(), default=0) <= 1
    assert verdict.failed <= verdict.kills["trial"]
    assert verdict.resumed_s <= 60


@pytest.mark.timeout(600)
def test_a_study_survives_a_kill_and_a_power_cut(tmp_path: Path):
    """With one random process killed, and then all at once, the study comes to its end as if nothing had been."""
    verdict = besieged(FaultyStudy(tmp_path, trials=6), kills=2)
    assert verdict.finished >= 1
    assert_nothing_lost(verdict)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_a_study_survives_ten_kills(tmp_path: Path):
    """Nine processes are killed at random moments, and then all at once."""
    verdict = besieged(FaultyStudy(tmp_path, trials=16), kills=10)
    assert verdict.kills.total() >= 10
    assert verdict.finished >= 5
    assert_nothing_lost(verdict)


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_a_study_in_postgresql_survives_kills(tmp_path: Path, postgres: Postgres):
    """Four processes are killed and then all at once, where the study is in a database."""
    verdict = besieged(FaultyStudy(tmp_path, trials=8, storage=postgres.url, name="killed"), kills=5)
    assert verdict.finished >= 1
    assert_nothing_lost(verdict)
