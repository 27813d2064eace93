"""Mining orders: what `sts mine` is asked for, and its execution on recordings and failures."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from sts import agents
from sts.agents.identity import fingerprint_code
from sts.domains import why_unavailable
from sts.errors import ArgumentError
from sts.jobs.pool import create_pool
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Scenario, Summary
from sts.trajectories import batches
from sts.trajectories.batches import Part, RecordedParts
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.mining import (
    Mined,
    MiningTerms,
    discrimination,
    failures,
    filters,
    gather_candidates,
    make_mined,
    miners,
    response_profiles,
    training,
)
from sts_scenarios.mining.choice import PickFilter, Stratum
from sts_scenarios.mining.requests import build_request_categories
from sts_scenarios.mining.survey import Progress
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category

MAX_PER_SESSION = 1000
"""Maximum number of scenarios of one kind from a live session."""
DEFAULT_SHARE = 0.3
"""Default share of a category's scenarios from failures."""


@dataclass(frozen=True)
class MiningRequest:
    """The options of `sts mine`."""

    categories: tuple[str, ...] = ()  # () for all of the recorded worlds, if not superseded
    per_category: int = 10  # maximum number of scenarios of each
    seed: int = 0
    partner: str | None = None  # None for the category's own
    where: str | None = None  # a filter on the table of steps
    miner: str | None = None  # `module:NAME` of a function that yields the candidates
    split: str = "test"  # "test", or "train" for training episodes
    # scenarios of one category and world; None for 1, or for all of sessions
    max_per_environment: int | None = None
    stratify_by: tuple[str, ...] = Stratum._fields  # a world offers one step for each combination
    from_sessions: str | None = None  # requests of live sessions, one of `requests.SOURCES`
    from_failures: str | None = None  # suite whose failed continuations are mined, too
    failure_share: float | None = None  # of a category's scenarios, those from failures
    # of a category's scenarios, those on which agents have to differ
    discriminating_share: float | None = None
    distinct_profiles: bool = False  # no two scenarios of a category have the same response profile
    agents: tuple[str, ...] = ()  # for response profiles; () for those that the categories list
    workers: int = 1  # processes that scan the recordings; 1 is this one

    def __post_init__(self) -> None:
        """Raise ArgumentError if a value is out of range or two options exclude each other."""
        uses_profiles = self.distinct_profiles or self.from_failures is not None
        by_effect = self.discriminating_share is not None
        for is_valid, expected in (
            (self.per_category >= 1, f"--per-category of 1 or more, found {self.per_category}"),
            (self.workers >= 1, f"--workers of 1 or more, found {self.workers}"),
            (
                self.max_per_environment is None or self.max_per_environment >= 1,
                f"--max-per-environment of 1 or more, found {self.max_per_environment}",
            ),
            (
                self.failure_share is None or self.from_failures,
                "--from-failures with --failure-share",
            ),
            (
                self.from_sessions is None or not (self.categories or self.miner or uses_profiles),
                "--from-sessions without --category, --miner, --from-failures and "
                "--distinct-profiles, which need a category's rule",
            ),
            (
                self.from_sessions is None
                or (self.discriminating_share is None and self.split == "test"),
                "--from-sessions without --discriminating-share and --split train, which need a "
                "category's rule",
            ),
            (
                self.discriminating_share is None
                or 0 < self.discriminating_share <= discrimination.MAX_SHARE,
                f"--discriminating-share above 0 and at most {discrimination.MAX_SHARE:g}, found "
                f"{self.discriminating_share}",
            ),
            (
                uses_profiles or not self.agents,
                "--distinct-profiles or --from-failures with --agent",
            ),
            (
                self.split == "test" or not (uses_profiles or by_effect),
                "no --distinct-profiles, --discriminating-share or --from-failures with --split "
                "train, as suites are of the test split",
            ),
            (
                self.miner is None or len(set(self.categories)) == 1,
                "one --category with --miner, which yields its candidates, found "
                f"{len(set(self.categories))}",
            ),
        ):
            if not is_valid:
                raise ArgumentError(f"expected {expected}")


class MiningOutcome(NamedTuple):
    """The result of a request."""

    mined: Mined
    categories: list[Category]
    recorded: int  # number of trajectories
    in_split: int  # number of those in the mined split
    failed: int  # number of failed continuations that were mined as well


