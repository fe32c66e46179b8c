"""The policy: which parts of a network compute in which precision, as one frozen value."""

import hashlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from .canonical import canonical_text, check_text
from .frozen import FrozenMapping
from .json_value import JsonMapping
from .loss_scaling import DynamicLossScaling, LossScaling
from .near_miss import UnknownName
from .ops import check_op
from .patterns import parse_pattern
from .precision import LowPrecision, RulePrecision
from .violations import Violation, fail

SCHEMA = "halfwise/policy/1"

Mode = Literal["graph", "pynative"]
"""MindSpore's execution modes."""

_PROVENANCE = ("made_for", "results", "asked_hash", "reasons")


def _check_pattern(text: str) -> str:
    with _unknown_names():
        parse_pattern(text)
    return check_text(text)


def _check_op(name: str) -> str:
    with _unknown_names():
        return check_op(name)


@contextmanager
def _unknown_names() -> Generator[None, None, None]:
    """Hands an unknown name on with its candidates: pydantic would put every one into words at once."""
    try:
        yield
    except UnknownName as error:
        context = {"rule": error.rule, "name": error.name, "candidates": error.candidates}
        raise PydanticCustomError("unknown_name", "{rule}", context) from error


def _frozen(value: Mapping[str, Any]) -> FrozenMapping[Any]:
    return FrozenMapping(value)


def _op_rules_name_a_precision(layers: Mapping[str, RulePrecision]) -> Mapping[str, RulePrecision]:
    fail(
        Violation((text,), "a rule for one op must name a precision, not auto", precision)
        for text, precision in layers.items()
        if precision == "auto" and parse_pattern(text).op is not None
    )
    return layers


def _without_duplicates(names: tuple[str, ...]) -> tuple[str, ...]:
    first = {name: place for place, name in reversed(list(enumerate(names)))}
    fail(
        Violation((place,), f"{name!r} stands in the list twice", name)
        for place, name in enumerate(names)
        if place > first[name]
    )
    return tuple(sorted(names))


def _only_follow(value: object) -> object:
    if value != "follow":
        raise ValueError(f"must be follow: anything else is reserved for a later version; got {value!r}")
    return value


def _only_null(value: object) -> object:
    if value is not None:
        raise ValueError(
            "must be null: a schedule is a file of its own that holds policies, with the schema "
            f"halfwise/schedule/1; got {value!r}"
        )
    return value


_Layers = Annotated[
    Mapping[Annotated[str, AfterValidator(_check_pattern)], RulePrecision],
    AfterValidator(_op_rules_name_a_precision),
    AfterValidator(_frozen),
    PlainSerializer(dict),
]
_OpNames = Annotated[tuple[Annotated[str, AfterValidator(_check_op)], ...], AfterValidator(_without_duplicates)]
_Text = Annotated[str, AfterValidator(check_text)]
_Reasons = Annotated[Mapping[_Text, _Text], AfterValidator(_frozen), PlainSerializer(dict)]


class OpLists(BaseModel):
    """White: these ops run in low precision. Black: these stay in float32. Sorted; order has no meaning."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    white_list: _OpNames = ()
    black_list: _OpNames = ()

    @model_validator(mode="after")
    def _one_list_for_an_op(self) -> Self:
        fail(
            Violation(("black_list",), f"{name!r} stands in the white list too; keep one of the two", name)
            for name in self.black_list
            if name in self.white_list
        )
        return self


class Policy(BaseModel):
    """What a network shall compute in. Leaves everything in float32 unless told otherwise.

    `layers` maps patterns (see `patterns.py`) to precisions; `ops` are the lists behind "auto" and the black
    list of low-precision layers; `low_precision` is what the white list lowers to. The last four fields say
    where the policy comes from and change nothing. Constructing one with wrong values raises pydantic's
    ValidationError; `parse_policy` and `load_policy` turn that into an InputError with places.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    schema_version: Literal["halfwise/policy/1"] = Field(default=SCHEMA, alias="schema")
    default: RulePrecision = "float32"
    low_precision: LowPrecision = "float16"
    layers: _Layers = Field(default_factory=FrozenMapping[RulePrecision])
    ops: OpLists = OpLists()
    gradients: Annotated[Literal["follow"], BeforeValidator(_only_follow)] = "follow"
    schedule: Annotated[None, BeforeValidator(_only_null)] = None
    loss_scaling: LossScaling = DynamicLossScaling()
    mode: Mode = "graph"
    made_for: JsonMapping = Field(default_factory=FrozenMapping[Any])
    results: JsonMapping = Field(default_factory=FrozenMapping[Any])
    asked_hash: _Text | None = None
    reasons: _Reasons = Field(default_factory=FrozenMapping[str])

    def __str__(self) -> str:
        """The canonical text: one line of JSON without defaults; `parse_policy` reads it back."""
        return canonical_text(self._written())

    def __eq__(self, other: object) -> bool:
        """Equal policies have equal texts."""
        return str(self) == str(other) if isinstance(other, Policy) else NotImplemented

    def __hash__(self) -> int:
        """Equal policies have equal hashes."""
        return hash(str(self))

    @property
    def digest(self) -> str:
        """12 hexadecimal digits over what is asked; where the policy comes from makes no difference."""
        asked = {name: value for name, value in self._written().items() if name not in _PROVENANCE}
        return hashlib.sha256(canonical_text(asked).encode()).hexdigest()[:12]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is allowed but changes nothing, in a user's words."""
        asks_auto = "auto" in (self.default, *self.layers.values())
        if asks_auto and not self.ops.white_list:
            return ("auto is asked for, but the white list is empty: auto lowers no op by itself",)
        if self.ops.white_list and not asks_auto:
            return ("the white list changes nothing: neither the default nor a rule is auto",)
        return ()

    def replace(self, **changes: Any) -> Self:
        """A copy with other values in some fields, checked like any policy (ValidationError if wrong)."""
        fields = {name: getattr(self, name) for name in type(self).model_fields if name != "schema_version"}
        return type(self).model_validate(fields | changes)

    def _written(self) -> dict[str, Any]:
        fields = self.model_dump(exclude_defaults=True)
        if "loss_scaling" in fields:
            fields["loss_scaling"] = {"kind": self.loss_scaling.kind} | fields["loss_scaling"]
        return {"schema": SCHEMA} | fields
