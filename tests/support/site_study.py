"""A finished study over sites: its network is an op table made by hand, its losses are sums over sites."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from finished_study import ROW, add_repeats, priced, study_info
from price_tables import make_row, make_table
from surveys import make_survey

from halfwise.evaluators.json_file import write_json
from halfwise.evaluators.outcome import Outcome
from halfwise.evaluators.price.device_file import load_devices
from halfwise.evaluators.survey_result import Survey, SurveyedCell
from halfwise.experiments.home import StudyFolder
from halfwise.experiments.known_sites import KnownSites, keep_sites
from halfwise.experiments.op_table_file import save_op_tables
from halfwise.experiments.site_prices import SitePrices, site_prices
from halfwise.experiments.study_file import StudyFile
from halfwise.policies import BUILTIN, DynamicLossScaling, Policy, save_policy
from halfwise.search.advisors import SiteAdvisor
from halfwise.search.journal import open_journal
from halfwise.search.propose.prior import Prior
from halfwise.search.proposers import Knowledge, make_proposer
from halfwise.search.site_space import SiteGroup, SiteSpace
from halfwise.search.study import Search
from halfwise.search.told import Proposal

NOISE, QUALITY, ALLOWED = 0.001, 0.9, 0.01
SCALING = DynamicLossScaling()
RUINED = None


def chain_table(layers: Sequence[str]) -> pd.DataFrame:
    """One matrix product a layer, each larger than the one before, all on the same value."""
    return make_table(
        *(
            make_row(
                number,
                "MatMul",
                [((64, 64), "float32")] * 2,
                ((64, 64), "float32"),
                layer=layer,
                flops=(1 + number) * 10**11,
                producers=(number - 1,) if number else (),
                parameters=(f"{layer}.w",),
            )
            for number, layer in enumerate(layers)
        )
    )


def survey_of(layers: Sequence[str], workload: str = "w", metric: str = "accuracy") -> Survey:
    """A network of these layers."""
    cells = [SurveyedCell(path="", aliases=(), type_names=("Net",), ops=())]
    cells += [SurveyedCell(path=each, aliases=(), type_names=("nn.Dense",), ops=("MatMul",)) for each in layers]
    return make_survey(*cells, workload=workload, metric=metric, batch_size=64, trial_steps=20, full_steps=200)


def space_of(layers: Sequence[str]) -> SiteSpace:
    """Each layer float32 or float16."""
    groups = tuple(SiteGroup(each, (each,), None, ("MatMul",), ("float32", "float16")) for each in layers)
    return SiteSpace(groups, "float16", SCALING, "graph")


def prices_of(layers: Sequence[str], row: str = ROW) -> SitePrices:
    """What they cost on a row of the device table."""
    tables = {SCALING.label: chain_table(layers)}
    return site_prices(space_of(layers), survey_of(layers), tables, load_devices()[row])


class SiteStudy:
    """A study in a folder, searched by the ladder; a layer's loss of None ruins training, and is named."""

    def __init__(self, folder: StudyFolder, losses: Mapping[str, float | None], **survey: str) -> None:
        """Nothing is tried yet but float32."""
        folder.create()
        self.folder, self.losses, self.layers = folder, losses, tuple(losses)
        self.known = Knowledge(prices_of(self.layers).costs, NOISE, ALLOWED, Prior({}))
        self.space = space_of(self.layers)
        self.info = study_info(folder, name=folder.name, sampler="ladder")
        advisor = SiteAdvisor("ladder", make_proposer("ladder", self.known, 1), self.space, self.known, 1)
        storage = open_journal(folder.journal_file)
        self.search = Search.create(storage, "", advisor, "maximize", [("O0", BUILTIN["O0"])])
        keep_sites(KnownSites.of(advisor, survey_of(self.layers, **survey), ROW, QUALITY), folder)
        save_op_tables({SCALING.label: chain_table(self.layers)}, folder.float32_ops_file)
        write_json(StudyFile(info=self.info), folder.study_file)
        add_repeats(folder, QUALITY, QUALITY + NOISE, QUALITY - NOISE)

    def try_policies(self, trials: int) -> list[Proposal]:
        """The next proposals, told; fewer where nothing is left."""
        proposals = []
        while len(proposals) < trials and isinstance(proposal := self.search.ask(), Proposal):
            self._tell(proposal)
            proposals.append(proposal)
        return proposals

    def low(self, policy: Policy) -> set[str]:
        """The layers that a policy lowers."""
        return {layer for layer in self.layers if policy.layers.get(layer, policy.default) == "float16"}

    def _tell(self, proposal: Proposal) -> None:
        low = sorted(self.low(proposal.policy))
        ruinous = [layer for layer in low if self.losses[layer] is RUINED]
        lost = sum(self.losses[layer] or 0.0 for layer in low)
        speed = self.known.costs.speedup([int(layer in low) for layer in self.layers])
        self._write(proposal, bool(ruinous), QUALITY - lost, 100.0 * speed)
        if ruinous:
            self.search.tell_infeasible(proposal.number, "non-finite at step 0", ruinous)
        else:
            self.search.tell(proposal.number, QUALITY - lost, 100.0 * speed, lost)

    def _write(self, proposal: Proposal, ruined: bool, quality: float, speed: float) -> None:
        place = self.folder.trial_folder(proposal.number)
        place.mkdir(parents=True)
        outcome = Outcome(
            policy=str(proposal.policy),
            policy_name=proposal.name,
            digest=proposal.policy.digest,
            seed=1,
            device="CPU",
            mindspore_version="2.10.0",
            status="infeasible" if ruined else "trained",
            cause="non-finite at step 0" if ruined else None,
            metric="accuracy",
            direction="maximize",
            quality=None if ruined else quality,
            quality_by_steps={} if ruined else {20: quality},
            losses=tuple(1.0 / (step + 1) for step in range(20)),
            updates_applied=20,
            priced=priced(speed),
        )
        write_json(outcome, place / "outcome.json")
        save_policy(proposal.policy, place / "policy.yaml")


def site_study(home: Path, name: str, losses: Mapping[str, float | None], trials: int, **survey: str) -> SiteStudy:
    """A study of that name with float32 and so many trials more."""
    study = SiteStudy(StudyFolder(home / name), losses, **survey)
    study.try_policies(trials + 1)
    return study
