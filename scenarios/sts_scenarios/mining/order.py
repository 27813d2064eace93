"""What somebody asks to be mined, and how that is carried out: recordings first, then failures."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from sts import agents
from sts.agents.identity import code
from sts.domains import why_unavailable
from sts.errors import ArgumentError
from sts.jobs.pool import executor
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Scenario, Summary
from sts.trajectories import flat
from sts.trajectories.flat import Recorded
from sts.trajectories.types import Trajectory
from sts_scenarios import categories
from sts_scenarios.category import Category
from sts_scenarios.mining import (
    Mined,
    Terms,
    concluded,
    counted,
    effect,
    failures,
    filters,
    mine_held,
    miners,
    telling,
    training,
)
from sts_scenarios.mining.choice import Keep, Stratum
from sts_scenarios.mining.survey import Progress, surveyed

SHARE = 0.3
"""Of a category's scenarios, from failures, where nothing else is said."""


@dataclass(frozen=True)
class Order:
    """What is to be mined.

    Attributes:
      categories: by name or `module:NAME`; () for all of the worlds that there are
        that nothing better has superseded.
      per_category: how many, at most.
      seed: of the choice.
      partner: what the others do; None is as the category says.
      where: a filter over the table of steps, or None.
      miner: `module:NAME` of a function that says where the one category asks, or None.
      side: "test", or "train" for what a learner learns from.
      per_world: how many of one category and world, at most.
      strata: of a world, one moment of each of these is offered.
      failures: NAME@VERSION of a suite, of whose failed continuations some are mined, or None.
      share: of a category's scenarios, from these.
      effect: the share of a category's scenarios that are chosen by whom they tell apart, or None.
      unlike: no two of a category have the same response profile.
      agents: by whom profiles are made; () for those that the categories of a world name.
      workers: processes that look through the recordings; 1 is this one.
    """

    categories: tuple[str, ...] = ()
    per_category: int = 10
    seed: int = 0
    partner: str | None = None
    where: str | None = None
    miner: str | None = None
    side: str = "test"
    per_world: int = 1
    strata: tuple[str, ...] = Stratum._fields
    failures: str | None = None
    share: float | None = None
    effect: float | None = None
    unlike: bool = False
    agents: tuple[str, ...] = ()
    workers: int = 1

    def __post_init__(self) -> None:
        """Raise ArgumentError where something is out of range, or excludes something else."""
        told_apart = self.unlike or self.failures is not None
        by_effect = self.effect is not None
        for sound, expected in (
            (self.per_category >= 1, f"--per-category of 1 or more, found {self.per_category}"),
            (self.workers >= 1, f"--workers of 1 or more, found {self.workers}"),
            (self.per_world >= 1, f"--per-world of 1 or more, found {self.per_world}"),
            (self.share is None or self.failures, "--from-failures beside --share"),
            (
                self.effect is None or 0 < self.effect <= effect.MOST,
                f"--by-effect above 0 and at most {effect.MOST:g}, found {self.effect}",
            ),
            (told_apart or not self.agents, "--unlike or --from-failures beside --agent"),
            (
                self.side == "test" or not (told_apart or by_effect),
                "no --unlike, no --by-effect and no --from-failures beside --split train: suites "
                "are of the other",
            ),
            (
                self.miner is None or len(set(self.categories)) == 1,
                "one --category beside --miner, which says where it asks, found "
                f"{len(set(self.categories))}",
            ),
        ):
            if not sound:
                raise ArgumentError(f"expected {expected}")


class Carried(NamedTuple):
    """What came of an order.

    Attributes:
      mined: the candidates.
      categories: that were asked for.
      recorded: how many trajectories there are.
      on_side: how many of them are on the side that was mined.
      failed: how many continuations were mined beside them.
    """

    mined: Mined
    categories: list[Category]
    recorded: int
    on_side: int
    failed: int


