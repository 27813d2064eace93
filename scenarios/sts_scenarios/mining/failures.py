"""`--from-failures`: candidates from continuations of a suite in which what was asked was not done.

A failure alone is a noisy miner: it may be an agent's, the scenario's or the rule's. So a candidate
is kept only where somebody passes more often than can be had without eyes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sts.continuations import label_table, store
from sts.continuations.types import HUMAN, Continuation
from sts.domains import domain, shapes, why_unavailable
from sts.engine.lockstep import play
from sts.engine.replay import along
from sts.episodes import Episode
from sts.errors import ArgumentError, StsError
from sts.storage import parquet
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Scenario, Suite
from sts.trajectories import store as trajectories
from sts.trajectories.types import Participant, Trajectory
from sts_scenarios.category import Candidate, Category
from sts_scenarios.mining.chance import open_loop
from sts_scenarios.mining.choice import Keep, Pick
from sts_scenarios.mining.making import CARRIED
from sts_scenarios.mining.telling import profiled
from sts_scenarios.profiles import CONTINUATIONS, playing

FURTHER = 32
"""Steps for which a failed continuation's world goes on, with nobody acting."""
_ABREAST = 256
_KEPT_WHERE = (
    f"somebody who sees what a participant sees passes more of {CONTINUATIONS} continuations than "
    "the best policy without eyes does of its category"
)


def failed(workspace: Workspace, suite: Suite) -> list[Trajectory]:
    """Return the continuations of a suite that its labels say failed, as trajectories.

    Baselines that repeat the recording are left out.
    """
    scenarios = {s.hash: s for s in suite.scenarios}
    name = label_table.name_of(suite.label)
    if next(store.entries(workspace, scenarios), None) is None:
        raise StsError(
            f"no continuations of {suite.label}: expected some from sts run {suite.label} --agent "
            "NAME"
        )
    try:
        raw = workspace.store.get(name)
    except FileNotFoundError:
        raise StsError(f"no labels of {suite.label}: sts label {suite.label}") from None
    (ids, each), (verdicts, words) = parquet.read_coded(name, raw, ("continuation", "verdict"))
    bad = {n for n, word in enumerate(words) if word in ("failure", "not_done")}
    failing = {each[i] for i, v in zip(ids.tolist(), verdicts.tolist(), strict=True) if v in bad}
    out = [
        _trajectory(suite, scenarios[one.scenario_hash], one)
        for part in store.stream(workspace, scenarios)
        for one in part
        if one.id in failing and one.sees != "recording"
    ]
    if not out:
        raise StsError(f"by its labels nobody failed {suite.label}: nothing to mine from failures")
    return gone_on(out)


def _trajectory(suite: Suite, scenario: Scenario, one: Continuation) -> Trajectory:
    """Return a continuation as the recording that it is, of its scenario's world and split."""
    kind, _, name = scenario.partner.partition(":")
    other = Participant("agent", name) if kind == "agent" else Participant("script", kind)
    who = Participant("human" if one.agent == HUMAN else "agent", one.agent)
    people = range(one.episode.participants)
    carried = {k: v for k, v in scenario.provenance.items() if k in CARRIED}
    source = f"sts run {suite.label} {scenario.id} {one.id}"
    return Trajectory(
        one.episode,
        tuple(who if role in one.roles else other for role in people),
        one.instructions,
        scenario.world,
        source,
        carried
        | {
            "continuation": one.id,
            "begins": scenario.context_start,
            "takeover": one.takeover,
            "until": one.episode.steps,
            "roles": list(one.roles),
            "fingerprint": one.fingerprint,
        },
    )


