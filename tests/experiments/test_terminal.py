"""What a terminal, a log and a pipe get to see: the plot of the front, the progress of a search, plain ASCII."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from finished_study import add_repeats, add_trial, study_info
from hypothesis import given
from hypothesis import strategies as st
from program import SUPPORT, run_halfwise

from halfwise.evaluators.json_file import write_json
from halfwise.experiments.conclusion import findings
from halfwise.experiments.drawn_front import FrontPicture
from halfwise.experiments.front_plot import ASCII, UNICODE, front_plot
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.progress import Bar, Lines, left_words
from halfwise.experiments.study_file import StudyFile, read_records
from halfwise.experiments.terminal import PlainConsole, make_display, shapes_for
from halfwise.search.front import Point, pareto_front

halfwise = partial(run_halfwise, timeout_s=280)
HEAVY = (
    "mindspore",
    "mlflow",
    "matplotlib",
    "optuna",
    "pandas",
    "plotext",
    "jinja2",
    "numpy",
    "scipy",
    "sqlalchemy",
)


def picture(*points: Point, metric: str = "accuracy") -> FrontPicture:
    """These points, the first of them float32's, and the last of the front chosen."""
    front = pareto_front(points, "maximize")
    return FrontPicture(
        points=points,
        front=front,
        best=front[0] if front else None,
        baseline=points[0] if points else None,
        metric=metric,
        direction="maximize",
        speed_label="priced on v100, not measured",
    )


FOUR = (
    Point(0, "O0", "a", 0.90, 1000.0),
    Point(1, None, "b", 0.89, 2000.0),
    Point(2, None, "c", 0.88, 1500.0),
    Point(3, None, "d", 0.87, 3000.0),
)


def rows_of(shape: str, plot: str) -> list[int]:
    """The lines of the frame's inside in which a shape stands."""
    inside = [line[line.index("|") + 1 :] for line in plot.splitlines() if line.count("|") == 2]
    return [row for row, line in enumerate(inside) if shape in line]


def test_a_plot_shows_each_kind_of_point_where_it_belongs():
    """Faster is further right, better is further up; float32, front, choice and the rest differ in shape."""
    plot = front_plot(picture(*FOUR), 80, ASCII)
    inside = [line[line.index("|") :] for line in plot.splitlines() if line.count("|") == 2]
    columns = {shape: [line.index(shape) for line in inside if shape in line] for shape in "#o.*"}
    assert columns["#"] < columns["."] < columns["o"] < columns["*"]
    assert rows_of("#", plot) < rows_of("o", plot) < rows_of(".", plot) < rows_of("*", plot)
    assert plot.splitlines()[0] == "accuracy (higher is better) by samples/s, priced on v100, not measured"
    assert "1,000" in plot
    assert "3,000" in plot
    assert plot.splitlines()[-1].split("  ")[1:] == ["* chosen", "# float32", "o front", ". others"]


def test_what_is_far_worse_stands_at_the_edge():
    """One policy that learned nothing does not flatten the others: it gets a shape of its own at the bottom."""
    near = [Point(n, None, str(n), 0.9 - n / 1000, 1000.0 + n) for n in range(8)]
    plot = front_plot(picture(*near, Point(9, None, "x", -5.0, 900.0)), 80, ASCII)
    assert rows_of("v", plot) == [max(rows_of("v", plot))]
    assert rows_of("v", plot)[0] > max(rows_of("*", plot) + rows_of("o", plot))
    assert "v far worse" in plot


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9)) | st.just((None, None)), min_size=0, max_size=12
    ),
    st.integers(0, 300),
    st.sampled_from([ASCII, UNICODE]),
    st.text(max_size=10),
)
def test_any_front_can_be_drawn(figures, width, shapes, metric):
    """Whatever the figures and the width, there is a plot of at most 100 characters' width, in ASCII if asked."""
    points = [
        Point(n, None, str(n), quality, speed, feasible=speed is not None)
        for n, (quality, speed) in enumerate(figures)
    ]
    plot = front_plot(picture(*points, metric=metric), width, shapes)
    frame = plot.splitlines()[len(metric.splitlines()) :]
    assert max(map(len, frame), default=0) <= 100
    assert "\x1b" not in "".join(frame)
    if shapes == ASCII:
        assert "".join(frame).isascii()
    if not any(speed for _, speed in figures):
        assert plot == "No policy trained: there is nothing to draw."


