"""Measured tables: every assignment of a small network, trained once or with several seeds, to be replayed."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError

from halfwise.policies.errors import InputError
from halfwise.search.hypervolume import staircase
from halfwise.search.propose.cost_model import Choices, CostModel
from halfwise.search.propose.prior import Prior
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

    @property
    def known(self) -> tuple[float, ...]:
        """The losses of the seeds that trained."""
        return tuple(lost for lost in self.quality_lost if lost is not None)

    @property
    def mean(self) -> float | None:
        """The mean over seeds; None where one of them failed."""
        return sum(self.known) / len(self.known) if len(self.known) == len(self.quality_lost) else None


class Table(BaseModel):
    """All policies of a network, what made them, and what searchers see: the cost model and chances of harm.

    Trials were `steps` long. `chances` are those of each site in low precision, by the rules over one float32 run;
    `sensitivity_trials` is what that run took, in trials. `float32_quality` is what losses are held against, by
    seed; the seeds of a row are the first ones of it. `noise` is the standard deviation of one trial's loss.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    schema_: Literal["halfwise/search-table/1"] = Field(default="halfwise/search-table/1", alias="schema")
    name: str
    workload: str
    command: str
    mindspore_version: str
    steps: PositiveInt
    costs: CostModel
    chances: dict[str, float]
    sensitivity_trials: float = Field(ge=0)
    float32_quality: dict[int, float]
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
        InputError: the file is none, it lacks a policy or a site's chance of harm or holds a policy twice, or no
            policy of it loses quality.
    """
    try:
        table = Table.model_validate_json(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValidationError) as error:
        raise InputError(f"{path} holds no measured table: {error}") from error
    every = set(product(*map(range, table.costs.sizes)))
    if {row.choices for row in table.rows} != every or len(table.rows) != len(every):
        raise InputError(f"{path} must hold each of {len(every)} policies once, but has {len(table.rows)} rows")
    unknown = [site.name for site in table.costs.sites if site.name not in table.chances]
    if unknown:
        raise InputError(f"{path} must hold a chance of harm for each site, but has none for {', '.join(unknown)}")
    if _worst(table) <= 0:
        raise InputError(f"{path} has nothing to search for: no policy that trains loses quality")
    return table


class Replay:
    """A measured table as a `Problem`: a trial is one of the policy's seeds, drawn at random.

    The truth is the mean over seeds; a policy that failed with any of them does not train. A policy that was
    trained with one seed alone is observed without noise. `prior` is what searchers are told of the sites.
    """

    def __init__(self, table: Table, prior: Prior) -> None:
        self.costs = table.costs
        self.noise = table.noise
        self.prior = prior
        self._rows: Mapping[Choices, Row] = {row.choices: row for row in table.rows}
        worst = _worst(table)
        self.references: Places = ((1.0, worst), (1.0, _LOW_LOSS_SHARE * worst))

    def speedup(self, choices: Choices) -> float:
        """The price of the compiled policy, which the cost model only approximates."""
        return self._rows[choices].speedup

    def quality_lost(self, choices: Choices) -> float | None:
        """The mean over seeds; None where one of them failed."""
        return self._rows[choices].mean

    def observe(self, choices: Choices, rng: np.random.Generator) -> Observation:
        """One seed; a failure brings its diagnosis."""
        row = self._rows[choices]
        lost = row.quality_lost[rng.integers(len(row.quality_lost))]
        if lost is None:
            return Observation(Tried(choices, None, row.blamed), 1.0 + row.diagnosis)
        return Observation(Tried(choices, lost))

    def exact_front(self) -> Places:
        """The front of all that train with every seed."""
        return staircase((row.speedup, row.mean) for row in self._rows.values() if row.mean is not None)


@dataclass(frozen=True)
class Warned:
    """A table for all seeds, which differ in their noise alone; searchers know the chances of harm. A `Family`."""

    table: Table

    @property
    def name(self) -> str:
        """The table's."""
        return self.table.name

    def problem(self, seed: int) -> Replay:
        """The same for each seed."""
        sites, chances = self.table.costs.sites, self.table.chances
        return Replay(
            self.table, Prior({(site.name, low): chances[site.name] for site in sites for low in site.choices[1:]})
        )


@dataclass(frozen=True)
class Unwarned:
    """The same to searchers that know nothing of the sites; a `Family`."""

    table: Table

    @property
    def name(self) -> str:
        """The table's."""
        return self.table.name

    def problem(self, seed: int) -> Replay:
        """The same for each seed."""
        return Replay(self.table, Prior({}))


def _worst(table: Table) -> float:
    return max((row.mean for row in table.rows if row.mean is not None), default=0.0)
