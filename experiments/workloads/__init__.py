"""The workloads that come with halfwise, by name; none is imported before it is asked for."""

from ...policies.errors import InputError
from ...policies.near_miss import hint

BUILTIN_WORKLOADS = {
    "digits-resnet": "halfwise.experiments.workloads.digits_resnet:make_workload",
    "text-transformer": "halfwise.experiments.workloads.text_transformer:make_workload",
    "tabular-mlp": "halfwise.experiments.workloads.tabular_mlp:make_workload",
}


def resolve_reference(name: str) -> str:
    """A built-in workload's name to its reference `module:function`; a reference stays as it is.

    Raises:
        InputError: it is neither.
    """
    if ":" in name:
        return name
    if name not in BUILTIN_WORKLOADS:
        raise InputError(
            f"unknown workload {name!r}{hint(name, BUILTIN_WORKLOADS)}; built in are "
            f"{', '.join(BUILTIN_WORKLOADS)}; name one of your own as my_module:make_workload"
        )
    return BUILTIN_WORKLOADS[name]
