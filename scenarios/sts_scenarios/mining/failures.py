"""`--from-failures`: candidates from failed continuations of a suite.

A failure alone is a weak signal: the cause may be the agent, the scenario or the automatic label. A
candidate is therefore kept only if some agent passes it more often than an open-loop policy.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sts.continuations import continuation_store as store
from sts.continuations import label_table
from sts.continuations.continuation import HUMAN, Continuation
from sts.domains import load_domain, observation_shapes, why_unavailable
from sts.engine.lockstep import play_episodes
from sts.engine.replay import replay_worlds
from sts.episodes import Episode
from sts.errors import ArgumentError, StsError
from sts.jobs.executors import Executor
from sts.storage import parquet
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Scenario, Suite
from sts.trajectories import trajectory_store as trajectories
from sts.trajectories.batches import MemoryPart
from sts.trajectories.trajectory import Player, Trajectory
from sts_scenarios.mining.building import COPIED_PROVENANCE
from sts_scenarios.mining.choice import Pick, PickFilter
from sts_scenarios.mining.confirming import MakeCategories, run_in_pool
from sts_scenarios.mining.response_profiles import profile_pick
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.chance import compute_open_loop_pass_rate
from sts_scenarios.rules.profiles import CONTINUATIONS, load_players
from sts_scenarios.rules.validity import is_checked

EXTENSION_STEPS = 32
"""Steps by which a failed continuation is extended, with all players standing still."""
_BATCH_SIZE = 128
"""Number of failures that are extended, and scanned, at once."""
_KEPT_WHERE = (
    f"a policy with the player's view passes more of {CONTINUATIONS} continuations than the best "
    "policy without observations does in its category"
)


def load_failures(workspace: Workspace, suite: Suite) -> list[Trajectory]:
    """Return the continuations of a suite that its labels call failed, as trajectories.

    Baselines that repeat the recording are left out.
    """
    scenarios = {s.hash: s for s in suite.scenarios}
    name = label_table.table_name(suite.label)
    if next(store.iter_entries(workspace, scenarios), None) is None:
        raise StsError(
            f"{suite.label} has no continuations; make some with sts run {suite.label} --agent NAME"
        )
    try:
        raw = workspace.store.get(name)
    except FileNotFoundError:
        raise StsError(f"{suite.label} has no labels; run sts label {suite.label}") from None
    (ids, continuation_ids), (verdicts, words) = parquet.read_coded(
        name, raw, ("continuation", "verdict")
    )
    failing_codes = {n for n, word in enumerate(words) if word in ("failure", "not_done")}
    pairs = zip(ids.tolist(), verdicts.tolist(), strict=True)
    failing = {continuation_ids[i] for i, v in pairs if v in failing_codes}
    failures = [
        _trajectory(suite, scenarios[c.scenario_hash], c)
        for part in store.stream(workspace, scenarios)
        for c in part
        if c.id in failing and c.sees != "recording"
    ]
    if not failures:
        raise StsError(
            f"no continuation of {suite.label} failed by its labels: there are no failures to mine"
        )
    return extend_with_noops(failures)


def split_into_parts(failed: Iterable[Trajectory]) -> list[MemoryPart]:
    """Return failures as parts to scan, with those of one size and world next to each other."""
    ordered = sorted(failed, key=lambda t: (t.episode.scene.shape, t.episode.state))
    starts = range(0, len(ordered), _BATCH_SIZE)
    return [MemoryPart(tuple(ordered[at : at + _BATCH_SIZE])) for at in starts]


def _trajectory(suite: Suite, scenario: Scenario, continuation: Continuation) -> Trajectory:
    """Return a continuation as a trajectory of its scenario's world and split."""
    kind, _, name = scenario.partner.partition(":")
    other = Player("agent", name) if kind == "agent" else Player("script", kind)
    agent = Player("human" if continuation.agent == HUMAN else "agent", continuation.agent)
    people = range(continuation.episode.n_players)
    carried = {k: v for k, v in scenario.provenance.items() if k in COPIED_PROVENANCE}
    source = f"sts run {suite.label} {scenario.id} {continuation.id}"
    return Trajectory(
        continuation.episode,
        tuple(agent if player in continuation.players else other for player in people),
        continuation.instructions,
        scenario.world,
        source,
        carried
        | {
            "continuation": continuation.id,
            "begins": scenario.context_start,
            "takeover": continuation.takeover,
            "until": continuation.episode.steps,
            "roles": list(continuation.players),
            "fingerprint": continuation.fingerprint,
        },
    )