def run_request(
    request: MiningRequest,
    workspace: Workspace,
    *,
    existing: Sequence[Summary],
    last: Mapping[str, int],
    progress: Progress = lambda done, total: None,
) -> MiningOutcome:
    """Mine a workspace; the result does not depend on the order of its recordings.

    Of the draft's `existing` candidates, those with a recording count for
    `MiningRequest.distinct_profiles`. `last` has the highest number in an id of each category.

    Raises:
      ArgumentError, UnknownName: an option names something that is missing or does not fit.
      StsError: a category or a miner failed, or there is no failure to mine.
      ReplayMismatch: a selected trajectory does not replay.
    """
    recorded = batches.list_parts(workspace, request.split)
    suite = suites.load(workspace, request.from_failures) if request.from_failures else None
    share = DEFAULT_SHARE if request.failure_share is None else request.failure_share
    count = failures.count_from_failures(share, request.per_category) if suite else 0
    failed = failures.load_failures(workspace, suite) if suite else []
    failed_parts = failures.split_into_parts(failed)
    domains = dict.fromkeys([*recorded.first_rows, *(t.episode.domain for t in failed)])
    make_categories = partial(load_categories, request, tuple(domains))
    category_list = make_categories()
    names = [category.name for category in category_list]
    rule = _selection_provenance(
        request, {category.domain for category in category_list}, recorded, failed
    )
    with_recording = [s for s in existing if isinstance(s, Scenario)]
    is_distinct: PickFilter | None = None
    if request.distinct_profiles:
        is_distinct = response_profiles.make_distinct_filter(
            request.agents, category_list, with_recording
        )
    by_effect = None
    if request.discriminating_share is not None:
        by_effect = discrimination.ByEffect(
            request.discriminating_share, request.per_category - count, is_distinct
        )
    terms = MiningTerms(
        counts=dict.fromkeys(names, request.per_category - count),
        seed=request.seed,
        last=last,
        existing=existing,
        per_world=request.max_per_environment or (MAX_PER_SESSION if request.from_sessions else 1),
        strata=request.stratify_by,
        split=request.split,
        pick_filter=by_effect or is_distinct,
        rule=rule,
    )
    total = sum(part.rows for part in recorded.parts) + len(failed)
    with create_pool(request.workers, len(recorded.parts) + len(failed_parts)) as pool:

        def mine_parts(parts: Sequence[Part], terms: MiningTerms, scanned: int = 0) -> Mined:
            gathered = gather_candidates(
                parts, make_categories, terms, pool, lambda done, _: progress(scanned + done, total)
            )
            return make_mined(gathered, category_list, terms)

        mined = mine_parts(recorded.parts, terms)
        if by_effect is not None:
            mined = mined._replace(scenarios=tuple(map(by_effect.add_provenance, mined.scenarios)))
        if suite:
            chance = failures.compute_open_loop_rates(
                make_categories, [*suite.scenarios, *mined.scenarios], pool
            )
            passing = failures.make_passable_filter(chance, request.agents)
            further = replace(
                terms,
                counts=dict.fromkeys(names, count),
                last=_last_numbers(last, mined.scenarios),
                existing=[*existing, *mined.scenarios],
                pick_filter=lambda category, pick: (
                    passing(category, pick) and (is_distinct is None or is_distinct(category, pick))
                ),
                rule=rule | failures.failure_provenance(suite, share, chance),
                from_failures=True,
            )
            mined = mined.merge(mine_parts(failed_parts, further, total - len(failed)))
    in_split = sum(part.rows - len(part.duplicates) for part in recorded.parts)
    return MiningOutcome(mined, category_list, recorded.rows, in_split, len(failed))


def _last_numbers(last: Mapping[str, int], scenarios: Iterable[Scenario]) -> dict[str, int]:
    """Return the highest number in an id of each category, including `scenarios`."""
    highest = dict(last)
    for scenario in scenarios:
        highest[scenario.category] = max(
            highest.get(scenario.category, 0), int(scenario.id.rpartition("-")[2])
        )
    return highest


def load_categories(request: MiningRequest, domains: tuple[str, ...]) -> list[Category]:
    """Return the categories of a request, each restricted to the candidates it allows.

    `domains` are those of the recorded trajectories.
    """
    category_list = [categories.load_category(name) for name in dict.fromkeys(request.categories)]
    if request.from_sessions is not None:
        category_list = build_request_categories(domains, request.from_sessions)
    elif not request.categories:
        installed = categories.installed_categories(domains).values()
        category_list = [category for category in installed if not category.superseded]
    if request.partner is not None:
        _check_partner(request.partner, {category.domain for category in category_list})
        category_list = [replace(category, partner=request.partner) for category in category_list]
    if request.miner is not None:
        miner = miners.load_miner(request.miner)
        category_list = [
            miners.use_miner(category, request.miner, miner) for category in category_list
        ]
    if request.where is not None:
        category_list = [filters.restrict_to_filter(c, request.where) for c in category_list]
    if request.split == "train":
        category_list = [training.restrict_to_done(category) for category in category_list]
    return category_list


def _selection_provenance(
    request: MiningRequest,
    domains: Iterable[str],
    recorded: RecordedParts,
    failed: Iterable[Trajectory],
) -> dict[str, Any]:
    """Return the provenance of a request's selection."""
    rule: dict[str, Any] = {"sessions": request.from_sessions} if request.from_sessions else {}
    if request.miner is not None:
        rule |= {"miner": request.miner, "code": fingerprint_code(request.miner).digest}
    if request.where is not None:
        versions: dict[str, int] = {}
        for name in sorted(domains):
            firsts = (
                batches.read_rows(part, [row]) for part, row in recorded.first_rows.get(name, ())
            )
            from_failures = (t for t in failed if t.episode.domain == name)
            samples = itertools.chain(itertools.chain.from_iterable(firsts), from_failures)
            first = next((t for t in samples if why_unavailable(t.episode) is None), None)
            if first is not None:
                versions |= filters.check_filter(request.where, first)
        rule |= {"where": request.where, "columns": versions}
    if request.distinct_profiles or request.from_failures:
        playing = response_profiles.list_profiled_agents(domains, request.agents)
        rule |= {"unlike": playing} if request.distinct_profiles else {}
    if request.discriminating_share is not None:
        discrimination.check_domains(domains)
    return rule


def _check_partner(partner: str, domains: Iterable[str]) -> None:
    """Raise ArgumentError if a partner cannot play in the worlds of these domains."""
    kind, _, name = partner.partition(":")
    if kind == "agent" and name:
        domain = agents.load(name).domain
        if domain and domain not in domains:
            raise ArgumentError(
                f"--partner {partner} plays only worlds of {domain}, and the scenarios are of "
                f"{', '.join(sorted(domains))}"
            )
    elif partner not in ("no-op", "replay"):
        raise ArgumentError(f"expected --partner no-op, replay or agent:NAME, found {partner!r}")
