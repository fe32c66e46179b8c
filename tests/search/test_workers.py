"""Several workers share a study: the same must hold in every storage that they can share."""

import json
import math
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
import search_workers

from halfwise.policies.errors import HalfwiseError
from halfwise.search.lease import BEAT_S, EXPIRY_S, LeaseLost, Owner, Watch
from halfwise.search.parts import LEVELS as LEVELS_PART
from halfwise.search.parts import SAMPLED, part_name
from halfwise.search.storage import open_storage
from halfwise.search.study import Search
from halfwise.search.told import GIVEN_UP, INTERRUPTED, Busy, Proposal

from .fake_search import LEVELS, asked, dead_owner, run
from .places import Place
from .test_site_advisor import low_sites, site_advisor


def elsewhere() -> Owner:
    """A process on another machine: nobody here can see whether it runs."""
    return replace(Owner.here(), boot="another", host="another")


def die(*_: object, **__: object) -> None:
    """End here, as a process that is killed does."""
    raise KeyboardInterrupt


class Clock:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        """It is now."""
        self.now_s = 0.0

    def __call__(self) -> float:
        """Seconds since then."""
        return self.now_s

    def pass_by(self, seconds: float, *searches: Search) -> None:
        """Let time go by; each search looks at the leases as often as it beats."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.now_s += BEAT_S
            for search in searches:
                search.abandoned()


def states(place: Place) -> list[optuna.trial.TrialState]:
    """Those of all trials and turns."""
    storage = open_storage(place.address)
    names = [part_name(place.prefix, part) for part in (LEVELS_PART, SAMPLED, "turns")]
    ids = [storage.get_study_id_from_name(name) for name in names]
    return [trial.state for study_id in ids for trial in storage.get_all_trials(study_id)]


def test_workers_see_what_the_others_run_and_have_told(place: Place) -> None:
    """Each fixed policy is proposed once, numbers run across workers, and who tells is all the same."""
    first, second = place.open(fixed=LEVELS), place.open(fixed=LEVELS)
    proposals = [asked(search) for search in (first, second, second, first, second, first)]
    assert [(p.number, p.name) for p in proposals] == list(enumerate(("O0", "O1", "O2", "O3", "auto", None)))
    assert first.in_flight() == second.counted() == 6
    first.tell(0, 0.5, 100.0)
    second.tell(2, 0.6, 120.0)
    second.tell_longer(0, 0.7)
    assert [(told.number, told.quality) for told in first.finished()] == [(0, 0.7), (2, 0.6)]
    assert first.finished() == second.finished() == place.open(fixed=LEVELS).finished()
    with pytest.raises(
        HalfwiseError, match=r"trial 1 is not running, so nothing can be told of it; running: 3, 5"
    ):
        first.tell(1, 0.5, 100.0)


def test_workers_together_keep_to_the_limit(place: Place) -> None:
    """Who asks for more than there may be waits for the others, and ends when they have told."""
    first, second = place.open(), place.open()
    assert [asked(first, limit=2).number, asked(second, limit=2).number] == [0, 1]
    assert first.ask(limit=2) == Busy(in_flight=2)
    first.tell(0, 0.5, 100.0)
    assert first.ask(limit=2) == second.ask(limit=2) == Busy(in_flight=1)
    second.give_up(1)
    assert asked(first, limit=2).number == 2
    first.tell_failed(2, "killed")
    assert first.ask(limit=2) is None
    assert second.ask(limit=2) is None
    assert first.counted() == 2


def test_a_searcher_counts_others_trials_as_pending(place: Place) -> None:
    """Two workers of one ladder never try the same, and one that finds nothing waits for what the other learns."""
    first, second = (place.open(site_advisor("exhaustive"), fixed=()) for _ in range(2))
    proposals = [asked(search) for search in (first, second) * 3] + [asked(first)]
    assert len({frozenset(low_sites(proposal.policy)) for proposal in proposals}) == 7, "eight less float32"
    turns = len(states(place))
    assert first.ask() == second.ask() == Busy(in_flight=7)
    assert len(states(place)) == turns + 2
    assert first.ask() == second.ask() == Busy(in_flight=7)
    assert len(states(place)) == turns + 2, "who waits takes no turns"
    for number, proposal in enumerate(proposals):
        (second if number % 2 and number < 6 else first).tell(proposal.number, 0.9, 100.0, quality_lost=0.1)
    assert first.ask() is None
    assert second.ask() is None


def test_the_trial_of_a_dead_process_returns_at_once(quick_place: Place) -> None:
    """It is abandoned as soon as its process is gone, counts for nothing once given up, and is proposed again."""
    dead, alive = quick_place.open(owner=dead_owner()), quick_place.open()
    lost, kept = asked(dead), asked(alive)
    assert alive.abandoned() == (lost,)
    assert dead.abandoned() == ()
    alive.give_up(lost.number)
    alive.give_up(lost.number)
    again = asked(alive)
    assert (again.number, again.name, again.policy) == (2, lost.name, lost.policy)
    assert [(told.number, told.cause) for told in alive.finished()] == [(0, INTERRUPTED)]
    assert alive.counted() == alive.in_flight() == 2
    for tell in (lambda: dead.tell(0, 0.5, 100.0), lambda: dead.tell_failed(0, "late")):
        with pytest.raises(HalfwiseError, match="trial 0"):
            tell()
    alive.tell(kept.number, 0.5, 100.0)
    alive.tell(again.number, 0.5, 100.0)
    assert [told.number for told in alive.finished() if not told.interrupted] == [1, 2]


def test_a_late_outcome_is_refused(place: Place) -> None:
    """Who was taken for gone learns it from the lease, and what it tells is not counted, whatever it is."""
    for tell in ("tell", "tell_infeasible", "tell_failed"):
        late, other = place.open(), place.open()
        number = asked(late).number
        other.give_up(number)
        assert late.beat() == (number,)
        before = other.finished()
        with pytest.raises(LeaseLost, match=f"trial {number} was taken for abandoned"):
            getattr(late, tell)(number, *((0.5, 100.0) if tell == "tell" else ("late",)))
        assert other.finished() == before
        assert late.beat() == ()


def test_an_outcome_that_was_found_is_told_by_its_finder(place: Place) -> None:
    """An abandoned trial is adopted: its new owner tells it, the old one cannot any more."""
    dead, alive = place.open(owner=dead_owner()), place.open()
    number = asked(dead).number
    alive.adopt(number)
    assert alive.abandoned() == dead.abandoned() == ()
    with pytest.raises(LeaseLost, match="trial 0"):
        dead.tell(number, 0.1, 1.0)
    alive.tell(number, 0.5, 100.0)
    assert [(told.number, told.quality) for told in dead.finished()] == [(0, 0.5)]
    with pytest.raises(LeaseLost, match="trial 0 is over"):
        alive.adopt(number)
    with pytest.raises(HalfwiseError, match="the study has no trial 17"):
        alive.adopt(17)


def test_a_lease_on_another_machine_runs_out_by_the_observers_clock(place: Place) -> None:
    """A lease that is renewed lasts; one that is not is over after a while, in which the storage was there."""
    clock = Clock()
    worker, observer = place.open(owner=elsewhere()), place.open(watch=Watch(clock=clock))
    proposal = asked(worker)
    assert observer.abandoned() == ()
    for _ in range(3):
        clock.pass_by(EXPIRY_S, observer)
        assert worker.beat() == ()
        assert observer.abandoned() == ()
    # While nobody can reach the storage, no lease can be renewed.
    clock.now_s += 10 * EXPIRY_S
    assert observer.abandoned() == ()
    clock.pass_by(EXPIRY_S - BEAT_S, observer)
    assert observer.abandoned() == (proposal,)
    assert worker.beat() == ()
    assert observer.abandoned() == ()


def test_a_trial_that_was_just_being_told_is_not_lost(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before Optuna's own record, its trial is closed as it was told by the next who looks."""
    dead, alive = place.open(owner=dead_owner(), fixed=LEVELS), place.open(fixed=LEVELS)
    for tell in (
        lambda: dead.tell(0, 0.5, 2.0),
        lambda: dead.tell_infeasible(1, "loss never moved"),
        lambda: dead.tell_failed(2, "killed"),
    ):
        asked(dead)
        with monkeypatch.context() as patch:
            patch.setattr(optuna.Study, "tell", die)
            with pytest.raises(KeyboardInterrupt):
                tell()
    assert alive.abandoned() == ()
    assert [(t.number, t.status, t.quality, t.cause) for t in alive.finished()] == [
        (0, "trained", 0.5, None),
        (1, "infeasible", None, "loss never moved"),
        (2, "failed", None, "killed"),
    ]