def console(monkeypatch, encoding: str = "utf-8", **environment: str) -> PlainConsole:
    """A console on a terminal of this kind."""
    for name in ("NO_COLOR", "TERM", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", **environment}.items():
        monkeypatch.setenv(name, value)
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return PlainConsole(file=file, force_terminal=True, width=120)


def test_plots_are_ascii_where_nothing_else_is_sure_to_show(monkeypatch):
    """A dumb terminal, NO_COLOR and a locale other than UTF-8 get ASCII; other terminals get what reads best."""
    assert shapes_for(console(monkeypatch)) == UNICODE
    assert shapes_for(console(monkeypatch, TERM="dumb")) == ASCII
    assert shapes_for(console(monkeypatch, NO_COLOR="1")) == ASCII
    assert shapes_for(console(monkeypatch, encoding="latin-1")) == ASCII


def test_a_bar_is_for_terminals_that_can_draw_one(monkeypatch):
    """A dumb terminal and a pipe get a line a trial, another terminal a bar, and who wants quiet gets nothing."""
    assert isinstance(make_display(console(monkeypatch), quiet=False), Bar)
    assert isinstance(make_display(console(monkeypatch, TERM="dumb"), quiet=False), Lines)
    assert isinstance(make_display(PlainConsole(file=io.StringIO()), quiet=False), Lines)
    written = io.StringIO()
    make_display(PlainConsole(file=written, force_terminal=True), quiet=True).note("a word")
    assert written.getvalue() == ""


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    """A study with three trials: float32, one that is faster, one that does not train."""
    made = Home(tmp_path).study_folder("s")
    add_trial(made, 0, "O0", speed=100.0, quality=0.9)
    add_trial(made, 1, "O2", speed=200.0, quality=0.9)
    add_trial(made, 2, "O3", speed=300.0, quality=0.9, status="infeasible", cause="non-finite at step 0")
    add_repeats(made, 0.9, 0.9, 0.9)
    write_json(StudyFile(info=study_info(made)), made.study_file)
    return made


def test_a_line_a_trial_says_how_the_search_stands(folder):
    """Number, figures or cause, the best so far, the size of the front, and the time left."""
    said: list[str] = []
    display, records = Lines(said.append), read_records(folder)
    display.begin(0, 4)
    for done in (1, 2, 3):
        display.trial(records[done - 1], findings(study_info(folder), folder, records[:done]))
    assert said[0].startswith(
        "[1/4] 000 O0: accuracy 0.9, 100 samples/s; best so far trial 0 (O0); 1 on the front;"
    )
    assert "best so far trial 1 (O2); 1 on the front; about 1 s left" in said[1]
    assert said[2].startswith("[3/4] 002 O3: does not count: non-finite at step 0; best so far trial 1 (O2);")


def test_the_bar_says_the_same(folder):
    """Done and planned, best so far, front, and the last outcome; the cause of a failure stays above it."""
    written = io.StringIO()
    display = Bar(PlainConsole(file=written, force_terminal=True, width=200, no_color=True))
    records = read_records(folder)
    display.begin(0, 4)
    for done in (1, 2, 3):
        display.trial(records[done - 1], findings(study_info(folder), folder, records[:done]))
    display.end()
    text = written.getvalue()
    assert "002 O3: does not count: non-finite at step 0" in text
    assert "3/4" in text
    assert "best so far trial 1 (O2); 1 on the front; last 002 O3: does not count" in text


@pytest.mark.parametrize(
    ("left_s", "words"),
    [
        (0, "0 s"),
        (0.2, "1 s"),
        (119, "119 s"),
        (120, "2 min"),
        (3541, "60 min"),
        (7200, "2 h 0 min"),
        (9000, "2 h 30 min"),
    ],
)
def test_the_time_left_is_as_coarse_as_it_is_known(left_s, words):
    """Seconds below two minutes, minutes below two hours, then hours and minutes; never less than is left."""
    assert left_words(left_s) == words


def test_front_draws_on_demand_only_where_it_goes_to_a_pipe(folder):
    """A pipe gets no plot unless it is asked for; NO_COLOR makes it ASCII."""
    asked = ("front", "s", "--home", str(folder.path.parent))
    assert "by samples/s" not in halfwise(*asked).stdout
    command = [str(Path(sys.executable).with_name("halfwise")), *asked, "--plot"]
    drawn = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"}, cwd=SUPPORT, check=True
    )
    assert "accuracy (higher is better) by samples/s, priced on a100-tf32-no-launch, not measured" in drawn.stdout
    assert "* chosen  # float32" in drawn.stdout
    assert "●" not in drawn.stdout


def test_help_comes_without_anything_heavy():
    """The command line comes up without the packages that its commands need."""
    code = f"import sys, halfwise.experiments.cli; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_reading_a_study_brings_in_no_figures_and_no_searcher(folder):
    """`front` of a study without sites runs without matplotlib, pandas, Optuna and MindSpore."""
    code = (
        "import sys; from pathlib import Path; from halfwise.experiments.home import Home;"
        "from halfwise.experiments.study_report import study_json; home = Home(Path(sys.argv[1]));"
        "study_json(home.existing_study('s'));"
        f"print([name for name in {HEAVY[:5]} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(folder.path.parent)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_search_can_end_in_json(tmp_path: Path):
    """With `--format json` the result is one document; what is said meanwhile goes to standard error."""
    file = tmp_path / "tiny.yaml"
    file.write_text(
        "schema: halfwise/experiment/1\nworkload: tiny_workloads:make_tiny\ntrials: 2\nsteps: 10\nconfirm: none\n"
        "sampler: random\n",
        encoding="utf-8",
    )
    (tmp_path / "tiny_workloads.py").write_text((SUPPORT / "tiny_workloads.py").read_text(encoding="utf-8"))
    asked = ("search", str(file), "--home", str(tmp_path / "home"), "--no-mlflow", "--format", "json")
    result = halfwise(*asked)
    assert result.returncode == 0, result.stderr
    assert [trial["policy"] for trial in json.loads(result.stdout)["trials"]] == ["O0", "O1"]
    assert "[2/2] 001 O1" in result.stderr
    again = halfwise(*asked, "--quiet")
    assert (json.loads(again.stdout)["study"], again.stderr) == ("tiny", "")


def test_ties_do_not_break_a_plot():
    """All policies at one place are one mark, and the plot is whole."""
    same = [replace(FOUR[0], number=n, digest=str(n)) for n in range(3)]
    assert rows_of("*", front_plot(picture(*same), 60, ASCII)) != []
