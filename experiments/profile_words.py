"""A profile in words, for the terminal: measured and priced figures stand apart, each with its device."""

from collections.abc import Iterator

from ..evaluators.profiling.result import Float32Op, Profile


def profile_lines(name: str, found: Profile) -> Iterator[str]:
    """The step first, then its parts by precision, then the float32 ops that took longest."""
    yield f"{name} on {found.workload}: {found.steps} training steps, measured on {found.target}"
    yield f"  {found.evidence.summary}"
    yield (
        f"  a step: {_ms(found.step_s)} with the profiler on; its kernels together, some of which run at the same "
        f"time: {_ms(found.kernels_s)}; priced on {found.priced_for}: {_ms(found.priced_step_s)}"
    )
    if found.skipped:
        yield f"  {found.skipped} of the steps overflowed and updated nothing"
    if found.untold_s:
        yield f"  {_ms(found.untold_s)} in kernels that the compiled step does not hold"
    yield f"  {'':12}{'measured on ' + found.target:>24}{'priced on ' + found.priced_for:>28}"
    for part in found.parts:
        shown = _share(part.measured_s, found.kernels_s), _share(part.priced_s, found.priced_step_s)
        yield f"  {part.part:12}{shown[0]:>24}{shown[1]:>28}"
    if found.float32_ops:
        yield "  computed in float32, longest first:"
    yield from (f"    {_op(op, found)}" for op in found.float32_ops)


def _op(op: Float32Op, found: Profile) -> str:
    priced = (
        f"priced {_share(op.priced_s, found.priced_step_s)}"
        if op.priced_s is not None
        else "not asked to: this device's kernel"
    )
    where = op.layer or "the network itself"
    return f"{op.op} of {where} ({op.direction}): {_share(op.measured_s, found.kernels_s)}, {priced}"


def _share(seconds: float, whole_s: float) -> str:
    return f"{_ms(seconds)} ({seconds / whole_s:.1%})" if whole_s else _ms(seconds)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms"