def carried_out(
    order: Order,
    workspace: Workspace,
    *,
    there: Sequence[Summary],
    last: Mapping[str, int],
    progress: Progress = lambda done, total: None,
) -> Carried:
    """Return what is mined of a workspace, the same for the same recordings in any order.

    Args:
      order: what to mine.
      workspace: whose recordings, and continuations where failures are mined.
      there: candidates that there are already; whole, where no other is to be like them.
      last: the highest number of an id of each category.
      progress: called with (trajectories mined, in all).

    Raises:
      ArgumentError, UnknownName: something that is asked for is not there, or does not fit.
      StsError: a category or a miner failed, or there is no failure to mine.
      ReplayMismatch: a trajectory that was chosen from does not replay.
    """
    recorded = flat.recorded(workspace, order.side)
    suite = suites.load(workspace, order.failures) if order.failures else None
    share = SHARE if order.share is None else order.share
    count = failures.share_of(share, order.per_category) if suite else 0
    failed = failures.failed(workspace, suite) if suite else []
    domains = dict.fromkeys([*recorded.firsts, *(t.episode.domain for t in failed)])
    make = partial(asked, order, tuple(domains))
    chosen = make()
    rule = _rule(order, {category.domain for category in chosen}, recorded, failed)
    whole = [one for one in there if isinstance(one, Scenario)]
    keep = telling.unlike(order.agents, chosen, whole) if order.unlike else None
    telling_apart = None
    if order.effect is not None:
        telling_apart = effect.ByEffect(order.effect, order.per_category - count, keep)
    first: Keep | None = telling_apart or keep
    terms = Terms(
        counts=counted(chosen, order.per_category - count),
        seed=order.seed,
        last=last,
        there=there,
        per_world=order.per_world,
        strata=order.strata,
        side=order.side,
        keep=first,
        rule=rule,
    )
    with executor(order.workers, len(recorded.parts)) as here:
        mined = concluded(surveyed(recorded.parts, make, terms, here, progress), chosen, terms)
    if telling_apart is not None:
        mined = mined._replace(scenarios=tuple(map(telling_apart.marked, mined.scenarios)))
    if suite:
        chance = failures.chances(chosen, [*suite.scenarios, *mined.scenarios])
        passing = failures.passable(chance, order.agents)
        further = replace(
            terms,
            counts=counted(chosen, count),
            last=_highest(last, mined.scenarios),
            there=[*there, *mined.scenarios],
            keep=lambda category, pick: (
                passing(category, pick) and (keep is None or keep(category, pick))
            ),
            rule=rule | failures.rule(suite, share, chance),
        )
        again = [failures.after_takeover(category) for category in chosen]
        mined = mined.and_of(mine_held(failed, again, further))
    on_side = sum(part.rows - len(part.twice) for part in recorded.parts)
    return Carried(mined, chosen, recorded.rows, on_side, len(failed))


def _highest(last: Mapping[str, int], scenarios: Iterable[Scenario]) -> dict[str, int]:
    """Return the highest number of an id of each category, those of `scenarios` counted."""
    out = dict(last)
    for one in scenarios:
        out[one.category] = max(out.get(one.category, 0), int(one.id.rpartition("-")[2]))
    return out


def asked(order: Order, domains: tuple[str, ...]) -> list[Category]:
    """Return the categories of an order, each asking only where it is to.

    `domains` are those of the trajectories that there are.
    """
    chosen = [categories.named(name) for name in dict.fromkeys(order.categories)]
    if not order.categories:
        installed = categories.installed(domains).values()
        chosen = [category for category in installed if not category.superseded]
    if order.partner is not None:
        _check_partner(order.partner, {category.domain for category in chosen})
        chosen = [replace(category, partner=order.partner) for category in chosen]
    if order.miner is not None:
        miner = miners.named(order.miner)
        chosen = [miners.asking(category, order.miner, miner) for category in chosen]
    if order.where is not None:
        where = filters.Filter(order.where)
        chosen = [where.within(category) for category in chosen]
    if order.side == "train":
        chosen = [training.obeyed(category) for category in chosen]
    return chosen


def _rule(
    order: Order, domains: Iterable[str], recorded: Recorded, failed: Iterable[Trajectory]
) -> dict[str, Any]:
    """Return what provenance says of how an order chooses."""
    rule: dict[str, Any] = {}
    if order.miner is not None:
        rule |= {"miner": order.miner, "code": code(order.miner).mark}
    if order.where is not None:
        where, versions = filters.Filter(order.where), dict[str, int]()
        for name in sorted(domains):
            own = itertools.chain(
                (
                    t
                    for at in recorded.firsts.get(name, ())
                    for t in flat.trajectories(at[0], [at[1]])
                ),
                (t for t in failed if t.episode.domain == name),
            )
            first = next((t for t in own if why_unavailable(t.episode) is None), None)
            if first is not None:
                versions |= where.check(first)
        rule |= {"where": where.text, "columns": versions}
    if order.unlike or order.failures:
        playing = telling.check(domains, order.agents)
        rule |= {"unlike": playing} if order.unlike else {}
    if order.effect is not None:
        effect.check(domains)
    return rule


def _check_partner(partner: str, domains: Iterable[str]) -> None:
    """Refuses what can play nobody in the worlds of these domains."""
    kind, _, name = partner.partition(":")
    if kind == "agent" and name:
        own = agents.load(name).domain
        if own and own not in domains:
            raise ArgumentError(
                f"--partner {partner} plays the worlds of {own}, and the scenarios are of "
                f"{', '.join(sorted(domains))}"
            )
    elif partner not in ("no-op", "replay"):
        raise ArgumentError(f"expected --partner no-op, replay or agent:NAME, found {partner!r}")
