"""What a report says: its sections by value, and that nothing of a study becomes markup."""

import itertools
import json
import re
import tempfile
from pathlib import Path

import pytest
from finished_study import add_trial, study_info
from hypothesis import given
from hypothesis import strategies as st
from large_study import HOSTILE, make_large_study
from price_tables import make_row, make_table
from program import run_halfwise

from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.op_columns import COLUMNS
from halfwise.evaluators.price.device_file import load_devices
from halfwise.evaluators.price.op_costs import op_costs
from halfwise.evaluators.request import OPS_FILE
from halfwise.experiments.home import Home, StudyFolder
from halfwise.experiments.op_tables import trial_ops
from halfwise.experiments.report import front_html, report_html
from halfwise.experiments.report.cast_map import cast_maps, step_parts
from halfwise.experiments.report.contents import contents_of
from halfwise.experiments.report.curves import curve_picture
from halfwise.experiments.report.front_picture import Fallen, Spot, front_picture
from halfwise.experiments.report.labels import Named, placed_labels
from halfwise.experiments.report.layers import Cell, explained, precisions_of, strip
from halfwise.experiments.report.scales import Scale, scale_around
from halfwise.experiments.study_file import StudyFile
from halfwise.policies import CellOutline, NetworkOutline, Policy
from halfwise.policies.resolve import Resolver

NO_QUALITY = {
    "status": "infeasible", "losses": (), "updates_applied": 0, "updates_skipped": 2, "quality_by_steps": {}
}  # fmt: skip


def study(home: Path, **changes) -> StudyFolder:
    """A study without a trial."""
    folder = Home(home).study_folder("s")
    folder.path.mkdir(parents=True)
    write_json(StudyFile(info=study_info(folder, **changes)), folder.study_file)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    """Float32, a faster policy that loses 0.5%, one that loses too much, and one that does not train."""
    found = study(tmp_path)
    add_trial(found, 0, "O0", 100.0, 0.9)
    add_trial(found, 1, "O2", 150.0, 0.8955)
    add_trial(found, 2, "O3", 200.0, 0.45)
    add_trial(found, 3, "float16", 300.0, 0.0, **NO_QUALITY, cause="non-finite at step 0")
    return found


def test_the_answer_comes_first_and_says_what_was_not_measured(folder: StudyFolder):
    """The choice, its speed as a price, what it lost, that it is not confirmed, and how speed came about."""
    found = contents_of(folder)
    assert found.verdict == (
        "Trial 1 (O2) has 1.50x float32's speed, priced on a100-tf32-no-launch, not measured; it loses 0.0045 of "
        "accuracy, and is not confirmed with fresh seeds yet."
    )
    assert [(figure.what, figure.value) for figure in found.figures] == [
        ("speed over float32's", "1.50x"),
        ("accuracy lost", "0.0045"),
        ("confirmed", "no"),
    ]
    assert found.answer[1].startswith("Chosen: trial 1 (O2) is the fastest policy within 1%")
    assert any(line.startswith("Speed: it is priced on a100-tf32-no-launch") for line in found.not_measured)
    assert any("quality is that of CPU kernels" in line for line in found.not_measured)


def test_each_trial_is_a_row_and_each_that_trains_a_spot(folder: StudyFolder):
    """Figures are those of the outcomes; what does not train has a cause and no place in the picture."""
    found = contents_of(folder)
    assert [(row.number, row.status, row.ratio) for row in found.trials] == [
        (0, "trained", 1.0),
        (1, "trained", 1.5),
        (2, "trained", 2.0),
        (3, "infeasible", None),
    ]
    assert [row.speed for row in found.trials] == [100.0, 150.0, 200.0, None]
    assert found.trials[1].lost == pytest.approx(0.0045)
    assert {cause: [row.number for row in rows] for cause, rows in found.fallen.items()} == {
        "non-finite at step 0": [3]
    }
    assert found.front is not None
    spots = {mark.spot.number: mark.spot for mark in found.front.marks}
    assert {number: spot.kind for number, spot in spots.items()} == {0: "front", 1: "best", 2: "front"}
    assert (spots[1].speed, spots[1].lost) == (1.5, pytest.approx(0.005))
    assert [(cross.fallen.number, cross.fallen.speed) for cross in found.front.crosses] == [(3, pytest.approx(3))]


