"""Who advises a search: one of Optuna's samplers, or a searcher over sites with all that is known beforehand."""

import math
from dataclasses import dataclass

from ..evaluators.evaluator import Evaluator
from ..evaluators.json_file import read_json, write_json
from ..evaluators.price.device_file import load_devices
from ..evaluators.price.devices import Device
from ..evaluators.sensitivity.measure import measure_sensitivity
from ..evaluators.sensitivity.result import GroupPaths, Sensitivity, SensitivityRequest
from ..policies import LOW_PRECISIONS
from ..policies.errors import HalfwiseError, InputError
from ..search.advisors import Advisor, SamplerAdvisor, SiteAdvisor
from ..search.propose.prior import Prior
from ..search.proposers import Knowledge, make_proposer
from ..search.samplers import SAMPLERS
from ..search.site_space import SiteSpace
from .experiment_file import Experiment
from .float32_repeats import Float32Repeats, float32_repeats
from .home import StudyFolder
from .inspect_policy import float32_table
from .kept_experiment import keep_experiment
from .known_sites import KnownSites, keep_sites
from .loss_scalings import scaling_chances
from .op_table_file import save_op_tables
from .progress import Display
from .site_prices import site_prices
from .sites_of import sites_of
from .space_of import layer_groups, low_precisions_of, space_of
from .speed import DEFAULT_ROW
from .warm_start import Newcomer, earlier_study, warm_started, was_started

# Where no noise was measured, or less: half a percent of float32's quality.
LEAST_TOLERANCE = 0.005
# Beyond this a baseline is worth a warning.
NOISY = 0.05


@dataclass(frozen=True)
class Situation:
    """What an advisor is made for: the experiment, how its trials run, and the device that its policies are for.

    `row` is the device that policies are priced on, None where speed is measured. `folder` keeps what was found
    out before the first trial, for when the study goes on.
    """

    experiment: Experiment
    evaluator: Evaluator
    row: Device | None
    folder: StudyFolder

    @property
    def needs_sites(self) -> bool:
        """Whether the experiment's sampler is a searcher over sites."""
        return self.experiment.sampler not in SAMPLERS

    @property
    def site_row(self) -> Device:
        """The device that sites are priced on: the default one where speed is measured."""
        return self.row or load_devices()[DEFAULT_ROW]


def float32_of(here: Situation, display: Display) -> Float32Repeats | None:
    """Float32 with several seeds, for searchers over sites: what they learn from is a difference to it.

    Raises:
        InputError: the experiment starts from a study that it cannot start from.
        HalfwiseError: float32 does not train.
    """
    if not here.needs_sites:
        return None
    _refuse_cold_start(here)
    display.note("training float32 with three seeds: its spread is the noise that differences must exceed")
    experiment = here.experiment
    found = float32_repeats(here.evaluator, experiment.loss_scaling, experiment.mode, here.folder.float32_file)
    display.note(f"float32 differs by {found.relative_noise:.2%} from seed to seed (standard deviation)")
    if found.relative_noise > NOISY:
        display.note(
            "that is much: only larger losses can be told from noise; train longer (`steps`) to see smaller ones"
        )
    return found


def tolerance_of(experiment: Experiment, repeats: Float32Repeats | None) -> float:
    """The accepted loss of quality, relative to float32's: the experiment's own, or as much as noise makes.

    Raises:
        InputError: the experiment asks for less than noise makes; the message has the number that would work.
    """
    noise = 0.0 if repeats is None else repeats.relative_noise
    if experiment.tolerance is None:
        return max(LEAST_TOLERANCE, noise)
    if experiment.tolerance < noise:
        least = math.ceil(noise * 1e4) / 1e4
        raise InputError(
            f"tolerance {experiment.tolerance:g} is below the noise: float32 itself differs by {noise:.2%} from "
            f"seed to seed; give at least {least:g}, train longer (`steps`), or leave `tolerance` out"
        )
    return experiment.tolerance


def make_advisor(here: Situation, repeats: Float32Repeats | None, display: Display) -> Advisor:
    """The advisor that the experiment's sampler names."""
    if repeats is None:
        return sampler_advisor(here, display)
    return site_advisor(here, repeats, tolerance_of(here.experiment, repeats), display)


def sampler_advisor(here: Situation, display: Display) -> SamplerAdvisor:
    """One of Optuna's samplers over layers and op lists."""
    survey, device = here.evaluator.survey, here.evaluator.device
    space = space_of(here.experiment, survey, device)
    display.note(f"{survey.workload} on {device.target}: {space.describe()}")
    return SamplerAdvisor(here.experiment.sampler, space, here.experiment.seed)


