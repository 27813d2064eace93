"""The choice spreads over worlds, sources and recorders, and takes no near-duplicates."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np
import pytest

from sts.trajectories.types import Participant, Trajectory
from sts_scenarios import categories, mining
from sts_scenarios.category import Candidate
from tests.examples import recorded


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded(count=60, team=2, steps=40, height=8, width=9, seed=5)


def hashes(found: mining.Mined) -> list[str]:
    return [s.row_hash for s in found.scenarios]


def test_a_second_moment_of_a_world_comes_last_and_not_within_the_length_of_the_first(
    trajectories: list[Trajectory],
) -> None:
    one = categories.named("where-is-good")
    worlds = mining.mine(trajectories, [one], per_category=1000, seed=0).worlds[one.name]
    some = mining.mine(trajectories, [one], per_category=worlds, seed=0, per_world=3)
    assert len({s.world for s in some.scenarios}) == worlds == len(some.scenarios)
    most = mining.mine(trajectories, [one], per_category=1000, seed=0, per_world=3)
    steps: dict[str, list[int]] = {}
    for s in most.scenarios:
        steps.setdefault(s.world, []).append(s.context_start + s.takeover)
    assert max(map(len, steps.values())) == 3
    assert all(
        min(np.diff(sorted(own)), default=one.horizon) >= one.horizon for own in steps.values()
    )
    again = mining.mine(trajectories[::-1], [one], per_category=1000, seed=0, per_world=3)
    assert hashes(again) == hashes(most)


def test_what_is_there_already_counts_for_its_world(trajectories: list[Trajectory]) -> None:
    one = categories.named("where-is-good")
    first = mining.mine(trajectories, [one], per_category=1000, seed=0)
    again = partial(mining.mine, trajectories, [one], per_category=1000, seed=1)
    assert not again(there=first.scenarios).scenarios
    more = again(there=first.scenarios, per_world=2).scenarios
    taken = {s.world: s.context_start for s in first.scenarios}
    assert more
    assert all(abs(s.context_start - taken[s.world]) >= one.horizon for s in more)


def test_who_has_few_moments_in_the_worlds_of_others_is_chosen_as_often() -> None:
    agents, others = (recorded(agent, count=120, steps=40) for agent in ("local-search", "random"))
    ana = Participant("human", "Ana")
    people = [dataclasses.replace(t, participants=(ana, ana)) for t in others]
    one = categories.named("keep-beside")

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        moments = range(context, trajectory.episode.steps - horizon + 1)
        every = (Candidate(moment, role, "easy") for role in (0, 1) for moment in moments)
        return islice(every, 1 if trajectory.participants[0] == ana else None)

    rare = dataclasses.replace(one, candidates=candidates, fits=lambda scenario: None, screen=None)
    found = mining.mine([*agents, *people], [rare], per_category=20, seed=0)
    who = Counter(s.provenance["recorded_by"][0] for s in found.scenarios)
    assert who == {"local-search": 10, "Ana": 10}
    counts: Counter[tuple[str, str]] = Counter()
    there: Counter[tuple[str, str]] = Counter()
    for stratum, (every, chosen) in found.strata["keep-beside"].items():
        counts[stratum.source, stratum.recorder] += chosen
        there[stratum.source, stratum.recorder] += every
    assert counts == {("agent", "local-search"): 10, ("person", "Ana"): 10}
    assert there["person", "Ana"] == found.worlds["keep-beside"]
    assert there.total() == found.candidates["keep-beside"] > 20 * there["person", "Ana"]


def test_a_source_is_a_person_an_agent_an_import_or_a_failure(
    trajectories: list[Trajectory],
) -> None:
    person = Participant("human", "Ana")
    for said, kind, expected in (
        ("sts record random seed 3", "agent", "agent"),
        ("lambdastar-2016 trace episode 3", "agent", "import"),
        ("overcooked-2019 trial 3", "human", "person"),
        ("sts run suite@1 scenario ambush-01", "agent", "failure"),
    ):
        who = person if kind == "human" else Participant(kind, "random")
        one = dataclasses.replace(trajectories[0], source=said, participants=(who, who))
        assert mining.Pick(one, Candidate(12, 1, "easy")).stratum == ("easy", expected, who.name)
