"""Where values that are not finite began: the chain of kernels that handed them on, followed backwards."""

from collections.abc import Collection, Sequence

import pandas as pd


def first_harmful(kernels: pd.DataFrame, bad: Sequence[int], fatal: Collection[int] = ()) -> int | None:
    """The first kernel that made what is not finite out of finite values, and whose values did harm.

    `kernels` is a kernel table; `bad` are the ids of those with a value that is not finite, in the order of
    time; `fatal` are those whose value must be finite, such as the loss's. A value does harm when it was handed
    on, never finite again, to a fatal kernel or to the end of the step: a score of minus infinity behind which a
    softmax is finite does none. Where no chain leads to the end, it is the first kernel of all that made such a
    value.
    """
    spoilt = set(bad)
    fed = {kernel: [p for p in kernels.at[kernel, "producers"] if p in spoilt] for kernel in bad}
    reached = set(spoilt & (set(fatal) | _last_floats(kernels)))
    waiting = list(reached)
    while waiting:
        before = [kernel for kernel in fed[waiting.pop()] if kernel not in reached]
        reached.update(before)
        waiting += before
    origins = [kernel for kernel in bad if not fed[kernel]]
    return next((kernel for kernel in origins if kernel in reached), next(iter(origins), None))


def _last_floats(kernels: pd.DataFrame) -> set[int]:
    """The kernels whose floats no other kernel makes floats of: results, and what is only tested."""
    taken = {
        producer
        for _, kernel in kernels.iterrows()
        if kernel["output_precision"] is not None
        for producer in kernel["producers"]
    }
    return set(kernels.index) - taken