def test_whoever_dies_while_it_proposes_holds_nobody_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its turn is ended by the next, its half-made trial is dropped, and nothing of it is ever seen."""
    watch = Watch(expiry_s=math.inf)
    dead, alive = place.open(owner=dead_owner(), fixed=()), place.open(fixed=(), watch=watch)
    with monkeypatch.context() as patch:
        patch.setattr(optuna.Trial, "set_user_attr", die)
        # A killed process does not end its turn either.
        patch.setattr(type(open_storage(place.address)), "set_trial_state_values", lambda *_: True)
        with pytest.raises(KeyboardInterrupt):
            dead.ask()
    assert states(place) == [optuna.trial.TrialState.RUNNING] * 2
    assert alive.in_flight() == 0
    assert asked(alive).number == 0
    alive.tell(0, 0.5, 100.0)
    assert alive.abandoned() == ()
    assert optuna.trial.TrialState.RUNNING not in states(place)
    assert [told.number for told in alive.finished()] == [0]


def test_looking_for_abandoned_trials_clears_what_was_left_while_proposing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of a budget nobody proposes any more: still nothing is left running."""
    dead, alive = place.open(owner=dead_owner(), fixed=()), place.open(fixed=())
    with monkeypatch.context() as patch:
        patch.setattr(optuna.Trial, "set_user_attr", die)
        with pytest.raises(KeyboardInterrupt):
            dead.ask()
    assert optuna.trial.TrialState.RUNNING in states(place)
    assert alive.abandoned() == ()
    assert optuna.trial.TrialState.RUNNING not in states(place)
    assert alive.finished() == ()


