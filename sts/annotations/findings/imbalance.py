"""Assignment balance: how evenly annotators are spread over agents."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.numerics.streams import stream

LARGE_IMBALANCE = 0.2
"""Imbalance from which agents should only be compared with adjustment for annotators."""
_ALPHA = 0.05
_MAX_PERMUTATIONS, _MIN_PERMUTATIONS = 999, 99
_MAX_PERMUTED_CLIPS = 5_000_000
"""Maximum of clips times permutations; with more clips there are fewer permutations."""


class AssignmentBalance(NamedTuple):
    """Judgements by agent and annotator, with measures of their imbalance."""

    agents: tuple[str, ...]  # sorted
    annotators: tuple[str, ...]  # sorted
    # of each agent by each annotator; a clip of several agents counts for each
    judgements: tuple[tuple[int, ...], ...]
    # the largest total variation distance between two agents' shares of annotators: the share of
    # one agent's judgements that other people would have to make to match the other's. 0 means
    # equal shares, 1 no common annotators; None with fewer than two agents
    imbalance: float | None
    between: tuple[str, str] | None  # these two agents, or None
    cramers_v: float | None  # of the table, 0 to 1; None if it has one row or column
    # permutation p-value of `cramers_v`, if annotators are independent of agents; clips are
    # permuted within scenarios. None without it, or if no scenario has clips of different agents
    p: float | None
    clips: int  # number of judged clips
    twice: int  # number of clips that at least two people judged
    anchors: int = 0  # number of clips that were reopened when agents were added
    anchors_judged: int = 0  # number of anchors that were judged again

    @property
    def sentence(self) -> str:
        """Conclusion about whether agents' and annotators' effects can be separated."""
        if not self.clips:
            return "There are no judgements yet."
        if len(self.annotators) == 1:
            return (
                f"{self.annotators[0]} judged everything: agents are compared fairly, but only by "
                "the judgement of this one person."
            )
        if self.between is None or self.imbalance is None:
            return "There is only one agent, so annotators cannot bias a comparison."
        from scipy.sparse.csgraph import connected_components

        first, second = self.between
        table = np.array(self.judgements)
        _, component = connected_components(table @ table.T, directed=False)  # by common annotators
        if component.any():
            first, second = self.agents[0], self.agents[np.flatnonzero(component)[0]]
            return (
                f"Agents and annotators are confounded: {first} and {second} have no annotators in "
                "common, not even through other agents; a difference between them may be one "
                "between people."
            )
        share = f"{self.imbalance:.0%} of {first}'s judgements differ in annotator from {second}'s"
        if self.imbalance >= LARGE_IMBALANCE and (self.p or 0) <= _ALPHA:
            return (
                f"Agents and annotators are unbalanced: {share}. Compare agents only with "
                "adjustment for annotators, and have the current annotators judge old clips again."
            )
        return f"Agents and annotators are balanced: at most {share}."


EMPTY_AUDIT = AssignmentBalance((), (), (), None, None, None, None, 0, 0)
"""The audit without judgements."""


def measure_imbalance(
    item: NDArray[Any], scenario: NDArray[Any], agent: NDArray[Any], annotator: NDArray[Any]
) -> AssignmentBalance:
    """Compute the audit from rows, one for each combination of clip, agent and annotator.

    Args:
      item: the clip of each row, at least one row.
      scenario: of the clip; clips are permuted within scenarios.
      agent: one of the clip's agents.
      annotator: one of its annotators.

    Source: Cramer 1946, section 21.9; the imbalance is the total variation distance between two
      agents' shares of annotators. Permutation within strata: Mantel and Byar 1978,
      Commun. Stat. 7:953.
    """
    import pandas as pd

    clip, clips = pd.factorize(item)
    stratum, strata = np.zeros(len(clips), np.int64), pd.factorize(scenario)[0]
    stratum[clip] = strata
    agent_code, agents = pd.factorize(agent, sort=True)
    judge, people = pd.factorize(annotator, sort=True)
    of_agents = _group_by_clip(clip, agent_code, len(clips))
    of_judges = _group_by_clip(clip, judge, len(clips))
    cells = _count_cells(of_agents, of_judges, of_agents.code, of_judges.code)
    table = _count_judgements(of_agents, of_judges, cells)
    names = tuple(map(str, agents))
    imbalance, between = _largest_imbalance(table, names)
    value, p = _measure_association(of_agents, of_judges, stratum, table)
    return AssignmentBalance(
        agents=names,
        annotators=tuple(map(str, people)),
        judgements=tuple(tuple(map(int, row)) for row in table),
        imbalance=imbalance,
        between=between,
        cramers_v=value,
        p=p,
        clips=len(clips),
        twice=int((of_judges.members[of_judges.code].sum(axis=1) > 1).sum()),
    )


class _ClipSets(NamedTuple):
    """A set of agents or of annotators for each clip."""

    code: NDArray[np.int64]  # int64[clips], index of the clip's set among the distinct sets
    members: NDArray[np.int64]  # int64[sets, agents or annotators], 1 for members of the set


def _group_by_clip(clip: NDArray[np.int64], member: NDArray[np.int64], clips: int) -> _ClipSets:
    """Return the set of members of each clip; `clip` and `member` are per row."""
    present = np.zeros((clips, int(member.max()) + 1), bool)
    present[clip, member] = True
    packed = np.packbits(present, axis=1)
    sets = packed.view(f"V{packed.shape[1]}").ravel()
    _, first, code = np.unique(sets, return_index=True, return_inverse=True)
    return _ClipSets(code, present[first].astype(np.int64))


def _count_cells(
    agents: _ClipSets, judges: _ClipSets, of_agents: NDArray[np.int64], of_judges: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count clips by pair of sets, int64[agents' sets, judges' sets]; codes are per clip."""
    shape = len(agents.members), len(judges.members)
    counts = np.bincount(of_agents * shape[1] + of_judges, minlength=shape[0] * shape[1])
    return counts.reshape(shape)


