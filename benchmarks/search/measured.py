"""Measured tables: every assignment of a small network, trained once or with several seeds, to be replayed."""

import gzip
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from halfwise.policies.errors import InputError
from halfwise.search.hypervolume import staircase
from halfwise.search.propose.cost_model import Choices, CostModel
from halfwise.search.propose.proposer import Tried

from .problems import Observation, Places

# The second reference allows this share of the worst loss.
_LOW_LOSS_SHARE = 0.2


class Row(BaseModel):
    """One policy: its priced speed-up, and the quality lost with each seed, None where it did not train.

    `blamed` are the sites that the diagnosis of a failure named, `diagnosis` its steps over a trial's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    choices: tuple[int, ...]
    speedup: float = Field(gt=0)
    quality_lost: tuple[float | None, ...] = Field(min_length=1)
    blamed: frozenset[int] = frozenset()
    diagnosis: float = Field(default=0.0, ge=0)


class Table(BaseModel):
    """All policies of a network, what made them, and the cost model that searchers see.

    `noise` is the standard deviation of one trial's quality lost.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    schema_: Literal["halfwise/search-table/1"] = Field(default="halfwise/search-table/1", alias="schema")
    name: str
    command: str
    costs: CostModel
    noise: float = Field(gt=0)
    rows: tuple[Row, ...]


def write_table(table: Table, path: Path) -> None:
    """Write it as compressed JSON; equal tables give equal bytes.

    Raises:
        OSError: the file cannot be written.
    """
    path.write_bytes(gzip.compress(table.model_dump_json(by_alias=True).encode(), mtime=0))


def read_table(path: Path) -> Table:
    """Read a table.

    Raises:
        InputError: the file is none, it lacks a policy or holds one twice, or no policy of it loses quality.
    """
    try:
        table = Table.model_validate_json(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValidationError) as error:
        raise InputError(f"{path} holds no measured table: {error}") from error
    policies, every = len({row.choices for row in table.rows}), math.prod(table.costs.sizes)
    if not policies == len(table.rows) == every:
        raise InputError(f"{path} must hold each of {every} policies once, but has {len(table.rows)} rows")
    if _worst(table) <= 0:
        raise InputError(f"{path} has nothing to search for: no policy that trains loses quality")
    return table


class Replay:
    """A measured table as a `Problem`: a trial is one of the policy's seeds, drawn at random.

    The truth is the mean over seeds; a policy that failed with any of them does not train. A policy that was
    trained with one seed alone is observed without noise.
    """

    def __init__(self, table: Table) -> None:
        self.costs = table.costs
        self.noise = table.noise
        self._rows: Mapping[Choices, Row] = {row.choices: row for row in table.rows}
        worst = _worst(table)
        self.references: Places = ((1.0, worst), (1.0, _LOW_LOSS_SHARE * worst))

    def speedup(self, choices: Choices) -> float:
        """The price of the compiled policy, which the cost model only approximates."""
        return self._rows[choices].speedup

    def quality_lost(self, choices: Choices) -> float | None:
        """The mean over seeds; None where one of them failed."""
        return _mean(self._rows[choices])

    def observe(self, choices: Choices, rng: np.random.Generator) -> Observation:
        """One seed; a failure brings its diagnosis."""
        row = self._rows[choices]
        lost = row.quality_lost[rng.integers(len(row.quality_lost))]
        if lost is None:
            return Observation(Tried(choices, None, row.blamed), 1.0 + row.diagnosis)
        return Observation(Tried(choices, lost))

    def exact_front(self) -> Places:
        """The front of all that train with every seed."""
        means = ((row.speedup, _mean(row)) for row in self._rows.values())
        return staircase((speedup, lost) for speedup, lost in means if lost is not None)


class Tables:
    """A table for all seeds, which differ in their noise alone; a `Family`."""

    def __init__(self, path: Path) -> None:
        self._table = read_table(path)
        self.name = self._table.name

    def problem(self, seed: int) -> Replay:
        """The same for each seed."""
        return Replay(self._table)


def _worst(table: Table) -> float:
    return max((lost for row in table.rows if (lost := _mean(row)) is not None), default=0.0)


def _mean(row: Row) -> float | None:
    trained = [lost for lost in row.quality_lost if lost is not None]
    return sum(trained) / len(trained) if len(trained) == len(row.quality_lost) else None
