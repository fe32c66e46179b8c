"""The sites of a network that a policy made low, and those that a failing run blames."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from ..evaluators.localize.compare import Compared, Departure
from ..evaluators.outcome import Place
from ..evaluators.survey_result import Survey
from ..policies import LOW_PRECISIONS
from ..search.site_space import SiteGroup
from .sites_of import sites_of
from .space_of import layer_groups


def alike(survey: Survey) -> Survey:
    """The survey with equal repeated blocks: ops that MindSpore merged into those of one block are in all.

    Blocks repeat where their layers' paths differ in numbers only and their classes are equal.
    """
    ops: dict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)
    for cell in survey.cells:
        ops[_starred(cell.path), cell.type_names].update(cell.ops)
    cells = (
        cell.model_copy(update={"ops": tuple(sorted(ops[_starred(cell.path), cell.type_names]))})
        for cell in survey.cells
    )
    return survey.model_copy(update={"cells": tuple(cells)})


def low_sites(survey: Survey, ops_file: Path) -> tuple[SiteGroup, ...]:
    """The sites of which some op computes in low precision as asked, in the order of the network.

    Whole layers of MindSpore's, single ops of the user's layers; repeated blocks are one. `ops_file` is the op
    table of the policy's trial.
    """
    low = _low_ops(ops_file)
    groups = layer_groups(survey, "blocks")
    sites = sites_of(survey.cells, groups, LOW_PRECISIONS)
    return tuple(site for site in sites if any((path, op) in low for path in site.paths for op in _ops(site)))


def sites_at(sites: Sequence[SiteGroup], layer: str | None, op: str | None) -> tuple[str, ...]:
    """The names of the sites that hold an op of a layer; all sites of the layer where the op is none of its own.

    Where the layer has none either, MindSpore may have made one op of equal ones: those of other layers are meant.
    """
    of_op = [site for site in sites if op in _ops(site)]
    in_layer = [site for site in sites if layer in site.paths]
    exact = [site for site in in_layer if site in of_op]
    return tuple(site.name for site in exact or in_layer or of_op)


def blamed_by_place(sites: Sequence[SiteGroup], place: Place | None) -> tuple[str, ...]:
    """The sites that a diagnosis means."""
    return () if place is None else sites_at(sites, place.layer, place.op)


def blamed_by(sites: Sequence[SiteGroup], departure: Departure | None) -> tuple[str, ...]:
    """The sites that are at fault where an op left its float32 twin."""
    blames: Iterable[tuple[str, str]] = () if departure is None else departure.blames
    return tuple(dict.fromkeys(name for layer, op in blames for name in sites_at(sites, layer, op)))


def departure_at(compared: Compared, place: Place | None) -> Departure | None:
    """The departure that a comparison found at a diagnosed place; without a place the first one."""
    if place is None or place.op is None:
        return next(iter(compared.departures), None)
    return next((found for found in compared.departures if found.place(place.step) == place), None)


def _ops(site: SiteGroup) -> tuple[str, ...]:
    return site.ops if site.op is None else (site.op,)


def _starred(path: str) -> str:
    return ".".join("*" if part.isdigit() else part for part in path.split("."))


def _low_ops(ops_file: Path) -> set[tuple[str, str]]:
    table = pd.read_csv(ops_file, keep_default_na=False)
    low = table[(table["direction"] == "forward") & table["compute_precision"].isin(LOW_PRECISIONS)]
    return set(zip(low["layer"], low["op"], strict=True))
