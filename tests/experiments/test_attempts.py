"""What becomes of trials whose process was killed, at each moment between the proposal and what is told of it."""

from pathlib import Path

import pytest
from finished_study import add_trial, evaluator_for
from shared_studies import attempts_in, dead_owner, folder_in, search_in

from halfwise.experiments.attempts import Attempts
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.records import TrialRecord
from halfwise.experiments.side_by_side import SideBySide
from halfwise.experiments.speed import Measured
from halfwise.search.storage_address import StorageAddress
from halfwise.search.study import Search
from halfwise.search.told import Busy, Proposal


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    """A study's folder."""
    return folder_in(tmp_path, "study")


def open_search(folder: StudyFolder, dead: bool = False) -> Search:
    """The study, as a process that lives or as one that does not."""
    address = StorageAddress.parse(None, folder.journal_file)
    return search_in(address, folder.name, owner=dead_owner() if dead else None)


def asked(search: Search) -> Proposal:
    """The next proposal of a search that has one."""
    proposal = search.ask()
    assert isinstance(proposal, Proposal)
    return proposal


def left_behind(folder: StudyFolder) -> Proposal:
    """A trial of a process that was killed while it trained."""
    return asked(open_search(folder, dead=True))


def numbers(attempts: Attempts) -> list[int]:
    """The trials that count."""
    return [told.number for told in attempts.search.finished() if not told.interrupted]


def test_a_trial_without_an_outcome_is_proposed_again(folder: StudyFolder) -> None:
    """It counts for nothing, and the very same policy is the next one."""
    lost = left_behind(folder)
    attempts = attempts_in(folder, open_search(folder))
    assert attempts.recover([])
    assert numbers(attempts) == []
    assert attempts.search.in_flight() == 0
    again = asked(attempts.search)
    assert (again.name, again.policy) == (lost.name, lost.policy)
    assert again.number != lost.number


def test_a_trial_whose_outcome_is_on_the_disk_is_finished(folder: StudyFolder) -> None:
    """Killed before it was told it is told by the next process, once, and not trained again."""
    lost = left_behind(folder)
    add_trial(folder, lost.number, "O0", speed=100.0, quality=0.9)
    attempts = attempts_in(folder, open_search(folder))
    assert attempts.recover([])
    assert not attempts.recover([])
    (told,) = attempts.search.finished()
    assert (told.number, told.name, told.status, told.quality) == (lost.number, "O0", "trained", 0.9)
    assert [record.number for record in attempts.arrivals([])] == [lost.number]
    assert asked(attempts.search).name == "O1"


def test_an_outcome_of_another_policy_is_none(folder: StudyFolder) -> None:
    """Where a journal had lost its end a number is given anew: what lies there is not this trial's."""
    lost = left_behind(folder)
    add_trial(folder, lost.number, "O3", speed=100.0, quality=0.9)
    attempts = attempts_in(folder, open_search(folder))
    attempts.recover([])
    assert numbers(attempts) == []


def test_an_outcome_that_came_too_late_is_put_away(folder: StudyFolder) -> None:
    """A trial that was given up counts for nothing, whatever was written of it afterwards."""
    lost = left_behind(folder)
    attempts = attempts_in(folder, open_search(folder))
    attempts.recover([])
    add_trial(folder, lost.number, "O0", speed=100.0, quality=0.9)
    attempts.set_aside()
    place = folder.trial_folder(lost.number)
    assert not (place / "outcome.json").exists()
    assert (place / "outcome-not-counted.json").exists()
    assert attempts.arrivals([]) == []


def test_a_trial_that_was_told_arrives_once(folder: StudyFolder) -> None:
    """Killed after it was told, nothing is left to do but to hear of it."""
    worker = open_search(folder)
    proposal = asked(worker)
    add_trial(folder, proposal.number, "O0", speed=100.0, quality=0.9)
    worker.tell(proposal.number, 0.9, 100.0)
    attempts = attempts_in(folder, open_search(folder))
    assert not attempts.recover([])
    (record,) = attempts.arrivals([])
    assert record.number == proposal.number
    assert attempts.arrivals([record]) == []


def test_a_trial_of_a_living_process_is_left_alone(folder: StudyFolder) -> None:
    """Neither given up nor told, even though its outcome is on the disk already."""
    proposal = asked(worker := open_search(folder))
    add_trial(folder, proposal.number, "O0", speed=100.0, quality=0.9)
    attempts = attempts_in(folder, worker)
    assert not attempts.recover([])
    assert attempts.arrivals([]) == []
    assert attempts.search.in_flight() == 1


def test_nothing_is_begun_once_the_study_has_ended(folder: StudyFolder) -> None:
    """What was asked for in the same moment is given back, and counts for nothing."""
    attempts = attempts_in(folder, open_search(folder))
    attempts.search.note_ended("enough")
    assert attempts.next([], 9) is None
    assert attempts.search.in_flight() == 0
    assert attempts.search.counted() == 0


def test_where_speed_is_measured_float32_comes_first(folder: StudyFolder) -> None:
    """Nothing else begins while another process trains it: speeds are held against float32's."""
    worker, search = open_search(folder), open_search(folder)
    timing = SideBySide(evaluator_for("tiny_workloads:make_tiny"), Measured("CPU"), budget_s=1.0)
    attempts = attempts_in(folder, search, timing=timing)
    assert asked(worker).name == "O0"
    assert attempts.next([], 9) == Busy(1)
    assert search.counted() == 1
    assert not [told for told in search.finished() if told.interrupted]


@pytest.mark.full
def test_a_trial_given_away_meanwhile_counts_once(folder: StudyFolder) -> None:
    """A process that was taken for gone goes on to the next trial, and what it had made is put away."""
    search, other = open_search(folder), open_search(folder)

    class GivenAway:
        """Nothing to share; before the first trial is told it is given up by another process."""

        def hand_in(self, number: int) -> None:
            if number == 0:
                other.give_up(number)

        def fetch(self, numbers: list[int]) -> None:
            pass

    attempts = attempts_in(folder, search, worker="slow", mirror=GivenAway())
    record = attempts.next([], 9)
    assert isinstance(record, TrialRecord)
    assert record == attempts.arrivals([])[0]
    assert (record.name, record.number, record.outcome.worker) == ("O0", 1, "slow")
    assert numbers(attempts) == [1]
    assert (folder.trial_folder(0) / "outcome-not-counted.json").exists()
