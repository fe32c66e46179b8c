"""The workloads that come with halfwise, by name; none is imported before it is asked for."""

from ...policies.errors import InputError
from ...policies.near_miss import hint

BUILTIN_WORKLOADS = {
    "digits-resnet": "halfwise.experiments.workloads.digits_resnet:make_workload",
    "text-transformer": "halfwise.experiments.workloads.text_transformer:make_workload",
    "tabular-mlp": "halfwise.experiments.workloads.tabular_mlp:make_workload",
    "mnist-cnn": "halfwise.experiments.workloads.mnist_cnn:make_workload",
}


PRICING_WORKLOADS = {
    "resnet50": "halfwise.experiments.workloads.resnet50:make_workload",
    "bert-encoder": "halfwise.experiments.workloads.bert_encoder:make_workload",
}
"""Too large to train here, and on random data: for checks and prices."""


def resolve_reference(name: str) -> str:
    """A built-in workload's name to its reference `module:function`; a reference stays as it is.

    Raises:
        InputError: it is neither, or names a workload that is for prices only.
    """
    if name in PRICING_WORKLOADS:
        raise InputError(f"{name} holds random data and is for `halfwise price` only; to train choose {_known()}")
    return _resolve(name, BUILTIN_WORKLOADS)


def resolve_for_pricing(name: str) -> str:
    """The same with the workloads that are compiled and never trained.

    Raises:
        InputError: it is no workload's name and no reference.
    """
    return _resolve(name, {**BUILTIN_WORKLOADS, **PRICING_WORKLOADS})


def _resolve(name: str, known: dict[str, str]) -> str:
    if ":" in name:
        return name
    if name not in known:
        raise InputError(
            f"unknown workload {name!r}{hint(name, known)}; built in are {', '.join(known)}; "
            "name one of your own as my_module:make_workload"
        )
    return known[name]


def _known() -> str:
    return ", ".join(BUILTIN_WORKLOADS)
