"""Files of a study that go through its storage, between two folders that see nothing of each other."""

from pathlib import Path

import pytest
from finished_study import add_trial
from shared_studies import attempts_in, folder_in, search_in

from halfwise.evaluators.json_file import write_json
from halfwise.experiments.cost import Cost, worker_steps
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.mirror import ThroughStorage, bring_study, study_files
from halfwise.search.storage_address import StorageAddress
from halfwise.search.study import Search
from halfwise.search.told import Proposal


@pytest.fixture
def search(tmp_path: Path) -> Search:
    """A study in a database."""
    return search_in(StorageAddress.parse(f"sqlite:///{tmp_path}/studies.db", Path()), "study")


def mirror(folder: StudyFolder, search: Search, worker: str) -> ThroughStorage:
    """That of a worker."""
    return ThroughStorage(folder, search, folder.worker_folder(worker) / "cost.json")


def test_what_is_published_is_brought(tmp_path: Path, search: Search) -> None:
    """Byte for byte; a file that is there already stays, unless all are wanted anew."""
    here, there = folder_in(tmp_path / "a", "study"), folder_in(tmp_path / "b", "study")
    for number, file in enumerate(study_files(here)[:-1]):
        file.write_bytes(bytes([number, 0, 255]) * 100)
    mirror(here, search, "one").publish()
    there.float32_file.write_bytes(b"own")
    bring_study(there, search.documents, anew=False)
    assert there.float32_file.read_bytes() == b"own"
    bring_study(there, search.documents, anew=True)
    brought = {file.name: file.read_bytes() for file in study_files(there) if file.exists()}
    assert brought == {file.name: file.read_bytes() for file in study_files(here)[:-1]}


def test_an_outcome_goes_to_whoever_lacks_it(tmp_path: Path, search: Search) -> None:
    """With its policy; a trial that nobody handed in is passed over."""
    here, there = folder_in(tmp_path / "a", "study"), folder_in(tmp_path / "b", "study")
    proposal = search.ask()
    assert isinstance(proposal, Proposal)
    add_trial(here, proposal.number, "O0", speed=100.0, quality=0.9)
    mirror(here, search, "one").hand_in(proposal.number)
    search.tell(proposal.number, 0.9, 100.0)
    other = attempts_in(there, search, mirror=mirror(there, search, "two"))
    other.mirror.fetch([proposal.number + 7])
    (record,) = other.arrivals([])
    assert record.outcome.quality == 0.9
    for name in ("outcome.json", "policy.yaml"):
        assert (there.trial_folder(0) / name).read_bytes() == (here.trial_folder(0) / name).read_bytes()
    assert [place.name for place in there.trials.iterdir()] == ["000"]


def test_ledgers_are_added_up_on_both_sides(tmp_path: Path, search: Search) -> None:
    """Each has its own newest one, and the other's as it was given last."""
    here, there = folder_in(tmp_path / "a", "study"), folder_in(tmp_path / "b", "study")
    one, two = mirror(here, search, "one"), mirror(there, search, "two")
    for each, steps in ((one, 20), (two, 300)):
        each.ledger.parent.mkdir(parents=True)
        write_json(Cost(steps=steps), each.ledger)
        each.level_costs()
    one.level_costs()
    assert worker_steps(here) == worker_steps(there) == 320
    write_json(Cost(steps=40), one.ledger)
    two.level_costs()
    assert (worker_steps(here), worker_steps(there)) == (340, 320)
    one.level_costs()
    two.level_costs()
    assert worker_steps(there) == 340


@pytest.mark.parametrize(
    "name",
    [
        *("../cost.json", "/tmp/cost.json", "workers/../../cost.json", "workers/a/b/cost.json"),
        *("workers/.a/cost.json", "workers/a/other.json", "trials/000/outcome.json", "workers//cost.json"),
    ],
)
def test_a_name_from_the_storage_becomes_no_path(tmp_path: Path, search: Search, name: str) -> None:
    """Only ledgers are looked for by their names there; any other name is left alone."""
    folder = folder_in(tmp_path / "a", "study")
    before = sorted(tmp_path.rglob("*"))
    search.documents.put(name, b"{}")
    mirror(folder, search, "one").level_costs()
    bring_study(folder, search.documents, anew=True)
    assert sorted(tmp_path.rglob("*")) == before
