"""Read a document into a pydantic model; every error says file, line, column, field, rule and value."""

from collections.abc import Sequence
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from .errors import InputError
from .problems import describe
from .yaml_nodes import compose, place, to_plain

Model = TypeVar("Model", bound=BaseModel)

# Nobody reads more than so many problems at once, and each takes time to put into words.
MOST_PROBLEMS = 50


def read_document(text: str, source: str, model: type[Model], required: Sequence[str] = ()) -> Model:
    """The model that a YAML or JSON text holds.

    Keys are always text, whatever they look like (`on`, `1e-3`). The model's types decide what an unquoted
    value means; free-form fields should be `JsonMapping`s, which read it by the YAML 1.2 core schema.
    `source` is what errors call the text, usually its path. `required` names fields that must be written
    although the model has defaults for them.

    Raises:
        InputError: everything that is wrong, a line each, in the order of the text; of more than 50, that many.
    """
    root = compose(text, source)
    problems = [
        (0, 0, f"{place(source, root.start_mark)}: {field}: is required")
        for field in required
        if all(key.value != field for key, _ in root.value)
    ]
    try:
        value = model.model_validate(to_plain(root))
    except ValidationError as error:
        problems += _placed(error, root, source, model)
        left = error.error_count() - MOST_PROBLEMS
    else:
        left = 0
        if not problems:
            return value
    more = [f"{source}: and {left:,} more problems"] if left > 0 else []
    raise InputError("\n".join([*(text for _, _, text in sorted(problems)), *more]))


def _placed(
    error: ValidationError, root: yaml.MappingNode, source: str, model: type[BaseModel]
) -> list[tuple[int, int, str]]:
    schema = model.model_json_schema(by_alias=True)
    placed: list[tuple[int, int, str]] = []
    for details in error.errors(include_url=False)[:MOST_PROBLEMS]:
        problem = describe(details, root, schema)
        text = f"{place(source, problem.mark)}: {problem.field}: {problem.rule}"
        placed.append((problem.mark.line, problem.mark.column, text))
    return placed