def extend_with_noops(failed: Sequence[Trajectory]) -> list[Trajectory]:
    """Return trajectories extended by `EXTENSION_STEPS` steps in which all players stand still.

    The extension makes room for a horizon after their last steps. A trajectory whose world is
    unavailable here is returned as it is.
    """
    worlds = {(t.episode.domain, t.episode.state): t.episode for t in failed}
    available = {world for world, episode in worlds.items() if why_unavailable(episode) is None}
    groups: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for n, t in enumerate(failed):
        recorded = t.episode
        if (recorded.domain, recorded.state) in available:
            size = recorded.steps, recorded.n_players, recorded.scene.shape[1]
            groups[recorded.domain, size, observation_shapes(recorded)].append(n)
    extended = [*failed]
    for members in groups.values():
        for at in range(0, len(members), _BATCH_SIZE):
            batch = members[at : at + _BATCH_SIZE]
            for n, episode in zip(batch, _extend_batch([failed[n] for n in batch]), strict=True):
                extended[n] = replace(failed[n], episode=episode)
    return extended


def _extend_batch(batch: Sequence[Trajectory]) -> Iterator[Episode]:
    """Yield the extended episodes of trajectories that can be played together."""
    domain = load_domain(batch[0].episode.domain)
    for worlds in replay_worlds([t.episode for t in batch], [t.source for t in batch]):
        last = worlds
    played = play_episodes(domain, domain.restore(last.states()), [], steps=EXTENSION_STEPS)
    for b, episode in enumerate(t.episode for t in batch):
        yield Episode(
            episode.domain,
            episode.state,
            np.concatenate((episode.actions, played.actions[b])),
            np.concatenate((episode.utterances, played.utterances[b])),
            np.concatenate((episode.rewards, played.rewards[b])),
            np.concatenate((episode.scene, played.scene[b, 1:])),
        )


def load_recording(workspace: Workspace, scenario: Scenario) -> Trajectory:
    """Return the recording or continuation that a scenario was mined from."""
    if "continuation" not in scenario.provenance:
        return trajectories.find_trajectory(workspace, scenario.trajectory)
    _, _, label, *_ = str(scenario.provenance["source"]).split(" ")
    suite = suites.load(workspace, label)
    continuation = store.find_continuation(workspace, scenario.provenance["continuation"])
    (origin,) = (s for s in suite.scenarios if s.hash == continuation.scenario_hash)
    return extend_with_noops([_trajectory(suite, origin, continuation)])[0]


def count_from_failures(share: float, per_category: int) -> int:
    """Return the number of a category's scenarios that are to come from failures."""
    if not 0 < share <= 1:
        raise ArgumentError(f"expected --failure-share above 0 and at most 1, found {share:g}")
    count = int(share * per_category + 1e-9)
    if not count:
        raise ArgumentError(
            f"--failure-share {share:g} of {per_category} scenarios is less than one scenario; "
            "raise either"
        )
    return count


def compute_open_loop_rates(
    make_categories: MakeCategories, scenarios: Iterable[Scenario], pool: Executor
) -> dict[str, float]:
    """Return the open-loop pass rate over these scenarios of each category that is made."""
    by_category: dict[str, list[Scenario]] = defaultdict(list)
    by_name = {category.name: category for category in make_categories()}
    for scenario in scenarios:
        if is_checked(scenario, by_name):
            by_category[scenario.category].append(scenario)
    names = list(by_name)
    tasks = [(_compute_open_loop_rate, make_categories, name, by_category[name]) for name in names]
    return {names[n]: rate for n, rate in run_in_pool(pool, tasks)}


def _compute_open_loop_rate(
    make_categories: MakeCategories, name: str, scenarios: Sequence[Scenario]
) -> float:
    (category,) = (category for category in make_categories() if category.name == name)
    return compute_open_loop_pass_rate(category, scenarios, continuations=CONTINUATIONS)


def failure_provenance(suite: Suite, share: float, chance: Mapping[str, float]) -> dict[str, Any]:
    """Return the provenance of scenarios that are mined from failures."""
    least = {name: round(rate, 3) for name, rate in sorted(chance.items())}
    return {"failures": suite.label, "share": share, "kept_where": _KEPT_WHERE, "chance": least}


def make_passable_filter(chance: Mapping[str, float], names: Sequence[str]) -> PickFilter:
    """Return a filter that keeps steps which some ranked agent passes above `chance`.

    With ten continuations a rate of one half has a standard error of 0.16, too large for a stricter
    test. An empty `names` stands for the agents that the categories of a world list; the last ones,
    which are the strongest there, are tried first.
    """

    def keep(category: Category, pick: Pick) -> bool:
        players = load_players(category.domain, names or None)
        ranked = [name for name, agent in players.items() if agent.sees == "observation"]
        profiles = (profile_pick(category, pick, [name]).passed for name in reversed(ranked))
        least = chance[category.name]
        return any(n.successes > least * n.of for passed in profiles for n in passed.values())

    return keep
