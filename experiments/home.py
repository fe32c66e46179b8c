"""Where studies live: one home folder with a folder a study, the default MLflow store and its artifacts."""

import difflib
import os
import re
import tempfile
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from ..policies.errors import HalfwiseError, InputError
from .held_file import held_alone

HOME_VARIABLE = "HALFWISE_HOME"
DEFAULT_HOME = "halfwise-studies"
_STORE, _ARTIFACTS = "mlflow.db", "artifacts"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class StudyFolder:
    """The files of one study; the properties name them whether or not they are there yet."""

    path: Path

    @property
    def name(self) -> str:
        """The study's name, which is its folder's."""
        return self.path.name

    @property
    def study_file(self) -> Path:
        """What was asked for; a folder is a study once it holds this."""
        return self.path / "study.json"

    @property
    def journal_file(self) -> Path:
        """Optuna's storage."""
        return self.path / "journal.log"

    @property
    def float32_file(self) -> Path:
        """The quality of float32 by seed."""
        return self.path / "float32.json"

    @property
    def sensitivity_file(self) -> Path:
        """What one float32 run said of the sites."""
        return self.path / "sensitivity.json"

    @property
    def experiment_file(self) -> Path:
        """The experiment as it was launched, for when one of its policies is trained again."""
        return self.path / "experiment.json"

    @property
    def sites_file(self) -> Path:
        """What a searcher over sites knew before its first trial: sites, prices, chances of harm."""
        return self.path / "sites.json"

    @property
    def bound_file(self) -> Path:
        """How much speed was left above the choice when the search ended."""
        return self.path / "bound.json"

    @property
    def history_file(self) -> Path:
        """The trials over sites, where they are stored in a database."""
        return self.path / "history.json"

    @property
    def float32_ops_file(self) -> Path:
        """The op table of the float32 step, which other devices can be priced from."""
        return self.path / "float32-ops.json.gz"

    @property
    def cost_file(self) -> Path:
        """What the search has cost so far."""
        return self.path / "cost.json"

    @property
    def survey_file(self) -> Path:
        """What was found out of device and network before the first trial."""
        return self.path / "survey.json"

    @property
    def workload_file(self) -> Path:
        """The text of the workload that the study was started with."""
        return self.path / "workload.json"

    @property
    def workers(self) -> Path:
        """The folder of the workers' folders."""
        return self.path / "workers"

    def worker_folder(self, worker: str) -> Path:
        """What one worker leaves besides trials: its ledger, and its output where the search has started it."""
        return self.workers / worker

    @property
    def lock_file(self) -> Path:
        """Held by the search that leads the study; it stands in the folder that the study is led from."""
        return self.path / "search.lock"

    @property
    def front_table(self) -> Path:
        """Every trial with its quality and speed, as CSV."""
        return self.path / "front.csv"

    @property
    def front_figure(self) -> Path:
        """Quality against speed, as a picture."""
        return self.path / "front.png"

    @property
    def report(self) -> Path:
        """The whole study as one HTML page, written when its search ends."""
        return self.path / "report.html"

    @property
    def front_page(self) -> Path:
        """The picture of the front alone, as an HTML page."""
        return self.path / "front.html"

    @property
    def layer_table(self) -> Path:
        """What each layer computes in under the policies of the front, as a table for MLflow's pages."""
        return self.path / "layers.json"

    @property
    def cast_table(self) -> Path:
        """Between which layers the dearest casts of these policies stand, as a table for MLflow's pages."""
        return self.path / "casts.json"

    @property
    def shown(self) -> tuple[Path, ...]:
        """The files for people to look at, whether they are there yet or not."""
        tables = (self.layer_table, self.cast_table)
        return (self.front_table, self.front_figure, self.report, self.front_page, *tables)

    @property
    def best_policy(self) -> Path:
        """The policy file to take away."""
        return self.path / "best-policy.yaml"

    @property
    def trials(self) -> Path:
        """The folder of the trials' folders."""
        return self.path / "trials"

    def trial_folder(self, number: int) -> Path:
        """The folder of one trial, such as `trials/007`; numbers above 999 get more digits."""
        return self.trials / f"{number:03d}"

    def create(self) -> None:
        """Make the folder, and the one for trials; nothing happens to what is there already.

        Raises:
            HalfwiseError: the place cannot be written to.
        """
        _make_writable(self.trials)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the study for one search; the lock goes with the process, however it ends.

        Raises:
            HalfwiseError: another search holds it.
        """
        return held_alone(
            self.lock_file,
            f"another search is running in {self.path}: wait for it, or give this one a name of its own with "
            "--study",
        )


@dataclass(frozen=True)
class Home:
    """The folder that holds all studies of a person or a project; the path is absolute."""

    path: Path

    @classmethod
    def find(cls, option: str | os.PathLike[str] | None = None) -> "Home":
        """The home that `--home` names, else HALFWISE_HOME, else `halfwise-studies` in the working folder.

        Raises:
            HalfwiseError: the path is relative and the working folder has been deleted.
        """
        chosen = Path(option or os.environ.get(HOME_VARIABLE) or DEFAULT_HOME).expanduser()
        try:
            return cls(chosen.absolute())
        except FileNotFoundError as error:
            raise HalfwiseError(
                f"the working folder no longer exists, so {str(chosen)!r} leads nowhere; "
                f"give an absolute path with --home or {HOME_VARIABLE}"
            ) from error

    @property
    def store_file(self) -> Path:
        """The default MLflow store, a sqlite database."""
        return self.path / _STORE

    @property
    def tracking_uri(self) -> str:
        """The default MLflow store as a URI, good from any working folder."""
        # The database part of such a URI is percent-decoded and ends at "?".
        path = str(self.store_file).replace("%", "%25").replace("?", "%3F")
        return f"sqlite:///{path}"

    @property
    def artifact_root(self) -> Path:
        """Where the default MLflow store keeps its artifacts."""
        return self.path / _ARTIFACTS

    def prepare(self) -> None:
        """Make the folder, and see that it can be written to.

        Raises:
            HalfwiseError: it cannot.
        """
        _make_writable(self.path)

    def study_folder(self, name: str) -> StudyFolder:
        """The folder of a study that is there already, or is to be made.

        Raises:
            InputError: the name could not be a folder's, or is one that the home needs for itself.
        """
        if not _NAME.fullmatch(name):
            raise InputError(
                f"a study's name is 1 to 100 letters, digits, '-', '_' or '.', and starts with a letter or a "
                f"digit, but got {name!r}"
            )
        if name == _ARTIFACTS or name.startswith(_STORE):
            raise InputError(
                f"a study cannot be called {name!r}: the home itself uses {_ARTIFACTS!r} and {_STORE!r}"
            )
        return StudyFolder(self.path / name)

    def studies(self) -> tuple[StudyFolder, ...]:
        """The studies that the home holds, by name; none if there is no such folder.

        Raises:
            HalfwiseError: the folder cannot be read.
        """
        try:
            inside = sorted(self.path.iterdir())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise HalfwiseError(f"cannot read the home folder {self.path}: {error.strerror}") from error
        return tuple(study for study in map(StudyFolder, inside) if study.study_file.is_file())

    def existing_study(self, name: str) -> StudyFolder:
        """The folder of a study that the home holds.

        Raises:
            InputError: it holds none of that name; the message says where it looked and what comes near.
        """
        study = self.study_folder(name)
        if not study.study_file.is_file():
            raise InputError(self._unknown(name))
        return study

    def _unknown(self, name: str) -> str:
        names = [study.name for study in self.studies()]
        looked = f"there is no study {name!r} in {self.path}"
        elsewhere = f"(another home: --home or {HOME_VARIABLE})"
        if not names:
            return f"{looked}, which holds no studies {elsewhere}"
        near = difflib.get_close_matches(name, names, n=3)
        if near:
            return f"{looked}; did you mean {', '.join(map(repr, near))}? {elsewhere}"
        shown = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
        return f"{looked}; it holds {shown} {elsewhere}"


def _make_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The permission bits do not tell for root or on read-only mounts; a file does.
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HalfwiseError(
            f"cannot write in {folder}: {error.strerror or error}; studies need a folder that they can write "
            f"to: choose one with --home or {HOME_VARIABLE}"
        ) from error