def _count_judgements(
    agents: _ClipSets, judges: _ClipSets, cells: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return int64[G, A], the judgements of each agent by each person; `cells` are by sets."""
    table: NDArray[np.int64] = agents.members.T @ (cells @ judges.members)
    return table


def count_by_name(audit: AssignmentBalance) -> Mapping[str, Mapping[str, int]]:
    """Return the number of judgements by annotator and agent."""
    rows = zip(*audit.judgements, strict=True)
    return {
        name: dict(zip(audit.agents, row, strict=True))
        for name, row in zip(audit.annotators, rows, strict=True)
    }


def _largest_imbalance(
    table: NDArray[np.int64], agents: Sequence[str]
) -> tuple[float | None, tuple[str, str] | None]:
    if len(agents) < 2:
        return None, None
    shares = table / table.sum(axis=1, keepdims=True)
    distance = np.abs(shares[:, None] - shares[None]).sum(axis=2) / 2
    first, second = np.unravel_index(int(distance.argmax()), distance.shape)
    return float(distance[first, second]), (agents[int(first)], agents[int(second)])


def _measure_association(
    agents: _ClipSets,
    judges: _ClipSets,
    stratum: NDArray[np.int64],
    table: NDArray[np.int64],
) -> tuple[float | None, float | None]:
    """Return Cramer's V of the table of agents x annotators and its permutation p-value.

    Clips are permuted within each scenario together with all their annotators, so the annotators of
    each scenario, and the groups that judge one clip, stay the same.
    """
    if min(table.shape) < 2:
        return None, None
    value = _cramers_v(table)
    order = np.argsort(stratum, kind="stable")
    code, judges = agents.code[order], judges._replace(code=judges.code[order])
    edges = np.flatnonzero(np.diff(stratum[order], prepend=-1, append=-1))
    start, size = edges[:-1], np.diff(edges)
    mixed = np.add.reduceat(code != np.repeat(code[start], size), start) > 0
    if not mixed.any():  # no scenario has clips of different agents
        return value, 1.0 if len(agents.members) == 1 else None
    rng = np.random.default_rng(int(stream("audit", 0)))
    times = int(np.clip(_MAX_PERMUTED_CLIPS // len(code), _MIN_PERMUTATIONS, _MAX_PERMUTATIONS))
    # Scenarios with equally many clips are shuffled in one call, each separately.
    places = [start[mixed & (size == n), None] + np.arange(n) for n in np.unique(size[mixed])]
    still = np.repeat(~mixed, size)
    blocks = [(code[place], judges.code[place]) for place in places]
    fixed = _count_cells(agents, judges, code[still], judges.code[still])
    as_large = 0
    for _ in range(times):
        cells = fixed.copy()
        for block, judge in blocks:
            rng.permuted(block, axis=1, out=block)
            cells += _count_cells(agents, judges, block.ravel(), judge.ravel())
        as_large += _cramers_v(_count_judgements(agents, judges, cells)) >= value - 1e-12
    return value, (1 + as_large) / (1 + times)


def _cramers_v(table: NDArray[np.int64]) -> float:
    """Return V of a table of at least two agents and two annotators."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi2 = ((table - expected) ** 2 / np.where(expected > 0, expected, 1)).sum()
    return float(np.sqrt(chi2 / table.sum() / (min(table.shape) - 1)))
