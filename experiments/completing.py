"""What a shell is offered when a name is begun on the command line: studies of the home, policies, workloads."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from .home import Home


def complete_study(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The studies of the home that `--home` names, or of the usual one."""
    return _beginning(_studies(ctx), incomplete)


def complete_policy(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Levels and studies; files where none of these begins so."""
    return _beginning(_studies(ctx), incomplete) + complete_level(ctx, param, incomplete)


def complete_level(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Levels; files where none of these begins so."""
    from ..policies import BUILTIN

    return _beginning(BUILTIN, incomplete) or [CompletionItem(incomplete, type="file")]


def complete_workload(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The workloads that come with halfwise."""
    from .workloads import BUILTIN_WORKLOADS, PRICING_WORKLOADS

    return _beginning((*BUILTIN_WORKLOADS, *PRICING_WORKLOADS), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _studies(ctx: click.Context) -> list[str]:
    """Nothing where the home cannot be read: a shell that completes is no place for messages."""
    from ..policies.errors import HalfwiseError
    from .home import Home

    try:
        home = Home.find(ctx.params.get("home"))
        return [study.name for study in home.studies() if _is_named_well(home, study.name)]
    except HalfwiseError:
        return []


def _is_named_well(home: "Home", name: str) -> bool:
    """Whether a study may have the name: a folder with another one is none, and could be more to a shell."""
    from ..policies.errors import InputError

    try:
        home.study_folder(name)
    except InputError:
        return False
    return True
