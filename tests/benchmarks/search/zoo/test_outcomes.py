"""Books of outcomes: what is written is read, and what is no book is refused."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from zoo_books import book, network

from benchmarks.search.zoo.outcomes import Book, Trained, book_path, read_book
from halfwise.policies.errors import InputError

CHOICES = st.tuples(*[st.integers(0, 1)] * 3)
OUTCOMES = st.builds(
    Trained,
    choices=CHOICES,
    speedup=st.floats(0.5, 3),
    quality_lost=st.none() | st.floats(-1, 1),
    cause=st.none() | st.text(),
    blamed=st.lists(st.integers(0, 2), max_size=2).map(tuple),
    diagnosis_steps=st.integers(0, 1),
)


# Files are written: how long that takes says nothing.
@settings(deadline=None, max_examples=50)
@given(st.lists(OUTCOMES, unique_by=lambda outcome: outcome.choices))
def test_a_book_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, outcomes: list[Trained]):
    """Network and outcomes come back equal, and the order in which they were added leaves no trace."""
    folder = tmp_path_factory.mktemp("books")
    best = Trained(choices=network().best, speedup=2.0, quality_lost=0.0)
    for name, added in (("a", [best, *outcomes]), ("b", [*reversed(outcomes)])):
        written = Book(folder / name, network(), [best])
        for outcome in added:
            written.add(outcome)
        written.add(best)
    found = read_book(folder / "a")
    assert found.network == network()
    assert dict(found.outcomes) == {outcome.choices: outcome for outcome in (*outcomes, best)}
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


def test_what_may_be_lost_is_what_a_search_allows():
    """Half a percent of float32's quality where noise is less than that, else the noise."""
    assert network((0.9, 0.9, 0.9)).allowed == pytest.approx(0.005 * 0.9)
    noisy = network((0.8, 0.9, 1.0))
    assert noisy.allowed == pytest.approx(0.1 / 0.9 * 0.8)


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b""), gzip.compress(b"{}\n"), b""],
    ids=["text", "nothing", "no book", "empty"],
)
def test_another_file_is_refused(tmp_path: Path, content: bytes):
    """What is no book is refused with its path."""
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InputError, match="x holds no outcomes of a zoo network"):
        read_book(tmp_path / "x")


def test_a_book_without_the_best_policy_is_refused(tmp_path: Path):
    """Without the best trainable policy there is no goal."""
    written = Book(tmp_path / "x", network(), ())
    written.add(Trained(choices=(0, 0, 1), speedup=1.0, quality_lost=0.0))
    with pytest.raises(InputError, match="must hold the best trainable policy of three"):
        read_book(tmp_path / "x")


def test_a_book_has_the_name_of_its_network(tmp_path: Path):
    """One file for each network, in the folder of all."""
    assert book_path(tmp_path, "three") == tmp_path / "three.jsonl.gz"
    book(tmp_path)
    assert read_book(tmp_path / "three.jsonl.gz").network.name == "three"
