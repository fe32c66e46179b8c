"""The command `halfwise export`: one policy as a file, for a training script or for another program."""

from pathlib import Path

import click

from ..policies.errors import InputError
from .cli_options import Share, home_option
from .completing import complete_policy, complete_workload
from .echo import echo

_FORMS = ("yaml", "python", "source", "amp-lists", "mixlist", "csv")


@click.command(short_help="Write one policy to a file: halfwise's own, Python, code with casts, lists, a table.")
@click.argument("subject", metavar="STUDY|POLICY", shell_complete=complete_policy)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; by default policy.yaml, precisions.py, constructs.py, amp_lists.py, mixlist.json or "
    "precisions.csv.",
)
@click.option("--as", "form", type=click.Choice(_FORMS), default="yaml", show_default=True, help="What to write.")
@click.option(
    "--workload",
    metavar="NAME",
    shell_complete=complete_workload,
    help="The network that a POLICY is for; a study knows its own.",
)
@click.option("--rule", help="A trial's policy: best (the default), fastest, accurate or trial:N.")
@click.option(
    "--min-speedup", type=click.FloatRange(min=1, min_open=True), help="Priced at least so many times float32."
)
@click.option("--max-quality-drop", type=Share(), help="Expected to lose no more of float32's quality: 0.5%.")
@click.option("--price-for", metavar="ROW", help="Priced on this device, not the study's (see halfwise devices).")
@click.option("--confirm", is_flag=True, help="Train what was only predicted, before it is written.")
@home_option
def export(
    subject: str,
    output: Path | None,
    form: str,
    workload: str | None,
    rule: str | None,
    min_speedup: float | None,
    max_quality_drop: float | None,
    price_for: str | None,
    confirm: bool,
    home: str | None,
) -> None:
    """Write one policy of a STUDY, or a POLICY, to a file.

    STUDY is a study's name, or STUDY:NUMBER for one of its trials; POLICY a level (O0 to O3, auto), a file, or a
    text in braces. With a speed-up, a drop or a device the study answers from what it has learnt: nothing is
    trained, unless you --confirm. What a form cannot express is said on standard error.
    """
    from ..search.choice import parse_rule
    from .home import Home
    from .named_policy import study_named
    from .prediction import Target

    asks = min_speedup is not None or max_quality_drop is not None or price_for is not None
    if asks and rule is not None:
        raise InputError("--rule names a trial: give it, or --min-speedup, --max-quality-drop and --price-for")
    if confirm and not asks:
        raise InputError("--confirm trains an answer: ask with --min-speedup, --max-quality-drop or --price-for")
    chosen_by = parse_rule(rule or "best")
    study = study_named(subject, Home.find(home))
    if (asks or rule is not None) and (study is None or study.trial is not None):
        raise InputError(
            f"{subject} is one policy: --rule, a speed-up, a drop and --price-for choose among a study's"
        )
    target = Target(min_speedup, max_quality_drop) if asks else None
    found = _chosen(subject, study, chosen_by, target, price_for, confirm)
    place = output or Path("policy.yaml")
    if form == "yaml":
        _save(found.policy, place)
    else:
        place = _in_form(form, subject, found.policy, study, workload, output)
    first, *rest = found.lines
    echo("\n".join([f"{place}: {first}", *rest]))


def _chosen(subject, study, chosen_by, target, price_for, confirm):
    """The policy, and what is to be said of it."""
    from ..search.choice import parse_rule
    from .exporting import Export, export_answer, export_confirmed, export_trial
    from .inspect_policy import read_policy
    from .terminal import make_console, make_display

    if study is None:
        return Export(read_policy(subject), [f"the policy {subject}"])
    if target is None:
        rule = chosen_by if study.trial is None else parse_rule(f"trial:{study.trial}")
        return export_trial(study.folder, rule)
    if confirm:
        return export_confirmed(study.folder, target, price_for, make_display(make_console(), quiet=False))
    return export_answer(study.folder, target, price_for)


def _save(policy, place: Path) -> None:
    from ..policies import save_policy

    save_policy(policy, place)


def _in_form(form: str, name: str, policy, study, workload: str | None, output: Path | None) -> Path:
    """Write another form than halfwise's own, and say what it cannot express; the file that was written."""
    from ..policies.whole_file import write_text
    from .exports import FILES

    exported = _exported(form, name, policy, study, workload)
    place = output or Path(FILES[form])
    write_text(place, exported.text)
    for line in exported.lost:
        echo(f"not expressed: {line}", err=True)
    return place


def _exported(form: str, name: str, policy, study, workload: str | None):
    """The policy in this form, for the network that is named, or else for the study's."""
    from .exports import FORMS, Subject, rewritten_source, subject_of
    from .kept_experiment import kept_experiment
    from .looked_at import kept_look
    from .workloads import resolve_for_pricing

    if workload is None and study is None:
        raise InputError(f"--as {form} goes through the layers of a network: name it with --workload")
    if form == "source" and workload is not None:
        return rewritten_source(policy, name, resolve_for_pricing(workload), Path.cwd())
    if form == "source":
        kept = kept_experiment(study.folder)
        return rewritten_source(policy, name, resolve_for_pricing(kept.experiment.workload), kept.search_path)
    if workload is not None:
        return FORMS[form](subject_of(policy, name, workload, Path.cwd()))
    return FORMS[form](Subject(policy, name, kept_look(study.folder).survey))
