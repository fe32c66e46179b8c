"""`halfwise sensitivity`: what it prints and draws, and what it finds on the built-in workloads."""

import json
from functools import partial
from pathlib import Path

import pytest
from program import run_halfwise

from halfwise.evaluators.sensitivity.result import Sensitivity
from halfwise.experiments.sensitivity_figure import MOST_BARS, save_sensitivity_figure, sensitivity_figure
from halfwise.experiments.sensitivity_words import rows, sensitivity_lines
from halfwise.policies.rules import AloneEffect, GroupStatistics, OpStatistics, TensorStatistics

SUPPORT = Path(__file__).parents[1] / "support"
halfwise = partial(run_halfwise, timeout_s=900)


def statistics(name: str, largest: float, *ops: str, finite: bool = True) -> GroupStatistics:
    """A group whose ops all hold one largest value."""
    tensor = TensorStatistics(
        kind="output", largest_by_step=(largest,), beyond_float16=0, below_normal=0, below_subnormal=0
    )
    measured = {"loss_change": 0, "gradient_distance": 0, "gradient_cosine": 1} if finite else {}
    return GroupStatistics(
        name=name,
        covers=(name or ".",),
        ops=tuple(OpStatistics(op=op, direction="forward", tensors=(tensor,)) for op in ops),
        alone=(AloneEffect(precision="float16", finite=finite, loss_scale=1, **measured),),
    )


def sensitivity(groups: list[GroupStatistics], parts: list[GroupStatistics]) -> Sensitivity:
    """The result of a short run."""
    return Sensitivity(
        workload="tiny",
        device="CPU",
        seed=1,
        collected_steps=(0, 7),
        loss_scale=1024,
        groups=tuple(groups),
        parts=tuple(parts),
        steps_run=13,
        float32_time_s=1.5,
        alone_time_s=0.5,
        notes=("something is missing",),
    )


FOUND = sensitivity(
    [
        statistics("safe", 2.0, "MatMul"),
        statistics("", 3.0, "Add"),
        statistics("body", 1e6, "Mul", "Add", finite=False),
    ],
    [statistics("body::Add", 1.0, "Add"), statistics("body::Mul", 1e6, "Mul", finite=False)],
)


def test_a_group_that_an_op_explains_is_shown_by_its_ops():
    """The likeliest harm is on top; the group itself is left out as its op stands for it."""
    assert rows(FOUND)[0].name == "body::Mul"
    assert {row.name for row in rows(FOUND)} == {"body::Mul", "body::Add", "safe", "(the network itself)"}


def test_a_group_that_no_op_explains_is_shown_itself():
    """Where no op does harm by itself the group stays on top, and its ops are shown too."""
    parts = [statistics("body::Add", 1.0, "Add"), statistics("body::Mul", 1.0, "Mul")]
    found = [row.name for row in rows(sensitivity(list(FOUND.groups), parts))]
    assert found[0] == "body"
    assert {"body::Add", "body::Mul"} < set(found)


def test_the_table_gives_numbers_reasons_cost_and_gaps():
    """A row holds value, headroom, movement and reason; below stand the steps and the notes."""
    lines = list(sensitivity_lines(FOUND))
    assert lines[0] == "tiny on CPU: float32 values at steps 0, 7, loss scale 1024"
    top = lines[2].split()
    assert top[0] == "body::Mul"
    assert top[3:5] == ["1e+06", "-3.9"]
    assert "largest value 1e+06 beyond float16's 65,504 in Mul (forward output)" in lines[2]
    assert "13 steps, 2.0 s: 8 in float32" in "\n".join(lines)
    assert lines[-1] == "note: something is missing"


def test_the_figure_has_a_bar_for_each_row_and_counts_the_rest(tmp_path):
    """Beyond forty rows the least likely are left out, and a footnote says how many; names are no formulas."""
    many = sensitivity(
        [statistics(f"layer${number}$", number + 1.0, "Mul") for number in range(MOST_BARS + 5)], []
    )
    figure = sensitivity_figure(rows(many), "tiny: $harm$")
    axes = figure.axes[0]
    assert len(axes.get_yticklabels()) == MOST_BARS
    assert sorted(len(container) for container in axes.containers) == [MOST_BARS, MOST_BARS]
    assert "5 less likely ones are left out" in figure.texts[-1].get_text()
    save_sensitivity_figure(rows(FOUND), "tiny", tmp_path / "harm.png")
    assert (tmp_path / "harm.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_workload_is_refused():
    """Exit code 2, with near misses."""
    result = halfwise("sensitivity", "--workload", "tabular-mpl")
    assert result.returncode == 2
    assert "tabular-mlp" in result.stderr


@pytest.mark.full
def test_the_command_names_the_overflowing_product(tmp_path):
    """On a network with a product beyond float16, JSON holds groups, parts and beliefs, the product's first."""
    arguments = ["--steps", "4", "--figure", str(tmp_path / "harm.png"), "--format", "json"]
    result = halfwise("sensitivity", "--workload", "tiny_workloads:make_overflowing", *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(result.stdout)
    first = document.pop("beliefs")[0]
    assert (first["group"], first["precision"]) == ("square::Mul", "float16") or first["group"] == "square"
    assert Sensitivity.model_validate(document).steps_run > 4
    assert (tmp_path / "harm.png").stat().st_size > 1000


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("workload", "first"),
    [("text-transformer", "blocks.0.attention::Mul"), ("tabular-mlp", "features::Mul"), ("digits-resnet", None)],
)
def test_built_in_workloads_show_their_hazards(workload, first):
    """The masked product and the squares stand on top, every layer beside them is unlikely harm, as in digits."""
    result = halfwise("sensitivity", "--workload", workload, "--format", "json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    beliefs = [each for each in document["beliefs"] if each["precision"] == "float16"]
    likely = [each["group"] for each in beliefs if each["probability"] > 0.5]
    if first is None:
        assert likely == []
    else:
        assert beliefs[0]["group"] == first
        assert all(name.endswith("::Mul") for name in likely)
