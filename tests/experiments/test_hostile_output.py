"""Names and messages from elsewhere are shown letter by letter, wherever they are shown."""

import io
import json
from pathlib import Path

import pytest
from finished_study import add_trial, study_info
from hypothesis import given
from hypothesis import strategies as st
from program import run_halfwise

from halfwise.evaluators.json_file import write_json
from halfwise.experiments.drawn_front import FrontPicture
from halfwise.experiments.figure_labels import plain
from halfwise.experiments.figures import front_figure, save_front_figure
from halfwise.experiments.home import Home
from halfwise.experiments.progress import Lines
from halfwise.experiments.study_file import StudyFile
from halfwise.experiments.study_report import print_study
from halfwise.experiments.terminal import PlainConsole, make_display
from halfwise.policies.canonical import printable
from halfwise.search.front import Point

HOSTILE = "[/x][bold red]b[link=http://a]\x1b[2J\x1b]0;title\x07\u202e<script>$\\frac$"


@given(text=st.text())
def test_only_line_breaks_steer_a_printed_text(text: str):
    """Whatever went in, what comes out holds printable characters and line breaks; such a text stays as it is."""
    shown = printable(text)
    assert all(each.isprintable() or each == "\n" for each in shown)
    assert printable(shown) == shown
    assert (shown == text) == all(each.isprintable() or each == "\n" for each in text)


@given(value=st.dictionaries(st.text(), st.text() | st.floats(allow_nan=False, allow_infinity=False)))
def test_printed_json_is_the_same_json(value: dict[str, str | float]):
    """Escapes are JSON's own: what a program reads from the output is what was meant."""
    for indent in (None, 1):
        assert json.loads(printable(json.dumps(value, ensure_ascii=False, indent=indent))) == value


def on_terminal() -> tuple[PlainConsole, io.StringIO]:
    """A console that takes itself for a terminal with colours, and what it writes."""
    written = io.StringIO()
    return PlainConsole(file=written, force_terminal=True, width=300, highlight=False, soft_wrap=True), written


def test_a_console_reads_no_markup_and_passes_no_control_characters_on():
    """A text that looks like markup is shown as it is, and escape sequences are shown as escapes."""
    console, written = on_terminal()
    console.print(HOSTILE)
    assert written.getvalue() == printable(HOSTILE) + "\n"
    make_display(console, quiet=False).note(HOSTILE)
    assert written.getvalue() == 2 * (printable(HOSTILE) + "\n")


def test_lines_for_a_pipe_are_plain_too():
    """What a search says to a log file holds no control characters."""
    written = io.StringIO()
    display = make_display(PlainConsole(file=written, width=300, soft_wrap=True), quiet=False)
    assert isinstance(display, Lines)
    display.note(HOSTILE)
    assert written.getvalue() == printable(HOSTILE) + "\n"


def test_a_report_shows_hostile_names_as_they_are(tmp_path: Path):
    """A workload, a metric and a cause full of markup and escapes stand in the report letter by letter."""
    home = Home(tmp_path)
    folder = home.study_folder("s")
    folder.create()
    info = study_info(folder, workload=HOSTILE, metric="[red]" + HOSTILE)
    write_json(StudyFile(info=info), folder.study_file)
    add_trial(folder, 0, "O0", speed=100.0, quality=0.9)
    add_trial(folder, 1, "O2", speed=200.0, quality=0.9, policy_name="[bold]mine\x1b[31m")
    add_trial(folder, 2, "O3", speed=300.0, quality=0.9, status="infeasible", cause=HOSTILE)
    console, written = on_terminal()
    print_study(folder, home, console)
    text = written.getvalue()
    # The table's own styles are escape sequences; none of the hostile ones is among them.
    assert not any(harm in text for harm in ("\x1b[2J", "\x1b]0", "\x1b[31m", "\x07", "\u202e", "\x1b]8"))
    for shown in ("[red][/x][bold red]b[link", r"[bold]mine\u001b[31m", r"\u001b]0;title\u0007\u202e<script>"):
        assert shown in text


def picture(name: str) -> FrontPicture:
    """A picture in which everything has the name."""
    points = [
        Point(0, "O0", "a", 0.9, 100.0),
        Point(1, name, "b", 0.9, 200.0),
        Point(2, name + "c", "c", 0.8, 300.0),
    ]
    return FrontPicture(
        points=points,
        front=points[1:],
        best=points[1],
        baseline=points[0],
        metric=name,
        direction="maximize",
        speed_label=name,
        title=name,
        quality_bound=0.85,
    )


@pytest.mark.parametrize(
    "name", ["$\\frac$", "$x$", "a $ b", "\\$x\\$", "$" * 7, HOSTILE, "\x00\n\t", "\ud800", "x" * 10**5]
)
def test_a_picture_draws_any_name_letter_by_letter(name: str, tmp_path: Path):
    """No name is taken for a formula or ends the drawing."""
    save_front_figure(picture(name), tmp_path / "front.png")
    assert (tmp_path / "front.png").stat().st_size > 10_000
    texts = front_figure(picture(name)).axes[0].get_title(loc="left")
    assert texts == plain(name)


def test_errors_of_the_program_are_plain(tmp_path: Path):
    """A hostile file name, key and value reach the terminal as escapes; the exit code is that of wrong input."""
    file = tmp_path / "p\x1b[2J\x07.yaml"
    file.write_text('schema: halfwise/policy/1\nlayers: {"\\e[2J\\a": "\\e[31mx"}\n')
    done = run_halfwise("check", str(file), "--workload", "tabular-mlp", timeout_s=60)
    assert done.returncode == 2
    assert r"p\u001b[2J\u0007.yaml:2:" in done.stderr
    assert all(each.isprintable() or each == "\n" for each in done.stderr)
