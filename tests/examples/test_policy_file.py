"""The policy file that stands among the examples."""

import json

import jsonschema
import yaml

from halfwise.policies import load_policy, parse_policy


def test_the_file_is_what_the_schema_and_the_reader_take(examples):
    """The hand-written file obeys the checked-in JSON Schema, and its text form parses back to the same policy."""
    schema = json.loads((examples.parent / "policies" / "policy.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(yaml.safe_load((examples / "policy.yaml").read_text(encoding="utf-8")), schema)
    policy = load_policy(examples / "policy.yaml")
    assert policy.layers["blocks.*::Add"] == "float32"
    assert parse_policy(str(policy)) == policy
