"""Files of a study in its storage."""

import random
from pathlib import Path

import optuna
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halfwise.policies.errors import HalfwiseError, InputError
from halfwise.search.documents import CHUNK_CHARACTERS, Documents
from halfwise.search.parts import stored_documents, unknown_study
from halfwise.search.storage import open_storage, studies_in
from halfwise.search.storage_address import StorageAddress

from .fake_search import asked
from .places import Place


def test_documents_come_back_as_they_were_put(place: Place) -> None:
    """Any bytes, of any size, under any name, are read by another process; the latest under a name count."""
    # What cannot be compressed takes many chunks.
    large = random.Random(1).randbytes(160_000)
    kept = {"study.json": b"{}", "empty": b"", "a/../b\n": bytes(range(256)), "large": large}
    writer = place.open().documents
    for name, content in kept.items():
        writer.put(name, b"earlier")
        writer.put(name, content)
    reader = stored_documents(open_storage(place.address), place.prefix)
    assert {name: reader.get(name) for name in reader.names()} == kept
    assert reader.get("other") is None
    assert list(kept) == list(reader.names())


def test_the_same_content_is_kept_once(place: Place) -> None:
    """A search that starts again puts its files again: nothing is written then."""
    documents = place.open().documents
    for _ in range(3):
        documents.put("study.json", b"{}")
    assert len(documents.storage.get_all_trials(documents.study_id)) == 1


def test_a_trial_has_documents_of_its_own(place: Place) -> None:
    """Attached before a trial is told, they are there for whoever sees it told; they are no trials themselves."""
    search = place.open()
    number = asked(search).number
    search.documents.attach(number, "outcome.json", b"1")
    search.documents.put("outcome.json", b"2")
    search.tell(number, 0.5, 100.0)
    other = place.open()
    assert other.documents.attachment(number, "outcome.json") == b"1"
    assert other.documents.attachment(number, "policy.yaml") is None
    assert other.documents.attachment(number + 1, "outcome.json") is None
    assert other.counted() == 1


def test_each_chunk_fits_the_smallest_column(place: Place) -> None:
    """No attribute is longer than what MySQL keeps in a text."""
    documents = place.open().documents
    documents.put("large", random.Random(1).randbytes(80_000))
    attributes = documents.storage.get_all_trials(documents.study_id)[0].user_attrs
    assert max(len(str(value)) for value in attributes.values()) == CHUNK_CHARACTERS


def test_studies_are_listed_without_making_anything(place: Place, tmp_path: Path) -> None:
    """A storage that is not there holds none, and is not made; a missing study is refused by its name."""
    missing = StorageAddress.parse(None, tmp_path / "missing.log")
    assert studies_in(missing) == ()
    assert studies_in(StorageAddress.parse(f"sqlite:///{tmp_path}/missing.db", tmp_path)) == ()
    assert [each.name for each in tmp_path.iterdir() if "missing" in each.name] == []
    place.open()
    assert f"{place.prefix}/search".lstrip("/") in studies_in(place.address)
    with pytest.raises(InputError, match="there is no study 'nothing' in the storage"):
        stored_documents(open_storage(place.address), "nothing")


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ((), "; it holds none"),
        (("large", "medium"), "; it holds large, medium"),
        (("large", "small"), "; did you mean 'small'?"),
        (tuple("abcdefghijklm"), "; it holds a, b, c, d, e, f, g, h, i, j, …"),
    ],
)
def test_a_study_that_is_not_there_is_told_from_those_that_are(there: tuple[str, ...], said: str) -> None:
    """A near miss is named, else the first ten of a storage that may hold hundreds."""
    assert str(unknown_study("there", "smal", there)) == f"there is no study 'smal' in there{said}"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(["0", "1", "chunks"]), st.one_of(st.integers(-1, 3), st.text(max_size=20))),
)
def test_a_document_of_anything_gives_only_our_errors(known: dict[str, object]) -> None:
    """Attributes that were never written by a search are refused as a file, with its name."""
    study = optuna.create_study()
    study.add_trial(optuna.create_trial(value=0.0, user_attrs={"name": "odd", **known}))
    storage = study._storage
    with pytest.raises(HalfwiseError, match="'odd'"):
        Documents(storage, storage.get_study_id_from_name(study.study_name)).get("odd")


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch, place: Place) -> None:
    """A file that unpacks to more than any file of a study is cut off and refused."""
    documents = place.open().documents
    documents.put("bomb", b"0" * 100_000)
    monkeypatch.setattr("halfwise.search.documents.MOST_BYTES", 50_000)
    with pytest.raises(HalfwiseError, match="'bomb' that is cut short, or larger than 50000 bytes"):
        documents.get("bomb")
