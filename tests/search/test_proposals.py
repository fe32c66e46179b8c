from pathlib import Path

import optuna
import pytest
import scipy.stats
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from halfwise.search.samplers import SAMPLERS
from halfwise.search.told import Proposal

from .fake_search import LEVELS, asked, figures, run, small_space, start


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_same_seed_gives_the_same_proposals(tmp_path: Path, sampler: str) -> None:
    """Two runs in two folders propose the same policies in the same order; another seed does not."""
    texts = []
    for folder, seed in (("a", 3), ("b", 3), ("c", 4)):
        (tmp_path / folder).mkdir()
        texts.append([str(p.policy) for p in run(start(tmp_path / folder, sampler, seed), 26)])
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    assert len(set(texts[0])) > 13


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_resumed_search_goes_on_as_if_it_had_never_stopped(tmp_path: Path, sampler: str) -> None:
    """Killed with a trial in flight, then reopened, it proposes what a quiet run does (cases 27 and 34)."""
    for folder in ("whole", "killed"):
        (tmp_path / folder).mkdir()
    whole = [str(p.policy) for p in run(start(tmp_path / "whole", sampler, fixed=LEVELS), 24)]
    killed: list[str] = []
    for _ in range(3):
        search = start(tmp_path / "killed", sampler, fixed=LEVELS)
        killed += [str(p.policy) for p in run(search, 8)]
        asked(search)  # In flight when the process dies.
    assert killed == whole
    told = start(tmp_path / "killed", sampler, fixed=LEVELS).finished()
    assert [t.policy for t in told if not t.interrupted] == whole
    assert [t.number for t in told] == list(range(27))


@pytest.mark.parametrize(("sampler", "learns"), [("tpe", True), ("nsga2", True), ("random", False)])
def test_proposals_depend_on_what_was_told(tmp_path: Path, sampler: str, learns: bool) -> None:
    """TPE and NSGA-II follow the outcomes, after fixed policies too; random does not."""
    texts = []
    for folder, sign in (("a", 1), ("b", -1)):
        (tmp_path / folder).mkdir()
        search = start(tmp_path / folder, sampler, fixed=LEVELS)
        texts.append([])
        for _ in range(32):
            proposal = asked(search)
            quality, speed = figures(proposal.policy)
            search.tell(proposal.number, sign * quality, sign * speed)
            texts[-1].append(str(proposal.policy))
    assert (texts[0] != texts[1]) == learns


@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_samplers_keep_away_from_what_does_not_train(tmp_path: Path, sampler: str) -> None:
    """Where float16 in one layer never trains, it is proposed far less often than by chance."""
    late: list[Proposal] = []
    for seed in range(3):
        (tmp_path / str(seed)).mkdir()
        search = start(tmp_path / str(seed), sampler, seed=seed, fixed=LEVELS, space=small_space(6, ()))
        late += run(search, 45)[25:]
    # By chance a third of them would; as few as this happens in one of a hundred tests by chance.
    bound = scipy.stats.binom.ppf(0.01, len(late), 1 / 3)
    assert sum(p.policy.layers["body.1"] == "float16" for p in late) < bound


def test_multivariate_tpe_sees_every_parameter_in_spite_of_fixed_policies(tmp_path: Path) -> None:
    """Fixed policies have no parameters, and must not empty the space that the samplers have in common."""
    search = start(tmp_path, "tpe", fixed=LEVELS)
    run(search, 20)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal.log")))
    study = optuna.load_study(study_name="search", storage=storage)
    common = optuna.search_space.IntersectionSearchSpace(include_pruned=True).calculate(study)
    assert set(common) == set(small_space().parameters())


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_stand_in_values_decide_nothing(tmp_path: Path, sampler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever values Optuna holds for what does not train, the proposals are the same."""
    texts: list[list[str]] = []
    for stand_ins in ((0.0, 0.0), (1e9, 1e9)):
        folder = tmp_path / str(stand_ins[0])
        folder.mkdir()
        monkeypatch.setattr("halfwise.search.closing._STAND_INS", stand_ins)
        texts.append([str(p.policy) for p in run(start(folder, sampler), 30)])
    assert texts[0] == texts[1]