@pytest.mark.parametrize("feasible", [False, True])
def test_a_study_without_a_front_says_so(tmp_path: Path, feasible: bool):
    """No trial yet, and no trial that trains: a page all the same, with a true sentence instead of a picture."""
    empty = study(tmp_path / "a")
    page = report_html(empty)
    assert "No trial has finished yet" in page
    assert "There is no picture: no trial has finished." in page
    add_trial(empty, 0, "O0", 1.0, 0.0, **NO_QUALITY, cause="non-finite at step 3")
    if feasible:
        add_trial(empty, 1, "O2", 1.0, 0.9)
    page = report_html(empty)
    assert "There is no picture: no trial trains beside a float32 that trains." in page
    assert "non-finite at step 3" in page


def test_one_trial_is_a_report(tmp_path: Path):
    """Float32 alone has a picture of one spot."""
    alone = study(tmp_path)
    add_trial(alone, 0, "O0", 1.0, 0.9)
    found = contents_of(alone)
    assert found.front is not None
    assert len(found.front.marks) == 1


def test_the_command_writes_the_page(folder: StudyFolder, tmp_path: Path):
    """It says what it wrote and how large it is; a study or a folder that is not there is an error."""
    place, home = tmp_path / "out.html", ("--home", str(folder.path.parent))
    done = run_halfwise("report", "s", "-o", str(place), *home, timeout_s=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"wrote {place} ({place.stat().st_size / 1e3:.0f} kB): open it in a browser\n"
    assert place.read_text(encoding="utf-8") == report_html(folder)
    missing = run_halfwise("report", "t", *home, timeout_s=60)
    assert missing.returncode == 2
    assert "there is no study 't'" in missing.stderr
    nowhere = run_halfwise("report", "s", "-o", str(tmp_path / "no" / "out.html"), *home, timeout_s=60)
    assert nowhere.returncode == 1
    assert "no/out.html: its folder does not exist" in nowhere.stderr


def test_nothing_of_a_study_is_markup(tmp_path: Path):
    """Names of layers, studies, workloads, metrics and causes stand there letter by letter, in JSON too."""
    page = report_html(make_large_study(tmp_path, trials=12, layers=4))
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    hostile = study(tmp_path / "b", workload=HOSTILE, metric=HOSTILE, command=f"{HOSTILE}\x1b[31m")
    add_trial(hostile, 0, "O0", 1.0, 0.9, metric=HOSTILE, **NO_QUALITY, cause="</script>\x07")
    page = report_html(hostile)
    assert page.count("<script") == page.count("</script") == 2
    assert "\x1b" not in page
    assert "\x07" not in page


def test_what_scripts_are_given_is_the_trials_own(folder: StudyFolder):
    """The JSON inside the page reads back: words and policy of every trial."""
    page = report_html(folder)
    found = re.search(r'<script id="details" type="application/json">(.*?)</script>', page, flags=re.S)
    assert found is not None
    details = json.loads(found[1])["trials"]
    assert sorted(details) == ["0", "1", "2", "3"]
    assert json.loads(details["1"]["policy"])["default"] == "float16"


def op(number: int, layer: str | None, name: str, precision: str | None, direction: str = "forward"):
    """One op of a step."""
    return make_row(
        number, name, [((2,), precision)], ((2,), precision), layer=layer, direction=direction,
        compute_precision=precision,
    )  # fmt: skip


def test_a_layers_precision_is_that_of_its_forward_ops():
    """One precision, or several with the ops of each; gradients, casts and the step's own ops don't count."""
    table = make_table(
        op(0, "a", "MatMul", "float16"),
        op(1, "b", "MatMul", "float16"),
        op(2, "b", "Exp", "float32"),
        op(3, "a", "MatMul", "float32", "gradient"),
        op(4, None, "Mul", "float32", "update"),
        op(5, "a", "Cast", None),
    )
    assert precisions_of(table) == {
        "a": Cell("float16", "float16: MatMul"),
        "b": Cell("several", "float16: MatMul; float32: Exp"),
    }


def test_a_cell_says_which_rule_decides_and_why():
    """The nearest rule, an op's own rule and the reasons of both; a policy of another network says nothing."""
    rules = {"blocks.*": "float32", "blocks.0::Exp": "float32", "head": "auto"}
    policy = Policy.model_validate({"default": "float16", "layers": rules})
    cells = [
        CellOutline("", (), ()),
        *(CellOutline(path, (), ()) for path in ("blocks.0", "blocks.1", "head", "x")),
    ]
    resolver = Resolver(NetworkOutline(tuple(cells)))
    found = explained(
        {path: Cell("float32", "float32: Exp") for path in ("blocks.0", "blocks.1", "head", "x", "lost")},
        policy,
        resolver,
        {"blocks.*": "it is hot", "blocks.0::Exp": "it blows up"},
    )
    assert found["blocks.0"].words.splitlines() == [
        "float32: Exp",
        "decided by the rule blocks.*: float32, the rule blocks.0::Exp",
        "blocks.*: it is hot",
        "blocks.0::Exp: it blows up",
    ]
    assert found["blocks.1"].reasons == ("blocks.*: it is hot",)
    assert found["head"].rules == ("the rule head: auto and the lists of ops",)
    assert found["x"].rules == ("the policy's default: float16",)
    assert found["lost"] == Cell("float32", "float32: Exp")
    foreign = explained({"x": Cell("float32")}, policy, Resolver(NetworkOutline(tuple(cells[-1:]))), {})
    assert foreign == {"x": Cell("float32")}


precisions = st.sampled_from(["float16", "float32"])
policies = st.dictionaries(
    st.sampled_from("abcdef"),
    st.builds(Cell, precisions, st.sampled_from(["", "ops"]), reasons=st.sampled_from([(), ("why",)])),
)


@given(st.lists(policies, min_size=1, max_size=3))
def test_the_strip_holds_every_layer_once(policies: list[dict[str, Cell]]):
    """Rows join neighbours of equal precisions and reasons, no others; unrolled they are the layers, in order."""
    layers = list(dict.fromkeys(layer for policy in policies for layer in policy))
    rows = strip(policies)
    unrolled = iter(layers)
    for row in rows:
        own = [next(unrolled) for _ in range(row.layers)]
        assert (row.first, row.last) == (own[0], own[-1])
        for layer in own:
            cells = [policy.get(layer, Cell("not known")) for policy in policies]
            assert [(each.precision, each.reasons) for each in row.cells] == [
                (each.precision, each.reasons) for each in cells
            ]
    assert next(unrolled, None) is None
    looks = [[(cell.precision, cell.reasons) for cell in row.cells] for row in rows]
    assert all(one != next_ for one, next_ in itertools.pairwise(looks))


def test_the_reasons_of_each_policy_are_listed(tmp_path: Path):
    """What sensitivity says of a layer is why a rule keeps it in float32; of others no reason is made up."""
    found = contents_of(make_large_study(tmp_path, trials=12, layers=60, seed=2))
    reasons = dict(found.reasons)[found.columns[0].name]
    kept = json.loads(found.columns[0].policy)["layers"]
    finite = "one step with only this in float16 is not finite (chance of harm 0.97, by rules over a float32 run)"
    hot = [f"blocks.{place}.dense" for place in range(10, 60, 10)]
    assert set(reasons) >= {f"{layer}: {finite}" for layer in hot if layer in kept}
    assert any(layer in kept for layer in hot)
    assert not any(reason.startswith("blocks.11.dense") for reason in reasons)


def test_what_a_step_goes_into_is_its_price():
    """Half precision, float32, casts and the rest sum to the step, op by op."""
    table = make_table(
        make_row(0, "Cast", [((2, 2), "float32")], ((2, 2), "float16"), compute_precision="float16"),
        make_row(1, "MatMul", [((2, 2), "float16")] * 2, ((2, 2), "float16"), producers=(0,), flops=1e13),
        make_row(2, "MatMul", [((2, 2), "float32")] * 2, ((2, 2), "float32"), flops=1e13),
        make_row(3, "Range", [((2, 2), None)], ((2, 2), None)),
    )
    device = load_devices()["a100-tf32-no-launch"]
    parts, seconds = step_parts(table, device), op_costs(table, device).seconds
    assert (parts.casts_s, parts.low_s, parts.float32_s, parts.rest_s) == tuple(seconds)
    assert parts.low_s < parts.float32_s
    assert parts.total_s == pytest.approx(seconds.sum())
    assert sum(share for _, share in parts.shares) == pytest.approx(1)


def test_steps_without_a_price_say_why():
    """Speed that was measured, a row of a device file, and a study without a compiled step."""
    assert "measured in this study, not priced" in cast_maps([], None).missing
    assert "came from a device file" in cast_maps([], "mine").missing
    assert "No trial has left" in cast_maps([], "a100-tf32").missing


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8),
    st.floats(0, 400),
    st.floats(401, 900),
)
def test_a_scale_keeps_order_and_ends(values: list[float], start: float, end: float):
    """Larger values lie no further left; all of them, and the ticks, lie inside."""
    scale = scale_around(values, start, end)
    places = [scale(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(start - 0.1 <= place <= end + 0.1 for place in (*places, *map(scale, scale.ticks())))
    assert 1 <= len(scale.ticks()) <= 16


def test_ticks_are_round():
    """Multiples of 1, 2 or 5 times a power of ten."""
    assert Scale(0, 10, 0, 1).ticks(5) == (0, 2, 4, 6, 8, 10)
    assert Scale(0.93, 1.07, 0, 1).ticks(5) == (0.95, 1.0, 1.05)


def test_a_picture_puts_faster_right_and_better_up():
    """Places follow the figures; the tolerance lies below float32's own quality."""
    spots = [
        Spot(0, "front", "O0", 1.0, None, None, 0.0, None, None, ""),
        Spot(1, "best", "", 2.0, 1.8, 2.2, 0.004, 0.002, 0.006, ""),
    ]
    picture = front_picture(spots, [Fallen(2, 1.5, ""), Fallen(3, None, "")], tolerance=0.01)
    first, second = sorted(picture.marks, key=lambda mark: mark.spot.number)
    assert first.x < second.x
    assert picture.y_zero == first.y < second.y < picture.y_bound
    across = re.match(r"M(\S+) \S+H(\S+?)M", second.bars[1])
    assert across is not None
    assert float(across[1]) < second.x < float(across[2])
    assert first.bars == ()
    assert [(cross.fallen.number, first.x < cross.x < second.x) for cross in picture.crosses] == [(2, True)]
    assert not picture.cut
    assert picture.line == f"M{first.x} {first.y} V{second.y} H{second.x}"


def test_an_interval_beyond_the_picture_has_no_end_in_it():
    """A cap stands where an interval ends; one that is cut off has none, and the picture says when a spot is."""
    spots = [
        Spot(0, "front", "O0", 1.0, None, None, 0.0, None, None, ""),
        Spot(1, "other", "", 2.0, None, None, 0.004, -1.0, 0.006, ""),
        Spot(2, "other", "", 1.5, None, None, 0.9, None, None, ""),
    ]
    picture = front_picture(spots, [], tolerance=0.01)
    (bar,) = next(mark.bars for mark in picture.marks if mark.spot.number == 1)
    assert bar.count("h8") == 1
    assert picture.cut
    assert picture.foot == picture.bottom


@given(st.lists(st.tuples(st.floats(80, 740), st.floats(20, 370), st.sampled_from(["O1", "float32 (O0)"]))))
def test_no_name_covers_another(places: list[tuple[float, float, str]]):
    """Every label that is placed is inside the picture and clear of the others, at 7.6 pixels a letter."""
    named = [Named(number, text, x, y) for number, (x, y, text) in enumerate(places)]
    labels = placed_labels(named, named, 78, 740)
    starts = {"start": 0.0, "middle": 0.5, "end": 1.0}
    boxes = []
    for label in labels.values():
        wide = 7.6 * len(label.text)
        left = label.x - starts[label.anchor] * wide
        assert left >= 78
        assert left + wide <= 740
        boxes.append((left, left + wide, label.y - 11, label.y + 3))
    for (a, b, c, d), (e, f, g, h) in itertools.combinations(boxes, 2):
        assert b <= e or f <= a or d <= g or h <= c


def test_curves_leave_gaps_where_nothing_is_known():
    """A step without a finite loss breaks the line; long curves keep their first and last step; none is none."""
    picture = curve_picture([("a", [3.0, None, 2.0, 1.0]), ("b", [float(n) for n in range(1000)])])
    assert picture is not None
    assert re.fullmatch(r"M\S+ \S+ M\S+ \S+ L\S+ \S+", picture.curves[0].path)
    assert len(picture.curves[1].path.split("L")) == 240
    assert picture.curves[0].samples[:2] == (3.0, None)
    assert picture.curves[1].samples == tuple(float(step) for step in picture.steps)
    assert (picture.steps[0], picture.steps[-1], len(picture.steps)) == (0, 999, 11)
    assert curve_picture([("a", [None, 1.0]), ("b", [])]) is None


def test_loss_scales_are_told_in_doublings():
    """Powers of two at their logarithms; a line that ends at once is left out, the others keep their colours."""
    picture = curve_picture([("a", [1024.0]), ("b", [1024.0, 4096.0])], log2=True)
    assert picture is not None
    assert [(curve.name, curve.place) for curve in picture.curves] == [("b", 1)]
    assert [text for _, text in picture.y_ticks] == ["1,024", "2,048", "4,096"]


@pytest.mark.parametrize("text", [b"", b"\x1f\x8b\x00", b"id,op\n1,Add\n"])
def test_an_op_table_that_cannot_be_read_is_none(tmp_path: Path, text: bytes):
    """A damaged or foreign file is passed over: the report says that the step is not known."""
    assert trial_ops(tmp_path) is None
    (tmp_path / OPS_FILE).write_bytes(text)
    assert trial_ops(tmp_path) is None


@given(
    st.sampled_from(COLUMNS),
    st.integers(0, 1),
    st.sampled_from(
        ["", "x", "()", "(9,)", "('a',)", "[[]]", "-1", "1e999", "nan", "((1,),)", "((-1, None),)", "'", "True"]
    ),
)
def test_a_bent_op_table_is_read_or_passed_over(column: str, row: int, value: str):
    """Whatever one of its fields holds, the strip and the casts come out, or the table counts as none."""
    good = make_table(
        make_row(0, "Cast", [((2, 2), "float32")], ((2, 2), "float16")),
        make_row(1, "MatMul", [((2, 2), "float16")] * 2, ((2, 2), "float16"), producers=(0,)),
    )
    bent = good.astype(object)
    bent.iloc[row, list(bent.columns).index(column)] = value
    with tempfile.TemporaryDirectory() as folder:
        bent.to_csv(Path(folder) / OPS_FILE, index=False)
        table = trial_ops(Path(folder))
    if table is not None:
        strip([precisions_of(table)])
        cast_maps([("a", table)], "a100-tf32-no-launch")


def test_a_table_that_was_written_is_read_back(tmp_path: Path):
    """The columns that pictures are made of come back as they were."""
    good = make_table(op(0, "a", "MatMul", "float16"), op(1, None, "Mul", None))
    good.to_csv(tmp_path / OPS_FILE, index=False)
    found = trial_ops(tmp_path)
    assert found is not None
    for column in ("layer", "compute_precision", "output_shapes", "producers"):
        assert list(found[column]) == list(good[column])


def test_the_front_alone_is_a_page_too(folder: StudyFolder):
    """It holds the picture and each trial's policy, and none of the other sections."""
    page = front_html(folder)
    assert page.count('class="spot ') == 4
    assert 'id="trials"' not in page
    assert '"1":{"name":"001 O2"' in page