def test_a_turn_that_was_lost_is_taken_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Held up while it proposes, a process finds that others went on, withdraws, and proposes something else."""
    clock = Clock()
    slow, fast = place.open(fixed=()), place.open(fixed=(), watch=Watch(clock=clock))
    seen: list[Proposal] = []
    set_user_attr = optuna.Trial.set_user_attr

    def held_up(trial: optuna.Trial, key: str, value: object) -> None:
        set_user_attr(trial, key, value)
        if not seen:
            # What `fast` has looked at for long enough without a change is over for it.
            fast.beat()
            clock.pass_by(EXPIRY_S + BEAT_S, fast)
            monkeypatch.undo()
            seen.append(asked(fast))

    monkeypatch.setattr(optuna.Trial, "set_user_attr", held_up)
    proposal = asked(slow)
    assert {proposal.number, seen[0].number} == {1, 2}
    assert proposal.policy != seen[0].policy
    assert fast.counted() == fast.in_flight() == 2
    slow.tell(proposal.number, 0.5, 100.0)
    fast.tell(seen[0].number, 0.5, 100.0)
    assert [told.number for told in slow.finished()] == [1, 2]


def test_who_asks_while_another_proposes_waits(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one proposes at a time: the next one sees the proposal before it, and its number comes after."""
    first, second = place.open(fixed=()), place.open(fixed=())
    found: list[Proposal] = []
    asks = threading.Thread(target=lambda: found.append(asked(second)))
    set_user_attr = optuna.Trial.set_user_attr

    def meanwhile(trial: optuna.Trial, key: str, value: object) -> None:
        monkeypatch.undo()
        asks.start()
        asks.join(0.3)
        set_user_attr(trial, key, value)

    monkeypatch.setattr(optuna.Trial, "set_user_attr", meanwhile)
    found.insert(0, asked(first))
    asks.join()
    assert [proposal.number for proposal in found] == [0, 1]
    assert found[0].policy != found[1].policy


def test_an_interrupted_draw_is_made_again_though_a_later_one_runs(place: Place) -> None:
    """Each draw has a place and a seed of its own; the place of one that is given up is free again."""
    first, second = place.open(fixed=()), place.open(fixed=())
    lost, kept = asked(first), asked(second)
    second.give_up(lost.number)
    again, next_one = asked(second), asked(second)
    assert again.policy == lost.policy
    assert len({str(each.policy) for each in (lost, kept, next_one)}) == 3


