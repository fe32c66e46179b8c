"""The standings of a contest as a table to print."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from .contest import Standing


def standings_table(standings: Mapping[str, Standing], checkpoints: Sequence[int]) -> str:
    """One line a peer: the median and the worst seed after some trials.

    Beside them stand, after the last of these, the medians by the second reference and of what is recommended.
    """
    rows = {peer: _row(standing, checkpoints) for peer, standing in standings.items()}
    return pd.DataFrame.from_dict(rows, orient="index").to_string(float_format="{:.3f}".format)


def _row(standing: Standing, checkpoints: Sequence[int]) -> dict[str, float]:
    row: dict[str, float] = {}
    for trial in checkpoints:
        shares = standing.anytime[:, trial - 1]
        row |= {f"median at {trial}": float(np.median(shares)), f"worst at {trial}": float(shares.min())}
    last = checkpoints[-1]
    return row | {
        f"low loss at {last}": float(np.median(standing.anytime_low_loss[:, last - 1])),
        "recommended": float(np.median(standing.recommended)),
    }
