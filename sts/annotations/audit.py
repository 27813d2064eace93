"""Who judged which agent: the table, how uneven it is, and whether the two can be told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from sts.annotations.events import judges
from sts.annotations.schema import (
    anchors,
    annotators,
    copies,
    events,
    item_suites,
    reference_episodes,
    slots,
)
from sts.numerics.streams import stream

UNEVEN = 0.2
"""An imbalance from which on agents should only be compared with annotators adjusted for."""
_SIGNIFICANT = 0.05
_PERMUTATIONS = 999
_AT_ONCE = 111


class Judged(NamedTuple):
    """One person's judgement of one clip.

    Attributes:
      annotator: their name.
      item: the clip.
      agents: whose continuations it is, sorted.
    """

    annotator: str
    item: str
    agents: tuple[str, ...]


class Audit(NamedTuple):
    """Who judged which agent.

    Attributes:
      agents: sorted.
      annotators: sorted.
      judgements: of each agent by each annotator; a clip of several agents counts for each.
      imbalance: the share of one agent's judgements that would have to be other people's, for it to
        be judged by the same people as another; of the two agents where it is the largest. 0 is the
        same people in the same shares, 1 nobody in common. None with one agent or without any.
      between: these two agents, or None.
      cramers_v: of the table, 0 to 1; None where it has one row or column.
      p: how often as much of it comes about where who judges has nothing to do with the agent, by
        999 permutations of the annotators among the judgements; None with it.
      clips: that somebody judged.
      twice: of these, the ones that two people or more judged.
      anchors: clips that were opened once more as agents joined.
      anchors_judged: of these, the ones that were judged once more.
    """

    agents: tuple[str, ...]
    annotators: tuple[str, ...]
    judgements: tuple[tuple[int, ...], ...]
    imbalance: float | None
    between: tuple[str, str] | None
    cramers_v: float | None
    p: float | None
    clips: int
    twice: int
    anchors: int = 0
    anchors_judged: int = 0

    @property
    def sentence(self) -> str:
        """Whether agents and annotators can be told apart, in plain words."""
        if not self.clips:
            return "Nobody has judged anything yet."
        if len(self.annotators) == 1:
            return (
                f"{self.annotators[0]} judged everything: agents are compared by the same eyes, and"
                " what is found holds for that one person's judgement."
            )
        if self.between is None or self.imbalance is None:
            return "There is one agent: there is nothing that annotators could be taken for."
        one, other = self.between
        parts = _parts(np.array(self.judgements))
        if len(parts) > 1:
            one, other = (self.agents[min(part)] for part in parts[:2])
            return (
                f"Agents and annotators cannot be told apart: nobody judged both {one} and {other},"
                " not even by way of a third agent; a difference between the two may be one between"
                " people."
            )
        share = f"{self.imbalance:.0%} of {one}'s judgements are not by whom {other}'s are"
        if self.imbalance >= UNEVEN and (self.p or 0) <= _SIGNIFICANT:
            return (
                f"Agents and annotators can be told apart, but {share}: compare agents only with "
                "annotators adjusted for, and have old clips judged by those who judge now."
            )
        return f"Agents and annotators can be told apart: at most {share}."


def audit(connection: Connection, suite: str | None = None, *, names: bool = False) -> Audit:
    """Returns who judged which agent, references left out.

    Args:
      connection: to the store.
      suite: as it is enqueued; None for everything.
      names: whether people are called by name; else each by their pseudonym.
    """
    kept = select(item_suites.c.item)
    opened = select(func.count(), func.coalesce(func.sum(slots.c.judged), 0)).join_from(
        anchors, slots, (slots.c.item == anchors.c.item) & (slots.c.slot == anchors.c.slot)
    )
    if suite is not None:
        kept = kept.where(item_suites.c.suite == suite)
        opened = opened.where(anchors.c.item.in_(kept))
    agents: dict[str, set[str]] = {}
    of_agents = select(copies.c.item, copies.c.agent).where(copies.c.item.in_(kept)).distinct()
    for item, agent in connection.execute(of_agents):
        agents.setdefault(item, set()).add(agent)
    rows = connection.execute(
        select(annotators.c.name if names else annotators.c.pseudonym, events.c.item)
        .join(annotators, annotators.c.id == events.c.annotator)
        .where(
            judges(),
            events.c.item.in_(kept),
            events.c.item.not_in(select(reference_episodes.c.item)),
        )
        .distinct()
    )
    judged = [Judged(name, item, tuple(sorted(agents[item]))) for name, item in rows]
    number, done = connection.execute(opened).one()
    return of(judged)._replace(anchors=int(number), anchors_judged=int(done))


def of(judged: Sequence[Judged], seed: int = 0) -> Audit:
    """Returns the audit of judgements, each of one person and clip; `seed` is of the permutations.

    Source: Cramer 1946, section 21.9; the imbalance is the total variation distance between two
    agents' shares of annotators.
    """
    people = tuple(sorted({one.annotator for one in judged}))
    alike = sorted({one.agents for one in judged})
    agents = tuple(sorted({agent for some in alike for agent in some}))
    covers = np.array([[agent in some for some in alike] for agent in agents], dtype=np.int64)
    counts = Counter((one.agents, one.annotator) for one in judged)
    cells = np.array([[counts[some, name] for name in people] for some in alike], dtype=np.int64)
    times = Counter(one.item for one in judged)
    table = covers @ cells if judged else np.zeros((0, 0), dtype=np.int64)
    imbalance, between = _imbalance(table, agents)
    value, p = _association(cells, covers, table, seed)
    return Audit(
        agents=agents,
        annotators=people,
        judgements=tuple(tuple(map(int, row)) for row in table),
        imbalance=imbalance,
        between=between,
        cramers_v=value,
        p=p,
        clips=len(times),
        twice=sum(n > 1 for n in times.values()),
    )


def by_name(found: Audit) -> Mapping[str, Mapping[str, int]]:
    """Returns the table by annotator and agent."""
    rows = zip(*found.judgements, strict=True)
    return {
        name: dict(zip(found.agents, row, strict=True))
        for name, row in zip(found.annotators, rows, strict=True)
    }


def _imbalance(
    table: NDArray[np.int64], agents: Sequence[str]
) -> tuple[float | None, tuple[str, str] | None]:
    if len(agents) < 2:
        return None, None
    shares = table / table.sum(axis=1, keepdims=True)
    apart = np.abs(shares[:, None] - shares[None]).sum(axis=2) / 2
    one, other = np.unravel_index(int(apart.argmax()), apart.shape)
    return float(apart[one, other]), (agents[int(one)], agents[int(other)])


def _association(
    cells: NDArray[np.int64], covers: NDArray[np.int64], table: NDArray[np.int64], seed: int
) -> tuple[float | None, float | None]:
    """Returns Cramer's V of a table of agents x annotators and its permutation p.

    Args:
      cells: int64[S, A], judgements of each set of agents that share clips by each annotator.
      covers: int64[G, S], whether an agent is in a set.
      table: int64[G, A], covers @ cells.
      seed: of the permutations.
    """
    if min(table.shape) < 2:
        return None, None
    from scipy.stats import random_table

    value = float(_cramers_v(table))
    if len(cells) < 2:  # every clip is of the same agents
        return value, 1.0
    rng = np.random.default_rng(int(stream("audit", seed)))
    shuffled = random_table(cells.sum(axis=1), cells.sum(axis=0))
    as_large = 0
    for _ in range(_PERMUTATIONS // _AT_ONCE):
        drawn = np.asarray(shuffled.rvs(_AT_ONCE, random_state=rng)).astype(np.int64)
        as_large += int((_cramers_v(covers @ drawn) >= value - 1e-12).sum())
    return value, (1 + as_large) / (1 + _PERMUTATIONS)


def _cramers_v(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns V of each of [..., G, A] tables of two agents and two annotators or more."""
    total = tables.sum(axis=(-2, -1), keepdims=True)
    expected = tables.sum(axis=-1, keepdims=True) * tables.sum(axis=-2, keepdims=True) / total
    chi2 = ((tables - expected) ** 2 / np.where(expected > 0, expected, 1)).sum(axis=(-2, -1))
    out: NDArray[np.float64] = np.sqrt(chi2 / total[..., 0, 0] / (min(tables.shape[-2:]) - 1))
    return out


def _parts(table: NDArray[np.int64]) -> list[set[int]]:
    """Returns the agents that annotators connect with each other, part by part."""
    left, parts = set(range(len(table))), []
    while left:
        part, edge = set(), {min(left)}
        while edge:
            part |= edge
            people = table[sorted(part)].sum(axis=0) > 0
            edge = {int(agent) for agent in np.flatnonzero(table[:, people].sum(axis=1))} - part
        parts.append(part)
        left -= part
    return parts
