"""The functions about suites that `import sts` provides; the commands call the same ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sts.annotations.database.annotation_store import AnnotationStore
from sts.cli.arguments import show_progress, warn
from sts.errors import StsError
from sts.ratings import VERDICTS
from sts.storage.workspace import Workspace
from sts.suites import drafts, selections
from sts.suites import suite_store as suites
from sts.suites.drafts import Draft
from sts.suites.folders import list_versions
from sts.suites.selections import Selection, scenario_table
from sts.suites.suite import Summary
from sts_scenarios.draft import curation, freezing
from sts_scenarios.mining import Mined
from sts_scenarios.mining.choice import Stratum
from sts_scenarios.mining.request import MiningOutcome, MiningRequest, run_request
from sts_scenarios.mining.requests import describe_unfit
from sts_scenarios.rules import categories as registry
from sts_scenarios.rules.labels import label_suite
from sts_scenarios.rules.validity import is_checked

if TYPE_CHECKING:
    import pandas as pd


_MAX_UNFIT = 10  # requests that are listed


@dataclass(frozen=True)
class MinedDraft:
    """A draft that `mine` has written; a notebook shows it as the table of its new candidates."""

    name: str  # of the draft
    path: Path  # its folder
    outcome: MiningOutcome  # what was mined, and from how many recordings
    earlier: int  # how many candidates the draft had before

    def frame(self) -> pd.DataFrame:
        """Return one row per new candidate."""
        return scenario_table(self.outcome.mined.scenarios)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"<draft {self.name}: {len(self.outcome.mined.scenarios)} new candidates>"

    def _repr_html_(self) -> str:
        return str(self.frame().to_html(index=False))


def mine(
    name: str,
    *,
    categories: Sequence[str] = (),
    per_category: int = 10,
    seed: int = 0,
    partner: str | None = None,
    where: str | None = None,
    miner: str | None = None,
    split: str = "test",
    max_per_environment: int | None = None,
    stratify_by: Sequence[str] = Stratum._fields,
    from_sessions: str | None = None,
    from_failures: str | None = None,
    failure_share: float | None = None,
    discriminating_share: float | None = None,
    distinct_profiles: bool = False,
    agents: Sequence[str] = (),
    workers: int = 1,
    overwrite: bool = False,
    workspace: Workspace | str | Path | None = None,
) -> MinedDraft:
    """Mine scenarios from recorded trajectories into a draft.

    The choice depends on the recordings and the seed alone. A draft that exists gets more
    candidates.

    Args:
      name: of the draft.
      categories: names or `module:NAME`; () for all of the recorded environments.
      per_category: maximum number of scenarios.
      seed: of the choice.
      partner: what other players do: "no-op", "replay" or "agent:NAME"; None for the category's.
      where: a filter over the table of steps, such as "last_reward < 0 and step > 20".
      miner: `module:NAME` of a function that finds candidate steps, for one category.
      split: "test", or "train" for training episodes.
      max_per_environment: scenarios of one category in one environment; None for 1, and for all
        from sessions.
      stratify_by: what the choice balances: "difficulty", "source", "recorder".
      from_sessions: "requests" for what people asked in live sessions, or "failures" for what they
        asked agents and marked as a failure; no category is needed.
      from_failures: NAME@VERSION of a suite whose failed continuations are mined as well.
      failure_share: fraction of each category taken from these.
      discriminating_share: fraction (0 to 0.5) chosen because agents differ on it.
      distinct_profiles: leave out candidates with the response profile of another.
      agents: the agents that make response profiles; () for those that the categories name.
      workers: processes.
      overwrite: start the draft again.
      workspace: None for `STS_WORKSPACE`, else `sts-workspace`.

    Raises:
      StsError: an argument is out of range, nothing could be mined, or the draft is frozen.

    Examples:
      >>> import sts
      >>> recorded = sts.record("random", episodes=20, steps=30, domain="lambda-star")
      >>> draft = sts.mine("mysuite", categories=["last-move"], per_category=2)
      >>> draft.frame()["scenario"].tolist()
      ['last-move-01', 'last-move-02']
    """
    workspace = Workspace.open(workspace)
    request = MiningRequest(
        categories=tuple(categories),
        per_category=per_category,
        seed=seed,
        partner=partner,
        where=where,
        miner=miner,
        split=split,
        max_per_environment=max_per_environment,
        stratify_by=tuple(stratify_by),
        from_sessions=from_sessions,
        from_failures=from_failures,
        failure_share=failure_share,
        discriminating_share=discriminating_share,
        distinct_profiles=distinct_profiles,
        agents=tuple(agents),
        workers=workers,
    )
    draft = _find_draft(workspace, name, overwrite=overwrite)
    earlier: Sequence[Summary] = ()
    if draft is not None and not overwrite:
        ids = dict.fromkeys(draft.load_ids(), "")
        earlier = draft.scenarios(ids) if request.distinct_profiles else draft.summaries()
    last = drafts.find_last_numbers(workspace, name, (summary.id for summary in earlier))
    with show_progress("mining", "trajectories") as show:
        outcome = run_request(request, workspace, existing=earlier, last=last, progress=show)
    mined = outcome.mined
    unfit = describe_unfit(workspace) if request.from_sessions else []
    for line in unfit[:_MAX_UNFIT]:
        warn(line)
    if len(unfit) > _MAX_UNFIT:
        warn(f"{len(unfit) - _MAX_UNFIT} more requests cannot be used")
    for domain, (count, reason) in mined.unavailable.items():
        if not mined.scenarios:
            raise reason.with_prefix(f"{count} trajectories of {domain} cannot be mined")
        warn(f"{count} trajectories of {domain} are left out: {reason}")
    if not mined.scenarios:
        raise _why_nothing(outcome, request, workspace, name if earlier else "")
    for category in (category.name for category in outcome.categories):
        n_chosen = sum(scenario.category == category for scenario in mined.scenarios)
        if n_chosen < per_category and from_sessions is None:
            warn(f"{category} {_why_few(mined, category, per_category)}")
    by_scripts = sum("script" in s.provenance.get("setters", ()) for s in mined.scenarios)
    if by_scripts:
        warn(f"{by_scripts} of these are from sessions in which scripts asked, not people")
    if draft is None or overwrite:
        draft = drafts.create_draft(
            workspace, name, mined.scenarios, replaces=draft.id if draft else None
        )
    else:
        draft = drafts.add_candidates(draft, mined.scenarios)
    return MinedDraft(draft.name, workspace.path(draft.folder), outcome, len(earlier))


def _find_draft(workspace: Workspace, name: str, *, overwrite: bool) -> Draft | None:
    """Return the draft to add to or to overwrite, or None if there is none."""
    draft = drafts.find_draft(workspace, name)
    newest = max(list_versions(workspace).get(name, {}), default=0)
    if newest and (draft is None or overwrite or drafts.find_frozen_version(draft)):
        raise StsError(
            f"{name}@{newest} is frozen: start the next version with sts draft new --from "
            f"{name}@{newest}, and mine into that"
        )
    return draft


def _why_few(mined: Mined, category: str, per_category: int) -> str:
    """Return why a category has fewer scenarios than were asked for."""
    if category in mined.unfit:
        return f"leaves scenarios out: {mined.unfit[category]}"
    if mined.passed_over[category]:
        return f"has few to keep: {mined.passed_over[category]} were tried and passed over"
    return f"has fewer than {per_category} environments to offer"


def _why_nothing(
    outcome: MiningOutcome, request: MiningRequest, workspace: Workspace, added_to: str
) -> StsError:
    """Return the error for an empty result; `added_to` is a draft that has candidates, or ""."""
    mined = outcome.mined
    if mined.unfit:
        return StsError("; ".join(f"{name}: {why}" for name, why in mined.unfit.items()))
    passed_over = sum(mined.passed_over.values())
    if passed_over:
        return StsError(
            f"nothing to mine: {passed_over} candidates were tried and none of them are kept; "
            "expected other agents or categories"
        )
    if added_to:
        return StsError(
            f"nothing new to mine: draft {added_to} has a candidate of every environment that "
            "offers one; record more, name other categories, or raise --max-per-environment"
        )
    domains = ", ".join(sorted({category.domain for category in outcome.categories}))
    expected, failed = "some from sts record or sts trajectories import", ""
    if request.from_failures:
        failed = f" and {outcome.failed} failed continuations of {request.from_failures}"
        expected = "other categories, or failures of other agents"
    if request.split == "train":
        expected = "recordings that fulfil an instruction"
    if outcome.in_split and not outcome.categories:
        expected = "a category of your own, or steps of your choice in a draft from sts draft new"
    if request.where or request.miner:
        expected = "a filter or a miner that leaves some steps"
    return StsError(
        f"nothing to mine in {workspace.root}: {outcome.recorded} trajectories, "
        f"{outcome.in_split} in the {request.split} split{failed}, none of "
        f"{domains or 'a category here'} that fits; expected {expected}"
    )


def freeze(
    name: str,
    *,
    description: str = "",
    categories: Sequence[str] = (),
    accept_all_as: str | None = None,
    unreviewed: bool = False,
    workspace: Workspace | str | Path | None = None,
) -> Selection:
    """Freeze a draft as the next version of its suite.

    Args:
      name: of the draft; NAME@VERSION for exactly this version.
      description: one line.
      categories: `module:NAME` of your own categories whose checks are run.
      accept_all_as: a curator who accepts every undecided candidate without a look at it first;
        None if all are decided.
      unreviewed: freeze scenarios that neither a rule nor two other curators have checked.
      workspace: None for `STS_WORKSPACE`, else `sts-workspace`.

    Returns:
      The frozen suite.

    Raises:
      StsError: a candidate is undecided, a check fails, or the draft was frozen before.

    Examples:
      >>> import sts
      >>> recorded = sts.record("random", episodes=20, steps=30, domain="lambda-star")
      >>> draft = sts.mine("mysuite", categories=["last-move"], per_category=2)
      >>> suite = sts.freeze("mysuite", accept_all_as="ana")
      >>> suite.label, len(suite.scenarios)
      ('mysuite@1', 2)
    """
    workspace = Workspace.open(workspace)
    if accept_all_as is not None:
        draft, candidates = freezing.load_candidates(
            workspace, suites.parse_label(workspace, name)[0]
        )
        drafts.check_open(draft)
        undecided = [candidate for candidate in candidates if candidate.status == "undecided"]
        requests = [curation.Request(c, "accept", curation.UNSEEN) for c in undecided]
        with AnnotationStore.open(workspace) as store:
            curation.decide(store, draft, accept_all_as, requests)
    own_categories = [registry.load_category(category) for category in categories]
    suite = freezing.freeze_draft(
        workspace,
        name,
        description=description,
        own_categories=own_categories,
        unreviewed=unreviewed,
    )
    return selections.Selection(suite, suite.scenarios)


def label(
    suite: str | Selection,
    *,
    categories: Sequence[str] = (),
    workspace: Workspace | str | Path | None = None,
) -> pd.DataFrame:
    """Label every continuation of a suite by the programs of its categories.

    Automatic labels are not human verdicts, and reports name them as what they are.

    Args:
      suite: NAME@VERSION, a subset of it, or what `load_suite` returns.
      categories: `module:NAME` of your own categories.
      workspace: None for `STS_WORKSPACE`, else `sts-workspace`.

    Returns:
      One row per agent: `agent`, `continuations`, the number of each verdict, `unlabelled` and
      `pass_rate` (NaN if nothing is labelled). `attrs["file"]` is the table of labels and
      `attrs["without_rule"]` the ids of the scenarios that no rule checks.

    Raises:
      StsError: there are no continuations.

    Examples:
      >>> import sts
      >>> suite = sts.load_suite("core@2+category:ambush+difficulty:hard")
      >>> done = sts.run(suite, "random", continuations=2)
      >>> sts.label(suite)[["agent", "continuations", "success"]].values.tolist()
      [['random', 6, 0]]
    """
    workspace = Workspace.open(workspace)
    if isinstance(suite, str):
        suite = selections.load_selection(workspace, suite, suites.load)
    scenarios = suite.suite.scenarios
    own_categories = [registry.load_category(category) for category in categories]
    rules = registry.scenario_categories(scenarios, own_categories)
    unlabelled = [s.id for s in suite.scenarios if not is_checked(s, rules)]
    ids = {scenario.id for scenario in suite.scenarios} if suite.terms else None
    with show_progress(suite.suite.label, "continuations") as show:
        labelled = label_suite(
            workspace, suite.suite, own_categories, counted_ids=ids, progress=show
        )
    if not labelled.counts:
        raise StsError(
            f"no continuations of {suite.label} to label: expected some from "
            f"sts run {suite.label} --agent NAME"
        )
    import pandas as pd

    rows = []
    for agent, counts in labelled.counts.items():
        verdicts = {verdict: counts.get(verdict, 0) for verdict in VERDICTS[:3]}
        judged = sum(verdicts.values())
        rate = verdicts[VERDICTS[0]] / judged if judged else math.nan
        total = {"agent": agent, "continuations": sum(counts.values())}
        rows.append(total | verdicts | {"unlabelled": counts.get("", 0), "pass_rate": rate})
    table = pd.DataFrame(rows)
    table.attrs |= {"file": str(labelled.path), "without_rule": unlabelled}
    return table
