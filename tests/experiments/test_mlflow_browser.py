"""MLflow's own pages of a study, in a real browser: what people are shown there, and that names stay text."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from browser import browsing
from large_study import HOSTILE, make_large_study
from mlflow import MlflowClient
from mlflow_servers import MlflowServer

from halfwise.evaluators.json_file import read_json
from halfwise.experiments.report import write_report
from halfwise.experiments.so_far import so_far
from halfwise.experiments.study_file import StudyFile, read_records
from halfwise.experiments.tracking_mlflow import MlflowCopy

pytestmark = pytest.mark.full
# A page is there once it shows what it is for: MLflow's never stop asking their server.
LONGEST_MS = 60_000


@dataclass(frozen=True)
class Served:
    """A server that has a copy of a study, and where the study is there."""

    url: str
    experiment: str
    parent: str

    @property
    def client(self) -> MlflowClient:
        """Asks the server."""
        return MlflowClient(self.url)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A study of 14 trials over six layers, one with a hostile name, at a real server."""
    home = tmp_path_factory.mktemp("home")
    study = make_large_study(home / "studies", trials=14, layers=6)
    write_report(study)
    server = MlflowServer(home)
    server.start()
    try:
        copy = MlflowCopy(server.url, home)
        kept = read_json(StudyFile, study.study_file)
        for _ in copy.open(kept, study, None):
            pass
        for record in read_records(study):
            for _ in copy.write(record):
                pass
        for _ in copy.conclude(so_far(kept.info, study), None):
            pass
        assert copy.run is not None
        experiment = MlflowClient(server.url).get_run(copy.run).info.experiment_id
        yield Served(server.url, experiment, copy.run)
    finally:
        server.kill()


@pytest.fixture
def page() -> Iterator[Any]:
    """A page at MLflow; afterwards no script has asked anything of the reader."""
    with browsing(viewport={"width": 1700, "height": 1000}) as seen:
        seen.page.set_default_timeout(LONGEST_MS)
        dialogs: list[str] = []
        seen.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        yield seen.page
        assert dialogs == []


def followed(page: Any, link: str) -> Any:
    """The page that a link of the description opens: MLflow opens it beside the first."""
    page.get_by_text("Show more").first.click()
    with page.context.expect_page() as opened:
        page.get_by_text(link, exact=True).click()
    opened.value.set_default_timeout(LONGEST_MS)
    return opened.value


def test_the_parent_leads_to_the_trials_with_their_figures(served: Served, page: Any):
    """Its description links to the list of trials, fastest first, with the columns that matter."""
    page.goto(f"{served.url}/#/experiments/{served.experiment}/runs/{served.parent}")
    page.get_by_text("Best policy:").first.wait_for()
    trials = followed(page, "All trials with their figures")
    trials.get_by_text("14 matching runs").wait_for()
    shown = trials.locator("body").inner_text()
    for column in ("quality_lost", "speed_samples_per_s", "halfwise.confirmed"):
        assert column in shown
    assert shown.index("003 O3 1.70x -0.5%") < shown.index("001 O1 1.10x -0.1%") < shown.index("002 O2 non-finite")


def test_the_parent_leads_to_the_report(served: Served, page: Any):
    """The description's other link shows the report within MLflow."""
    page.goto(f"{served.url}/#/experiments/{served.experiment}/runs/{served.parent}")
    report = followed(page, "The report")
    report.frame_locator("iframe").get_by_role("heading", name="The answer").wait_for()


def test_a_hostile_layer_is_text(served: Served, page: Any):
    """`<script>` as a layer's name is read letter by letter in the table, and in the words of a trial."""
    page.goto(f"{served.url}/#/experiments/{served.experiment}/runs/{served.parent}/artifacts/layers.json")
    page.get_by_text(HOSTILE).first.wait_for()
    runs = served.client.search_runs([served.experiment], "tags.`halfwise.first_non_finite` LIKE '%script%'")
    assert runs
    page.goto(f"{served.url}/#/experiments/{served.experiment}/runs/{runs[0].info.run_id}")
    page.get_by_text(HOSTILE).first.wait_for()


def test_a_view_that_people_changed_is_theirs(served: Served, tmp_path: Path):
    """Copying another study to the same experiment leaves the view as it is."""
    tag = "mlflow.sharedViewState.halfwise"
    served.client.set_experiment_tag(served.experiment, tag, "mine")
    study = make_large_study(tmp_path, trials=4, layers=2)
    for _ in MlflowCopy(served.url, tmp_path).open(read_json(StudyFile, study.study_file), study, None):
        pass
    assert served.client.get_experiment(served.experiment).tags[tag] == "mine"
