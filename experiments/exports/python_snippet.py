"""A policy as a Python file that needs MindSpore and nothing else."""

import textwrap
from collections.abc import Iterable, Mapping

from ...policies import OP_CLASSES, DynamicLossScaling, LossScaling, Region, StaticLossScaling, region_of
from ...policies.canonical import printable
from ...policies.function_uses import COMPUTING, PLUMBING, WITHOUT_FLOATS
from . import snippet_text as text
from .form import Exported
from .subject import Subject


def python_snippet(subject: Subject) -> Exported:
    """The file: op lists and layers as values, and the calls that set them; nothing of the policy is lost.

    Raises:
        InputError: the policy is for another network; or a layer is asked for float16 and bfloat16 both.
    """
    regions = {each.path: region_of(each, subject.policy) for each in subject.assignments()}
    names = _names(regions.values())
    separate = len(names) > 1
    scaling = subject.policy.loss_scaling
    parts = [
        text.HEAD,
        text.IMPORTS_AND_SEPARATING if separate else text.IMPORTS,
        _title(subject),
        f"# Every op that a region may name: MindSpore's primitives that compute with floats.\n"
        f"FLOAT_OPS = {_words(OP_CLASSES)}\n\n",
        text.REGIONS.format(regions="".join(_region(name, region) for region, name in names.items())),
        _layers(regions, names),
        text.SETTING.format(separating="    _separate_functions()\n" if separate else ""),
        _separating() if separate else "",
        text.SCALER.format(kind=scaling.label, call=_scaler(scaling)),
    ]
    return Exported("".join(parts), ())


def _title(subject: Subject) -> str:
    policy = subject.policy
    title = printable(f"{subject.title}, digest {policy.digest}, on {subject.survey.workload}").replace("\n", " ")
    mode = {"graph": "GRAPH_MODE", "pynative": "PYNATIVE_MODE"}[policy.mode]
    return f"# The policy {title}.\nMODE = ms.{mode}  # what ms.set_context(mode=MODE) is to be called with\n\n"


def _names(regions: Iterable[Region]) -> dict[Region, str]:
    """A short name for each different region, in the order of their first layers."""
    found: dict[Region, str] = {}
    for region in dict.fromkeys(regions):
        base = region.precision if region.white_list else "float32"
        taken = sum(name.split("-")[0] == base for name in found.values())
        found[region] = f"{base}-{taken + 1}" if taken else base
    return found


def _region(name: str, region: Region) -> str:
    border = "None" if region.border is None else f"ms.{region.border}"
    parts = (f"ms.{region.precision}", _set_of(region.white_list), _set_of(region.black_list), border)
    return f"    {name!r}: (\n" + "".join(f"        {part},\n" for part in parts) + "    ),\n"


def _set_of(names: Iterable[str]) -> str:
    """A set of ops, written by what is in it or by what is left out: whichever is shorter."""
    listed = set(names)
    missing = OP_CLASSES.keys() - listed
    if len(missing) >= len(listed):
        return _words(listed)
    return f"FLOAT_OPS - {_words(missing)}" if missing else "FLOAT_OPS"


def _words(names: Iterable[str]) -> str:
    """The names as an expression that makes a set of them."""
    listed = " ".join(sorted(names))
    if not listed:
        return "frozenset()"
    if len(listed) < 60:
        return f'frozenset("{listed}".split())'
    return f'frozenset("""\n{textwrap.fill(listed, 115)}\n""".split())'


def _layers(regions: Mapping[str, Region], names: Mapping[Region, str]) -> str:
    lines = "".join(f"    {path!a}: {names[region]!r},\n" for path, region in regions.items())
    return f"LAYERS = {{\n{lines}}}\n"


def _separating() -> str:
    return text.SEPARATING.format(computing=COMPUTING, plumbing=PLUMBING, without_floats=_words(WITHOUT_FLOATS))


def _scaler(scaling: LossScaling) -> str:
    if isinstance(scaling, DynamicLossScaling):
        return f"amp.DynamicLossScaler({float(scaling.initial)!r}, {scaling.factor}, {scaling.window})"
    scale = scaling.scale if isinstance(scaling, StaticLossScaling) else 1.0
    return f"amp.StaticLossScaler({float(scale)!r})"
