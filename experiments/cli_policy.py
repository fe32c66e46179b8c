"""Commands on a policy and a workload, without training: `check`, `ops`, `price`, `devices`."""

import json
from pathlib import Path

import click

from .cli_options import format_option
from .completing import complete_level, complete_workload
from .echo import echo

_workload = click.option(
    "--workload",
    required=True,
    metavar="NAME",
    shell_complete=complete_workload,
    help="A built-in workload, or my_module:make_workload.",
)
_device_file = click.option(
    "--device-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Rows of your own, over the built-in ones.",
)


@click.command(short_help="Check what MindSpore makes of a policy; exit code 1 if not what it asks.")
@click.argument("policy", shell_complete=complete_level)
@_workload
@format_option
def check(policy: str, workload: str, form: str) -> int:
    """Compile WORKLOAD under POLICY and compare every op with what the policy asks.

    Fails too when the file carries the hash of another asked table: a gate for upgrades of MindSpore.
    """
    from .inspect_policy import inspect_policy, read_policy

    asked = read_policy(policy)
    evidence = inspect_policy(asked, workload).inspection.evidence
    moved = asked.asked_hash is not None and asked.asked_hash != evidence.asked_hash
    holds = not evidence.mismatches and not moved
    if form == "json":
        echo(json.dumps({"holds": holds, "asked_hash": evidence.asked_hash, **evidence.model_dump()}, indent=1))
        return 0 if holds else 1
    echo(evidence.summary)
    for line in evidence.mismatches:
        echo(f"not as asked: {line}")
    if evidence.idle_entries:
        echo(f"change nothing here: {', '.join(evidence.idle_entries)}")
    if moved:
        echo(f"the asked table has changed: hash {evidence.asked_hash}, but the file says {asked.asked_hash}")
    echo("holds" if holds else "does not hold")
    return 0 if holds else 1


@click.command(short_help="List the ops of a workload's training step with their precisions.")
@_workload
@click.option(
    "--policy",
    shell_complete=complete_level,
    default="O0",
    show_default=True,
    help="A level, a policy file, or a text in braces.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "csv", "json"]), default="text", help="How to print it."
)
def ops(workload: str, policy: str, form: str) -> None:
    """One line an op: layer, direction, what it computes in as asked, and in which kernel on this CPU."""
    from .inspect_policy import inspect_policy, read_policy

    inspected = inspect_policy(read_policy(policy), workload)
    table = inspected.table
    if inspected.inspection.evidence.partial:
        echo(inspected.inspection.evidence.summary, err=True)
    if form == "json":
        echo(table.to_json(orient="records", indent=1))
    elif form == "csv":
        echo(table.to_csv(index=False), nl=False)
    else:
        shown = table[["layer", "op", "direction", "compute_precision", "kernel_precision", "flops", "is_cast"]]
        shown = shown.convert_dtypes()
        echo(shown.astype(object).where(shown.notna(), "").to_string(index=False))


@click.command(short_help="What a training step would take under a policy on a device that need not be there.")
@click.argument("policies", nargs=-1, required=True, metavar="POLICY...", shell_complete=complete_level)
@_workload
@click.option(
    "--price-for", metavar="ROW", default="a100-tf32", show_default=True, help="A row of `halfwise devices`."
)
@click.option("--batch-size", type=click.IntRange(min=1), help="Compile with this batch, not the workload's.")
@click.option("--parallel", default="data=1", metavar="data=N", help="Train on N such devices, a batch on each.")
@_device_file
@format_option
def price(
    policies: tuple[str, ...],
    workload: str,
    price_for: str,
    batch_size: int | None,
    parallel: str,
    device_file: Path | None,
    form: str,
) -> None:
    """Price WORKLOAD's training step under each POLICY: worked out from the compiled step, nothing is run."""
    from ..evaluators.price.device_file import load_devices
    from ..evaluators.price.devices import find_device
    from ..evaluators.price.gradient_sum import devices_of
    from ..policies import BUILTIN
    from .inspect_policy import inspect_policy, read_policy
    from .price_words import price_lines

    device, count = find_device(price_for, load_devices(device_file)), devices_of(parallel)
    asked = [read_policy(policy) for policy in policies]
    float32, *priced = [
        inspect_policy(policy, workload, device, batch_size, devices=count).inspection
        for policy in (BUILTIN["O0"], *asked)
    ]
    if form == "json":
        documents = [
            {"policy": name, "speed_up_over_float32": _speed_up(found, float32), **found.model_dump()}
            for name, found in zip(policies, priced, strict=True)
        ]
        echo(json.dumps(documents, indent=1))
        return
    for name, found in zip(policies, priced, strict=True):
        echo("\n".join(price_lines(name, found, _speed_up(found, float32))))


def _speed_up(found, float32) -> float:
    return float32.pricing.step_time_s / found.pricing.step_time_s


@click.command(short_help="List the devices that can be priced, with the source of each figure.")
@_device_file
@format_option
def devices(device_file: Path | None, form: str) -> None:
    """Every row of the device table; a figure that is not known is absent, an assumption says so."""
    from ..evaluators.price.device_file import load_devices
    from .price_words import device_lines

    rows = load_devices(device_file)
    if form == "json":
        echo(json.dumps({name: row.model_dump(mode="json") for name, row in rows.items()}, indent=1))
        return
    for row in rows.values():
        echo("\n".join(device_lines(row)))
