"""What somebody asks to be mined, and how that is carried out: recordings first, then failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from scenarios import categories
from scenarios.category import Category
from scenarios.mining import Mined, effect, failures, filters, mine, miners, telling, training
from scenarios.mining.choice import Keep, Pick, Stratum
from sts import agents
from sts.agents.identity import code
from sts.domains import why_unavailable
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.scenarios import Summary
from sts.suites.types import Scenario
from sts.trajectories import store as trajectories
from sts.trajectories.types import Trajectory

SHARE = 0.3
"""Of a category's scenarios, from failures, where nothing else is said."""
Progress = Callable[[int, int], None]


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

    def __post_init__(self) -> None:
        """Raises ArgumentError where something is out of range, or excludes something else."""
        told_apart = self.unlike or self.failures is not None
        by_effect = self.effect is not None
        for sound, expected in (
            (self.per_category >= 1, f"--per-category of 1 or more, found {self.per_category}"),
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
    there: Sequence[Summary | Scenario],
    last: Mapping[str, int],
    progress: Progress = lambda done, total: None,
) -> Carried:
    """Returns what is mined of a workspace, the same for the same recordings in any order.

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
    recorded = trajectories.load(workspace)
    suite = suites.load(workspace, order.failures) if order.failures else None
    share = SHARE if order.share is None else order.share
    count = failures.share_of(share, order.per_category) if suite else 0
    failed = failures.failed(workspace, suite) if suite else []
    chosen, rule = _asked(order, [*recorded, *failed])
    whole = [one for one in there if isinstance(one, Scenario)]
    keep: Keep = telling.unlike(order.agents, chosen, whole) if order.unlike else _any
    telling_apart = None
    if order.effect is not None:
        telling_apart = effect.ByEffect(order.effect, order.per_category - count, keep)
    mining = partial(
        mine, seed=order.seed, per_world=order.per_world, strata=order.strata, side=order.side
    )
    mined = mining(
        _watched(recorded, progress),
        chosen,
        per_category=order.per_category - count,
        last=last,
        there=there,
        keep=telling_apart or keep,
        rule=rule,
    )
    if telling_apart is not None:
        mined = mined._replace(scenarios=tuple(map(telling_apart.marked, mined.scenarios)))
    if suite:
        chance = failures.chances(chosen, [*suite.scenarios, *mined.scenarios])
        passing = failures.passable(chance, order.agents)
        more = mining(
            failed,
            [failures.after_takeover(category) for category in chosen],
            per_category=count,
            last=_highest(last, mined.scenarios),
            there=[*there, *mined.scenarios],
            keep=lambda category, pick: passing(category, pick) and keep(category, pick),
            rule=rule | failures.rule(suite, share, chance),
        )
        mined = mined.and_of(more)
    on_side = sum(t.split == order.side for t in recorded)
    return Carried(mined, chosen, len(recorded), on_side, len(failed))


def _any(category: Category, pick: Pick) -> bool:
    return True


def _watched(every: Sequence[Trajectory], progress: Progress) -> Iterator[Trajectory]:
    for done, one in enumerate(every, 1):
        yield one
        progress(done, len(every))


def _highest(last: Mapping[str, int], scenarios: Iterable[Scenario]) -> dict[str, int]:
    """Returns the highest number of an id of each category, those of `scenarios` counted."""
    out = dict(last)
    for one in scenarios:
        out[one.category] = max(out.get(one.category, 0), int(one.id.rpartition("-")[2]))
    return out


def _asked(order: Order, every: Sequence[Trajectory]) -> tuple[list[Category], dict[str, Any]]:
    """Returns the categories, each asking only where it is to, and what provenance says of that.

    Raises:
      ArgumentError, UnknownName: something that is asked for is not there, or does not fit.
      MissingExtra: a filter needs what is not installed.
    """
    chosen = [categories.named(name) for name in dict.fromkeys(order.categories)]
    if not order.categories:
        installed = categories.installed(t.episode.domain for t in every).values()
        chosen = [category for category in installed if not category.superseded]
    domains = {category.domain for category in chosen}
    rule: dict[str, Any] = {}
    if order.partner is not None:
        _check_partner(order.partner, domains)
        chosen = [replace(category, partner=order.partner) for category in chosen]
    if order.miner is not None:
        miner = miners.named(order.miner)
        chosen = [miners.asking(category, order.miner, miner) for category in chosen]
        rule |= {"miner": order.miner, "code": code(order.miner, ("scenarios",)).mark}
    if order.where is not None:
        where = filters.Filter(order.where)
        rule |= {"where": where.text, "columns": _columns(where, domains, every)}
        chosen = [where.within(category) for category in chosen]
    if order.side == "train":
        chosen = [training.obeyed(category) for category in chosen]
    if order.unlike or order.failures:
        playing = telling.check(domains, order.agents)
        rule |= {"unlike": playing} if order.unlike else {}
    if order.effect is not None:
        effect.check(domains)
    return chosen, rule


def _columns(
    where: filters.Filter, domains: Iterable[str], every: Sequence[Trajectory]
) -> dict[str, int]:
    """Returns the versions of the columns that a filter is held to, one world after the other.

    Raises:
      ArgumentError: it does not fit the columns of a world.
    """
    versions: dict[str, int] = {}
    for name in sorted(domains):
        own = (t for t in every if t.episode.domain == name)
        first = next((t for t in own if why_unavailable(t.episode) is None), None)
        if first is not None:
            versions |= where.check(first)
    return versions


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