def gone_on(failed: Sequence[Trajectory]) -> list[Trajectory]:
    """Return trajectories with `FURTHER` steps more, in which nobody does anything.

    So there is room after their last steps for what is asked there; whose world cannot be had here
    stays as it is.
    """
    groups: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for n, t in enumerate(failed):
        one = t.episode
        if why_unavailable(one) is None:
            size = one.steps, one.participants, one.scene.shape[1]
            groups[one.domain, size, shapes(one)].append(n)
    out = [*failed]
    for own in groups.values():
        for at in range(0, len(own), _ABREAST):
            batch = own[at : at + _ABREAST]
            for n, episode in zip(batch, _longer([failed[n] for n in batch]), strict=True):
                out[n] = replace(failed[n], episode=episode)
    return out


def _longer(batch: Sequence[Trajectory]) -> Iterator[Episode]:
    """Yield the longer episodes of trajectories that can be played together."""
    world = domain(batch[0].episode.domain)
    for worlds in along([t.episode for t in batch], [t.source for t in batch]):
        last = worlds
    played = play(world, world.restore(last.states()), [], steps=FURTHER)
    for b, one in enumerate(t.episode for t in batch):
        yield Episode(
            one.domain,
            one.state,
            np.concatenate((one.moves, played.moves[b])),
            np.concatenate((one.says, played.says[b])),
            np.concatenate((one.rewards, played.rewards[b])),
            np.concatenate((one.scene, played.scene[b, 1:])),
        )


def recording_of(workspace: Workspace, scenario: Scenario) -> Trajectory:
    """Return what a scenario was mined from, a recording or a continuation."""
    if "continuation" not in scenario.provenance:
        return trajectories.find(workspace, scenario.trajectory)
    _, _, label, *_ = str(scenario.provenance["source"]).split(" ")
    suite = suites.load(workspace, label)
    one = store.find(workspace, scenario.provenance["continuation"])
    (asked,) = (s for s in suite.scenarios if s.hash == one.scenario_hash)
    return gone_on([_trajectory(suite, asked, one)])[0]


def after_takeover(category: Category) -> Category:
    """Return a category that asks whoever failed, at moments that they have come to themselves.

    All before such a moment was done; what comes after it, where partners repeat it, too.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        own = trajectory.provenance
        last = own["until"] - (horizon if category.partner == "replay" else 0)
        for one in category.candidates(trajectory, context, horizon):
            if own["takeover"] < one.moment <= last and one.role in own["roles"]:
                yield one

    return replace(category, candidates=candidates, screen=None)


def share_of(share: float, per_category: int) -> int:
    """Return how many of a category's scenarios are to come from failures."""
    if not 0 < share <= 1:
        raise ArgumentError(f"expected --share above 0 and at most 1, found {share:g}")
    count = int(share * per_category + 1e-9)
    if not count:
        raise ArgumentError(
            f"--share {share:g} of {per_category} a category is not one scenario: expected more of "
            "either"
        )
    return count


def chances(categories: Iterable[Category], scenarios: Iterable[Scenario]) -> dict[str, float]:
    """Return what can be had of each category without eyes, as its scenarios show."""
    own: dict[str, list[Scenario]] = defaultdict(list)
    for one in scenarios:
        own[one.category].append(one)
    return {c.name: open_loop(c, own[c.name], continuations=CONTINUATIONS) for c in categories}


def rule(suite: Suite, share: float, chance: Mapping[str, float]) -> dict[str, Any]:
    """Return what the provenance of what is mined from failures says of how it was chosen."""
    least = {name: round(rate, 3) for name, rate in sorted(chance.items())}
    return {"failures": suite.label, "share": share, "kept_where": _KEPT_WHERE, "chance": least}


def passable(chance: Mapping[str, float], names: Sequence[str]) -> Keep:
    """Return what keeps a moment where some agent passes above chance, as `kept_where` says.

    At ten continuations a rate of one half has a standard error of .16, so no more is asked of it.
    `names` () stands for the agents that the categories of a world name.
    """

    def keep(category: Category, pick: Pick) -> bool:
        passed = profiled(category, pick, names).passed
        ranked = [
            agent.name
            for agent in playing(category.domain, names or None).values()
            if agent.sees == "observation"
        ]
        least = chance[category.name]
        return any(passed[name].successes > least * passed[name].of for name in ranked)

    return keep
