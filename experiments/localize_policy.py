"""A policy with some sites returned to float32, and nothing else changed."""

from collections.abc import Iterable, Mapping, Sequence

from ..evaluators.survey_result import Survey
from ..policies import Assignment, NetworkOutline, Policy, Precision, RulePrecision, resolve
from ..policies.errors import InputError
from ..policies.layer_types import LAYER_TYPES
from ..policies.ops import family, variants
from ..policies.regions import asked_ops
from ..search.site_space import SiteGroup

_Asked = dict[str, dict[str, Precision | None]]
"""By layer path: what is asked of each op that the layer computes, None where it follows its inputs."""


def returned_to_float32(policy: Policy, sites: Sequence[SiteGroup], survey: Survey) -> Policy:
    """The policy with rules for these sites; what its other rules ask of the network's ops stays as it is.

    A rule for an op holds further down too, so a layer below whose op would change gets a rule that says what it
    had. Repeated blocks are named by one rule, as the site is, where that asks the same.

    Raises:
        InputError: the policy does not fit the network.
    """
    return _Returning(policy, survey).made(sites)


class _Returning:
    def __init__(self, policy: Policy, survey: Survey) -> None:
        self._policy = policy
        self._outline: NetworkOutline = survey.outline
        self._cells = {cell.path: cell for cell in survey.cells}
        self._ops = {cell.path: [name for op in cell.ops for name in variants(op)] for cell in survey.cells}

    def made(self, sites: Sequence[SiteGroup]) -> Policy:
        wanted = self._asked(self._policy)
        for site in sites:
            for path in site.paths:
                wanted[path].update((name, "float32") for op in _ops(site) for name in variants(op))
        exact = self._with(self._policy, self._rules(sites))
        return self._shortened(self._protected(exact, wanted), sites)

    def _asked(self, policy: Policy) -> _Asked:
        found = {a.path: asked_ops(a, policy).precisions for a in resolve(policy, self._outline)}
        return {path: {op: found[path].get(op) for op in ops} for path, ops in self._ops.items()}

    def _rules(self, sites: Iterable[SiteGroup]) -> dict[str, RulePrecision]:
        """Exact ones: the whole layer for MindSpore's own and where no op is known, else op by op."""
        rules: dict[str, RulePrecision] = {}
        for site in sites:
            for path in site.paths:
                own = self._cells[path].type_names[0] in LAYER_TYPES
                whole = site.op is None and (own or not site.ops)
                rules.update(
                    dict.fromkeys((_pattern(path, op) for op in ([None] if whole else _ops(site))), "float32")
                )
        return rules

    def _with(self, policy: Policy, rules: Mapping[str, RulePrecision]) -> Policy:
        """The policy with more exact rules, for all names of a layer: those that it has by one must not differ."""
        spread: dict[str, RulePrecision] = {}
        for pattern, precision in rules.items():
            path, _, op = pattern.partition("::")
            cell = self._cells["" if path == "." else path]
            spread.update((_pattern(name, op or None), precision) for name in (cell.path, *cell.aliases))
        return policy.replace(layers={**policy.layers, **spread})

    def _protected(self, made: Policy, wanted: _Asked) -> Policy:
        """With rules for layers that a new rule reaches and should not, and for ops that older rules keep low."""
        original = {assignment.path: assignment for assignment in resolve(self._policy, self._outline)}
        # The network first: a rule for a layer may settle those below it.
        for path, ops in wanted.items():
            found = self._asked(made)[path]
            if found != ops:
                made = self._with(made, _restored(original[path], ops, found))
        return made

    def _shortened(self, made: Policy, sites: Sequence[SiteGroup]) -> Policy:
        """The same with one rule for each site of repeated blocks, as far as that asks the same."""
        asked = self._asked(made)
        for site in sites:
            name, _, op = site.name.partition("::")
            exact = {_pattern(path, op or None) for path in site.paths}
            if "*" not in name or not exact <= set(made.layers):
                continue
            kept = {pattern: precision for pattern, precision in made.layers.items() if pattern not in exact}
            short = made.replace(layers={**kept, site.name: "float32"})
            if self._asks(short, asked):
                made = short
        return made

    def _asks(self, policy: Policy, asked: _Asked) -> bool:
        try:
            return self._asked(policy) == asked
        except InputError:
            return False


def _ops(site: SiteGroup) -> tuple[str, ...]:
    return site.ops if site.op is None else (site.op,)


def _pattern(path: str, op: str | None) -> str:
    return f"{path}::{op}" if op else path or "."


def _restored(
    original: Assignment, wanted: Mapping[str, Precision | None], found: Mapping[str, Precision | None]
) -> dict[str, RulePrecision]:
    """Rules of its own that give a layer what is wanted."""
    rules: dict[str, RulePrecision] = {}
    if any(precision is None and found[op] is not None for op, precision in wanted.items()):
        # Ops that follow their inputs cannot be named: what the layer had stands between it and the rule above.
        rules[_pattern(original.path, None)] = original.precision
        rules |= {_pattern(original.path, op): precision for op, precision in original.op_precisions.items()}
    changed = [op for op, precision in wanted.items() if precision is not None and precision != found[op]]
    for op in changed:
        precision = wanted[op]
        # A rule for an op holds for its other names too.
        covered = family(op) != op and family(op) in changed and wanted[family(op)] == precision
        if precision is not None and not covered:
            rules[_pattern(original.path, op)] = precision
    return rules
