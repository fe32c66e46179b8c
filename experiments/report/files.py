"""The files that a report is for people and for MLflow's pages, in the study's folder."""

import json

from ...policies.whole_file import write_text
from ..home import StudyFolder
from .contents import Contents, contents_of
from .page import FRONT, REPORT, render

Table = dict[str, list[object]]


def write_report(folder: StudyFolder) -> None:
    """The page, its front alone, and two tables as MLflow shows them: layers by policy, and casts.

    Raises:
        HalfwiseError: a file of the study cannot be read.
        NotWritten: one of these cannot be written.
    """
    contents = contents_of(folder)
    write_text(folder.report, render(REPORT, contents))
    write_text(folder.front_page, render(FRONT, contents))
    write_text(folder.layer_table, json.dumps(layer_table(contents)))
    write_text(folder.cast_table, json.dumps(cast_table(contents)))


def layer_table(contents: Contents) -> Table:
    """One row a layer: what it computes in under each policy that the report shows layer by layer."""
    paths = dict.fromkeys(path for cells in contents.layers for path in cells)
    rows = [
        [path, *(cells[path].precision if path in cells else "" for cells in contents.layers)] for path in paths
    ]
    return {"columns": ["layer", *(row.name for row in contents.columns)], "data": list(rows)}


def cast_table(contents: Contents) -> Table:
    """One row a border between layers whose casts are among a policy's dearest, priced."""
    rows = [
        [each.policy, border.producer, border.consumer, border.casts, border.share, border.merging_saves_s]
        for each in contents.casts.maps
        for border in each.borders
    ]
    device = contents.casts.device
    columns = ["policy", "from", "to", "casts", f"share of the step on {device}", "one precision saves, s"]
    return {"columns": list(columns), "data": list(rows)}
