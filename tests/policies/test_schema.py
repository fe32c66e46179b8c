import json
from typing import Any

import jsonschema
import pytest
import yaml

from halfwise.policies import BUILTIN, Policy, save_policy
from halfwise.policies.schema import SCHEMA_PATH, schema_text

EXAMPLE = """
schema: halfwise/policy/1
default: auto
low_precision: float16
layers: {encoder: float16, "encoder.*.norm": float32, "encoder.*.attn::Mul": float32}
ops: {white_list: [MatMul, Conv2D], black_list: [Softmax, LayerNorm]}
gradients: follow
schedule: null
loss_scaling: {kind: dynamic, initial: 65536, factor: 2, window: 1000}
mode: graph
made_for: {device: CPU}
results: {quality: [0.99, 0.01]}
asked_hash: 0a1b2c
reasons: {head: "largest value 81000"}
"""


def problems(document: Any) -> list[str]:
    """What the checked-in schema has against a document."""
    schema = json.loads(SCHEMA_PATH.read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    return [error.message for error in validator.iter_errors(document)]


def test_the_checked_in_schema_is_the_generated_one() -> None:
    """After a change of the model, `python -m halfwise.policies.schema` has to be run."""
    assert SCHEMA_PATH.read_text("utf-8") == schema_text()


def test_the_schema_is_a_schema() -> None:
    """It validates against the 2020-12 meta-schema."""
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA_PATH.read_text("utf-8")))


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_policies_of_ours_fit_the_schema(name: str, tmp_path: Any) -> None:
    """The canonical text and the saved file of each built-in policy validate."""
    save_policy(BUILTIN[name], tmp_path / "p.yaml")
    assert problems(json.loads(str(BUILTIN[name]))) == []
    assert problems(yaml.safe_load((tmp_path / "p.yaml").read_text())) == []


def test_an_example_with_every_field_fits_both_the_schema_and_the_model() -> None:
    """What an editor accepts by the schema, the model accepts too."""
    document = yaml.safe_load(EXAMPLE)
    assert problems(document) == []
    assert Policy.model_validate(document).layers["encoder"] == "float16"


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "halfwise/policy/2"},
        {"default": "fp16"},
        {"layers": {"a": "half"}},
        {"loss_scaling": {"kind": "static"}},
        {"loss_scaling": {"kind": "dynamic", "window": 0}},
        {"gradients": "float32"},
        {"unknown": 1},
    ],
)
def test_the_schema_refuses_what_the_model_refuses(change: dict[str, Any]) -> None:
    """Wrong values and unknown keys are found by an editor, before halfwise runs."""
    assert problems({"schema": "halfwise/policy/1"} | change) != []
    with pytest.raises(ValueError, match="validation error"):
        Policy.model_validate(change)


def test_the_schema_wants_the_version_written() -> None:
    """A file without `schema` is incomplete."""
    assert problems({"default": "float16"}) == ["'schema' is a required property"]