def test_a_trial_that_is_given_up_while_it_is_told_counts_for_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Marked between its status and its end, it is interrupted for its owner and for everybody else."""
    late, other = place.open(fixed=()), place.open(fixed=())
    asked(late)
    tell = optuna.Study.tell

    def given_up_first(study: optuna.Study, *told: Any) -> object:
        monkeypatch.undo()
        storage = open_storage(place.address)
        study_id = storage.get_study_id_from_name(part_name(place.prefix, SAMPLED))
        trial_id = storage.get_trial_id_from_study_id_trial_number(study_id, 0)
        storage.set_trial_user_attr(trial_id, GIVEN_UP, True)
        storage.set_trial_state_values(trial_id, optuna.trial.TrialState.FAIL)
        return tell(study, *told)

    monkeypatch.setattr(optuna.Study, "tell", given_up_first)
    with pytest.raises(LeaseLost):
        late.tell(0, 0.5, 100.0)
    assert [(told.number, told.cause, told.quality) for told in other.finished()] == [(0, INTERRUPTED, None)]
    assert other.counted() == 0


def test_leases_are_renewed_from_another_thread(place: Place) -> None:
    """A thread that beats without a pause disturbs neither asking nor telling, and takes no lease for lost."""
    search, over, lost = place.open(), threading.Event(), list[int]()

    def beats() -> None:
        while not over.is_set():
            lost.extend(search.beat())

    thread = threading.Thread(target=beats)
    thread.start()
    run(search, 12)
    over.set()
    thread.join()
    assert lost == []
    assert [told.number for told in search.finished()] == list(range(12))


def test_the_end_is_known_to_all(place: Place) -> None:
    """Why the search ended is read by each worker, until it goes on."""
    first, second = place.open(), place.open()
    assert second.ended() is None
    first.note_ended("30 trials were made")
    assert second.ended() == "30 trials were made"
    second.note_ended(None)
    assert first.ended() is None


def test_a_lone_worker_proposes_the_same_in_every_storage(place: Place, tmp_path: Path) -> None:
    """One worker's proposals hang on the seed and the outcomes alone, not on where the study is kept."""
    (tmp_path / "beside").mkdir()
    beside = replace(place, address=replace(place.address, kind="journal", path=tmp_path / "beside/log", url=None))
    texts = [[str(p.policy) for p in run(where.open("tpe"), 14)] for where in (place, beside)]
    assert texts[0] == texts[1]


def worker_processes(place: Place, folder: Path, limit: int, killed_at: list[int | None]) -> list[list[int]]:
    """The numbers that each of several processes told; one that was killed reports nothing."""
    url, journal = place.address.reveal(), str(place.address.path or folder / "unused")
    shared = {"url": url, "journal": journal, "study": place.study, "limit": limit}
    request = json.dumps({"shared": shared, "reports": str(folder), "killed_at": killed_at})
    done = subprocess.run([sys.executable, search_workers.__file__, request], timeout=120, check=False)
    assert done.returncode == 0
    reports = [folder / f"{number}.json" for number in range(len(killed_at))]
    return [[number for number, _ in json.loads(r.read_text())] if r.exists() else [] for r in reports]


def shared_by_processes(place: Place, limit: int) -> Search:
    """The study that the processes share."""
    return search_workers.Shared(place.address.reveal(), str(place.address.path), place.study, limit).open()


@pytest.mark.parametrize("limit", [6, pytest.param(40, marks=pytest.mark.full)])
def test_four_processes_share_their_trials(quick_place: Place, tmp_path: Path, limit: int) -> None:
    """No trial is lost, none is made twice, none too many, and the fixed policies are tried once each."""
    told = worker_processes(quick_place, tmp_path, limit, killed_at=[None] * 4)
    assert sorted(number for numbers in told for number in numbers) == list(range(limit))
    finished = shared_by_processes(quick_place, limit).finished()
    assert [(each.number, each.speed) for each in finished] == [(n, 100.0 + n) for n in range(limit)]
    assert sorted(each.name for each in finished if each.name) == ["O0", "O1", "O2"]


def test_the_trials_of_killed_processes_are_made_by_the_others(quick_place: Place, tmp_path: Path) -> None:
    """Two of three are killed in a trial: each costs that trial alone, which the other process makes again."""
    told = worker_processes(quick_place, tmp_path, limit=9, killed_at=[None, 1, 0])
    assert told[1] == told[2] == []
    finished = shared_by_processes(quick_place, 9).finished()
    assert len([each for each in finished if each.interrupted]) == 2
    counted = [each.number for each in finished if not each.interrupted]
    assert len(counted) == 9
    assert set(told[0]) < set(counted)
    assert len(told[0]) == 8, "all but the one that the second process had told"
    assert optuna.trial.TrialState.RUNNING not in states(quick_place)
