from benchmarks.search import search_time
from benchmarks.search.chains import draw_chain
from halfwise.search.propose.additive_loss import Features
from halfwise.search.propose.elimination import Elimination
from halfwise.search.propose.integer_program import IntegerProgram
from halfwise.search.propose.rungs import Rungs


def test_the_bench_times_trials_with_a_history_and_says_tpe_beside_them(tmp_path, monkeypatch):
    """Run small, it gives the four figures that it is judged by, and says the times of the ladder and of TPE."""
    small = {"GROUPS": 8, "HISTORY": 4, "TIMED": 3, "TPE_TIMED": 1, "SOLVED": 1, "_EXTRA_BORDERS": 9}
    for name, value in small.items():
        monkeypatch.setattr(search_time, name, value)
    said: list[str] = []
    figures = search_time.run(tmp_path, said.append)
    assert [figure.what for figure in figures] == [
        "ladder, a trial: median",
        "ladder, a trial: 95th percentile",
        "solver alone, 7 borders: median",
        "solver alone, 16 borders: median",
    ]
    assert [figure.target for figure in figures] == [50, 200, 1, 1]
    assert all(figure.value > 0 for figure in figures)
    assert any(line.startswith("tpe on the same trials") for line in said)


def test_failures_are_part_of_the_history():
    """A policy that holds a ruinous site fails; every other failure names one of them."""
    chain = draw_chain(6, 1)
    rng = search_time.np.random.default_rng(0)
    low = (1,) * 6
    outcomes = [search_time._outcome(chain, low, frozenset({2, 4}), number, rng) for number in range(2)]
    assert [trial.quality_lost for trial in outcomes] == [None, None]
    assert [trial.blamed for trial in outcomes] == [frozenset(), frozenset({2})]
    assert search_time._outcome(chain, (1, 1, 0, 1, 0, 1), frozenset({2, 4}), 0, rng).trained


def test_the_dense_network_is_one_for_the_integer_program():
    """The second network is too dense for elimination, so that the other solver is timed too."""
    dense = search_time._dense(draw_chain(search_time.GROUPS, 5).costs)
    pairs = tuple((border.first, border.second) for border in dense.borders)
    assert len(pairs) == search_time.GROUPS - 1 + 1000
    assert len(set(pairs)) == len(pairs)
    assert Elimination(dense.sizes, pairs).entries > 10**6
    assert isinstance(Rungs(dense, Features(dense.sizes, pairs))._solver, IntegerProgram)