def site_advisor(here: Situation, repeats: Float32Repeats, tolerance: float, display: Display) -> SiteAdvisor:
    """A searcher over sites: their costs by price, their chances of harm from a float32 run.

    Where speed is measured, the sites are priced for the default row all the same: a price orders what to try.

    Raises:
        InputError: graph mode cannot compile the network, or the searcher refuses the space.
    """
    experiment, evaluator = here.experiment, here.evaluator
    space = site_space(here)
    display.note(f"{evaluator.survey.workload} on {evaluator.device.target}: {space.describe()}")
    tables = {
        scaling.label: float32_table(evaluator.workload, evaluator.search_path, scaling)
        for scaling in (space.loss_scaling, *space.other_loss_scalings)
    }
    if not here.folder.float32_ops_file.exists():
        save_op_tables(tables, here.folder.float32_ops_file)
    known = Knowledge(
        costs=site_prices(space, evaluator.survey, tables, here.site_row).costs,
        noise=repeats.noise,
        max_quality_lost=tolerance * abs(repeats.qualities[experiment.seed]),
        prior=_prior(here, space, display),
    )
    if experiment.warm_start is not None:
        known = warm_started(known, experiment.warm_start, here.folder, _newcomer(here, space), display)
    proposer = make_proposer(experiment.sampler, known, experiment.seed)
    return SiteAdvisor(experiment.sampler, proposer, space, known, experiment.seed)


def _refuse_cold_start(here: Situation) -> None:
    """See that the earlier study can be started from, before anything is trained."""
    study = here.experiment.warm_start
    if study is not None and not was_started(study, here.folder):
        earlier_study(study, here.folder, _newcomer(here, site_space(here)))


def _newcomer(here: Situation, space: SiteSpace) -> Newcomer:
    survey = here.evaluator.survey
    return Newcomer(space, survey.workload, survey.metric)


def keep_knowledge(here: Situation, advisor: Advisor, repeats: Float32Repeats | None) -> None:
    """Keep in the study's folder what answers without new trials are made of, once the study has begun."""
    keep_experiment(here.experiment, here.evaluator.search_path, here.folder)
    if isinstance(advisor, SiteAdvisor) and repeats is not None:
        quality = repeats.qualities[here.experiment.seed]
        keep_sites(KnownSites.of(advisor, here.evaluator.survey, here.site_row.name, quality), here.folder)


def site_space(here: Situation) -> SiteSpace:
    """The sites of the workload's network.

    Raises:
        InputError: graph mode cannot compile the network.
    """
    experiment, survey = here.experiment, here.evaluator.survey
    if survey.partial is not None:
        raise InputError(
            f"sampler {experiment.sampler} needs the graph of {survey.workload}, which graph mode cannot compile "
            f"({survey.partial}): take one of {', '.join(SAMPLERS)}"
        )
    low = low_precisions_of(experiment, here.evaluator.device)
    return SiteSpace(
        groups=sites_of(survey.cells, layer_groups(survey, experiment.tie), low),
        low_precision=experiment.low_precision,
        loss_scaling=experiment.loss_scaling,
        mode=experiment.mode,
        other_loss_scalings=experiment.other_loss_scalings,
    )


def _prior(here: Situation, space: SiteSpace, display: Display) -> Prior:
    """Each site's chance of harm, as rules see it in one float32 run; flat where that could not be measured."""
    found = _sensitivity(here, space, display)
    return Prior({} if found is None else {**found.chances(LOW_PRECISIONS), **scaling_chances(space, found)})


def _sensitivity(here: Situation, space: SiteSpace, display: Display) -> Sensitivity | None:
    """What one float32 run tells of the sites; kept in the study's folder. None where it could not be measured."""
    file = here.folder.sensitivity_file
    if file.exists():
        return read_json(Sensitivity, file)
    display.note("looking at the values of one float32 run, and at each layer alone in low precision")
    try:
        found = measure_sensitivity(_request(here, space), here.evaluator.limits)
        here.evaluator.spending.add(found.steps_run)
    except HalfwiseError as error:
        display.note(f"no sensitivities, the search starts without: {error}")
        return None
    write_json(found, file)
    return found


def _request(here: Situation, space: SiteSpace) -> SensitivityRequest:
    evaluator = here.evaluator
    return SensitivityRequest(
        workload=evaluator.workload,
        search_path=evaluator.search_path,
        target=evaluator.device.target,
        device_id=evaluator.device.device_id,
        folder=here.folder.path / "sensitivity",
        environment=evaluator.device.environment(evaluator.survey.convolves),
        seed=evaluator.seed,
        steps=evaluator.steps,
        groups=tuple(GroupPaths(name=site.name, paths=site.paths, op=site.op) for site in space.groups),
        precisions=evaluator.device.low_precisions,
        loss_scaling=here.experiment.loss_scaling,
    )
