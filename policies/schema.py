"""The JSON Schema of a policy file; `python -m halfwise.policies.schema` writes it beside this module."""

import json
from pathlib import Path
from typing import Any

from .policy import Policy

SCHEMA_PATH = Path(__file__).with_name("policy.schema.json")


def policy_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a policy file, in which the version must be written."""
    schema = Policy.model_json_schema(by_alias=True)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "halfwise policy"}
    return schema | head | {"required": ["schema"]}


def schema_text() -> str:
    """The text of the checked-in file."""
    return json.dumps(policy_schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA_PATH.write_text(schema_text(), encoding="utf-8")
