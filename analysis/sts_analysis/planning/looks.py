"""Looks at a suite that is judged in rounds: when one is due, and what it decides."""

from collections import Counter

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.race_ratings import load_race_ratings
from sts.annotations.log.closings import find_closing
from sts.annotations.log.looks import check_goal, load_race
from sts.annotations.queue.leaving import record_look
from sts.annotations.races import Look, find_points
from sts.annotations.study import base_suite
from sts.annotations.vault import history
from sts.continuations import requests
from sts.continuations.continuation_store import use_index
from sts.continuations.label_table import AUTOMATIC
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites.selections import Selection
from sts_analysis.inputs.workspace import describe_subject
from sts_analysis.statistics.powered_rates import fit_labels
from sts_analysis.statistics.race import find_due_point, take_look
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.tabulation import RaceBounds, tabulate


def make_due_look(store: AnnotationStore, workspace: Workspace, suite: str) -> Look | None:
    """Look at a suite if that is due, record what is decided, and let agents leave.

    The look rests on the judgements of this moment before its point in rounds. It is recorded and
    takes effect in one transaction, or not at all. If another process has recorded a look
    meanwhile, nothing is.

    Returns:
      The look; None if none is due, the study is closed, its goal is that all is judged, or a look
      waits for a lead's confirmation.

    Raises:
      UnknownName: no such suite.
      ArgumentError: the study's goal has changed since the first look.
    """
    suite = base_suite(suite)
    look = _take_look(store, workspace, suite)
    if look is None:
        return None
    with store.write(exclusive=True) as connection:
        return look if record_look(connection, suite, look) else None


def _take_look(store: AnnotationStore, workspace: Workspace, suite: str) -> Look | None:
    study = store.study
    with store.read() as connection:
        history.set_snapshot_isolation(connection)
        race = load_race(connection, suite)
        check_goal(race, study, suite)
        if study.goal == "all" or race.pending or find_closing(connection, suite):
            return None
        data = load_race_ratings(connection, workspace, suite, study)
    racing = {agent: until for agent, until in data.until.items() if agent not in race.out}
    point = find_due_point(racing, find_points(race.looks), data.rounds)
    if point is None:
        return None
    chosen = selections.load_selection(workspace, suite)
    subject, missing = describe_subject(workspace, chosen), _count_missing(workspace, chosen)

    def model_at(bounds: RaceBounds) -> RateModel:
        groups = subject.drawn_together
        outcomes = tabulate(
            data.table, "human", scenarios=subject.scenarios, groups=groups, bounds=bounds
        )
        control = None
        if study.prediction_powered:
            labels = tabulate(data.table, AUTOMATIC, scenarios=subject.scenarios, groups=groups)
            control = fit_labels(outcomes, labels)
        return RateModel(outcomes, missing=outcomes.lay_out_counts(missing), control=control)

    look = take_look(model_at, race, racing.keys(), point, study.goal)
    confirm = study.confirm_rounds and bool(look.leaving)
    return look._replace(
        at=store.now(),
        seed=study.seed,
        needs_confirmation=confirm,
        prediction_powered=study.prediction_powered,
    )


def _count_missing(workspace: Workspace, chosen: Selection) -> Counter[tuple[str, str]]:
    """Count the continuations that `sts run` was asked for and that are not stored."""
    ids = {scenario.hash: scenario.id for scenario in chosen.scenarios}
    found = use_index(
        workspace, lambda index: requests.count_missing(workspace.store, index, ids.keys())
    )
    missing = Counter[tuple[str, str]]()
    for (agent, _), counts in found.items():
        missing.update({(agent, ids[scenario]): number for scenario, number in counts.items()})
    return missing
