"""Mining: the test split alone, one step per world and category, determined by the seed."""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest

from sts.episodes import Instruction
from sts.errors import ReplayMismatch
from sts.storage.files import content_hash
from sts.suites import suite_store as suites
from sts.suites.drafts import open_draft
from sts.suites.lint import find_field_faults, lint_scenarios
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Player, Trajectory
from sts_scenarios import api as command
from sts_scenarios import mining
from sts_scenarios.mining import request
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Candidate
from tests.examples import SAMPLE_2016, on_test_side, recorded, state_after
from tests.mined import mine
from tests.scenarios.curating import Curation

NAMES = (
    *("count-others", "keep-beside", "last-move", "return-to-first"),
    *("shadow-evil", "when-evil", "where-is-good", "where-was-evil"),
)
EVERY = [categories.load_category(name) for name in NAMES]
EIGHT = " ".join(f"--category {name}" for name in NAMES)
TWO = "--category count-others --category keep-beside"
SHADOW, WHERE = (categories.load_category(name) for name in ("shadow-evil", "where-is-good"))


@pytest.fixture(scope="module")
def mining_result(trajectories) -> mining.Mined:
    return mine(trajectories, EVERY, per_category=3, seed=0)


def at_step_20(hears: bool, trajectory: Trajectory, *_: int) -> Iterator[Candidate]:
    yield Candidate(20, 0, "easy", hears=hears)


@pytest.mark.parametrize("hears", [False, True])
def test_instructions_of_a_recording_are_heard_when_the_candidate_says_so(trajectories, hears):
    given = [("Before.", 2), ("Within.", 15), ("At takeover.", 20), ("After.", 25)]
    told = [Instruction(text, "talk", at, "setter", 0, "success", at) for text, at in given]
    told.append(Instruction("To another.", "talk", 16, "setter", 1))
    talked = dataclasses.replace(on_test_side(trajectories)[0], instructions=tuple(told))
    category = dataclasses.replace(
        categories.load_category("find-good-again"),
        why_invalid=lambda s: None,
        candidates=partial(at_step_20, hears),
    )
    (one,) = mine([talked], [category], per_category=1, seed=0).scenarios
    expected = [("Before.", 0), ("Within.", 5), ("At takeover.", 10)] if hears else []
    assert [(i.text, i.given_at) for i in one.earlier_instructions] == expected
    assert one.instructions[-1] == one.instruction and lint_scenarios([one]) == []
    assert not any(i.mark or i.marked_at is not None or i.player for i in one.instructions)
    marked = dataclasses.replace(one, instruction=dataclasses.replace(told[1], given_at=10))
    assert "an instruction of it names a player or has a mark" in find_field_faults(marked)


def hashes(mining_result: mining.Mined) -> list[str]:
    return [s.row_hash for s in mining_result.scenarios]


def test_seed_determines_the_scenarios_in_any_order_of_files(trajectories, mining_result):
    again = mine(trajectories[::-1], EVERY, per_category=3, seed=0)
    other = mine(trajectories, EVERY, per_category=3, seed=1)
    assert hashes(again) == hashes(mining_result)
    assert {s.hash for s in other.scenarios} != {s.hash for s in mining_result.scenarios}


def test_only_the_test_side_is_mined(trajectories, mining_result):
    train = [t for t in trajectories if t.split == "train"]
    assert train and not mine(train, EVERY, per_category=3, seed=0).scenarios
    assert {s.world for s in mining_result.scenarios} <= {
        t.world for t in on_test_side(trajectories)
    }


def test_mined_scenarios_are_sound_fit_and_name_their_recording(trajectories, mining_result):
    assert len(mining_result.scenarios) > 12 and lint_scenarios(mining_result.scenarios) == []
    whole = {t.id: t for t in trajectories}
    for s in mining_result.scenarios:
        rule, source = categories.load_category(s.category), whole[s.trajectory]
        assert rule.why_invalid(s) is None
        done = rule.label(s.recording, s.context, s.players, s.parameters)
        assert ("done-in-recording" in s.tags) == (done.verdict == "success")
        assert s.provenance["source"].startswith("sts record local-search seed 5")
        assert s.provenance["recorded_by"] == ["local-search", "local-search"]
        start = s.context_start
        assert s.recording.state == state_after(source, start)
        assert s.takeover_hash == content_hash(state_after(source, start + s.context))
        assert (s.recording.scene[0] == source.episode.scene[start]).all()


def test_scenarios_that_do_not_fit_are_left_out_with_their_reason(trajectories):
    fussy = dataclasses.replace(
        SHADOW, why_invalid=lambda s: "near" if s.difficulty == "easy" else None
    )
    every = mine(trajectories, [SHADOW], per_category=6, seed=0)
    some = mine(trajectories, [fussy], per_category=6, seed=0)
    assert some.unfit == {"shadow-evil": "near"} and not every.unfit
    kept = [s.hash for s in every.scenarios if s.difficulty != "easy"]
    assert [s.hash for s in some.scenarios] == kept and len(kept) < len(every.scenarios)


def test_category_takes_each_world_once(trajectories):
    most = mine(trajectories, [WHERE], per_category=1000, seed=0)
    worlds = [s.world for s in most.scenarios]
    assert len(worlds) == len(set(worlds)) == most.worlds["where-is-good"]
    assert most.candidates["where-is-good"] > len(worlds)
    assert hashes(mine(trajectories, [WHERE], per_category=10**18, seed=0)) == hashes(most)
    world = on_test_side(trajectories)[0]
    twin = dataclasses.replace(world, source="another recording of the same world")
    assert len(mine([world, twin], [WHERE], per_category=5, seed=0).scenarios) == 1


def test_further_moments_of_a_world_come_last_and_do_not_overlap(trajectories):
    again = partial(mine, per_category=1000, seed=0, per_world=3)
    most, reverse = (again(every, [WHERE]) for every in (trajectories, trajectories[::-1]))
    assert hashes(reverse) == hashes(most)
    worlds = most.worlds[WHERE.name]
    some = mine(trajectories, [WHERE], per_category=worlds, seed=0, per_world=3)
    assert len({s.world for s in some.scenarios}) == worlds == len(some.scenarios)
    steps: dict[str, list[int]] = {}
    for s in most.scenarios:
        steps.setdefault(s.world, []).append(s.step)
    assert max(map(len, steps.values())) == 3
    gaps = [min(np.diff(sorted(own)), default=99) for own in steps.values()]
    assert min(gaps) >= WHERE.horizon


def test_existing_scenarios_use_up_their_worlds(trajectories):
    first = mine(trajectories, [WHERE], per_category=1000, seed=0)
    again = partial(mine, trajectories, [WHERE], per_category=1000, seed=1)
    assert not again(existing=first.scenarios).scenarios
    more = again(existing=first.scenarios, per_world=2).scenarios
    taken = {s.world: s.context_start for s in first.scenarios}
    assert more
    assert all(abs(s.context_start - taken[s.world]) >= WHERE.horizon for s in more)


def test_recorder_with_few_moments_is_chosen_as_often_as_another():
    agents, others = (recorded(agent, count=120, steps=40) for agent in ("local-search", "random"))
    ana = Player("human", "Ana")
    people = [dataclasses.replace(t, players=(ana, ana)) for t in others]

    def offer(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        steps = range(context, trajectory.episode.steps - horizon + 1)
        every = (Candidate(step, player, "easy") for player in (0, 1) for step in steps)
        return islice(every, 1 if trajectory.players[0] == ana else None)

    one = categories.load_category("keep-beside")
    rare = dataclasses.replace(
        one, candidates=offer, why_invalid=lambda scenario: None, prefilter=None
    )
    mined = mine([*agents, *people], [rare], per_category=20, seed=0)
    who = Counter(s.provenance["recorded_by"][0] for s in mined.scenarios)
    assert who == {"local-search": 10, "Ana": 10}
    counts: Counter[tuple[str, str]] = Counter()
    there: Counter[tuple[str, str]] = Counter()
    for stratum, (every, chosen) in mined.strata["keep-beside"].items():
        counts[stratum.source, stratum.recorder] += chosen
        there[stratum.source, stratum.recorder] += every
    assert counts == {("agent", "local-search"): 10, ("person", "Ana"): 10}
    assert there["person", "Ana"] == mined.worlds["keep-beside"]
    assert there.total() == mined.candidates["keep-beside"] > 20 * there["person", "Ana"]


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        ("sts record random seed 3", "agent", "agent"),
        ("lambdastar-2016 trace episode 3", "agent", "import"),
        ("overcooked-2019 trial 3", "human", "person"),
        ("sts run suite@1 scenario ambush-01", "agent", "failure"),
    ],
)
def test_stratum_names_the_kind_of_source(trajectories, source, kind, expected):
    who = Player(kind, "Ana")
    one = dataclasses.replace(trajectories[0], source=source, players=(who, who))
    assert mining.Pick(one, Candidate(12, 1, "easy")).stratum == ("easy", expected, "Ana")


def test_trajectory_that_does_not_replay_is_refused(trajectories):
    episode = trajectories[0].episode
    scene = episode.scene.copy()
    scene[7, 2] = (scene[7, 2] + 1) % 72
    altered = dataclasses.replace(episode, scene=scene)
    with pytest.raises(ReplayMismatch, match="step 6: object 2 is at"):
        mining.states_at(altered, (3, 9))
    assert mining.states_at(altered, (3,)) == mining.states_at(episode, (3,))
    paid = [
        dataclasses.replace(
            t, episode=dataclasses.replace(t.episode, rewards=t.episode.rewards + np.int8(1))
        )
        for t in trajectories
    ]
    with pytest.raises(ReplayMismatch, match="^trajectory [0-9a-f]+: .*step 0: .* receives"):
        mine(paid, [SHADOW], per_category=1, seed=0)


def test_episodes_of_the_published_program_are_mined(tmp_path, capsys):
    own = Curation(tmp_path, capsys)
    own("trajectories", "import", str(SAMPLE_2016), "--format", "lambdastar-2016")
    every = [dataclasses.replace(t, world="0" * 64) for t in store.load(own.workspace)]
    sources = [s.provenance["source"] for s in mine(every, EVERY, per_category=1, seed=0).scenarios]
    assert sources and all(source.startswith("lambdastar-2016") for source in sources)


def test_mine_writes_a_draft_that_freezes(bare):
    printed = json.loads(bare(f"mine tiny {EIGHT} --per-category 2 --json"))
    assert [row["category"] for row in printed["categories"]] == [c.name for c in EVERY]
    assert {row["chosen"] for row in printed["categories"]} == {2}
    strata = printed["strata"]
    assert {(one["source"], one["recorder"]) for one in strata} == {("agent", "local-search")}
    assert sum(one["chosen"] for one in strata) == 16
    there = sum(row["candidates"] for row in printed["categories"])
    assert sum(one["candidates"] for one in strata) == there
    assert len(open_draft(bare.workspace, "tiny").load_ids()) == 16
    assert "15 more are undecided" in bare("suite freeze tiny", code=1)
    bare("draft accept tiny --all")
    bare("suite freeze tiny")
    assert len(suites.load(bare.workspace, "tiny@1").scenarios) == 16


def test_mine_warns_of_a_category_that_it_cannot_fill_and_adds_no_world_twice(bare):
    out = bare("mine d --category shadow-evil --per-category 99")
    assert "warning: shadow-evil has fewer than 99 environments" in bare.warnings
    assert "where-is-good" not in out
    before = open_draft(bare.workspace, "d").load_ids()
    again = bare("mine d --category shadow-evil --per-category 99", code=1)
    assert "nothing new to mine: draft d has a candidate of every environment" in again
    assert open_draft(bare.workspace, "d").load_ids() == before


def test_mining_again_adds_candidates_unless_it_replaces_the_draft(bare):
    bare(f"mine d {TWO} --per-category 1")
    first = open_draft(bare.workspace, "d")
    said = bare(f"mine d {TWO} --per-category 2")
    assert "added to the 2 candidates that draft d had" in said
    more = open_draft(bare.workspace, "d")
    kept = [one.hash for one in more.summaries()]
    assert more.id == first.id and len(kept) == len(set(kept)) > 2
    assert set(first.load_ids()) < set(more.load_ids())
    bare(f"mine d {TWO} --per-category 2 --overwrite")
    third = open_draft(bare.workspace, "d")
    assert third.id != first.id and len(third.load_ids()) == 4


@pytest.mark.parametrize("more", ["", " --overwrite"])
def test_later_of_two_simultaneous_minings_of_a_draft_is_refused(bare, monkeypatch, more):
    carried_out = request.run_request
    if more:
        bare(f"mine d {TWO} --per-category 1")

    def meanwhile(*given: Any, **named: Any) -> request.MiningOutcome:
        monkeypatch.setattr(command, "run_request", carried_out)
        bare(f"mine d {TWO} --per-category 2{more}")
        return carried_out(*given, **named)

    monkeypatch.setattr(command, "run_request", meanwhile)
    said = bare(f"mine d {TWO} --per-category 3{more}", code=1)
    assert "draft d was created by another command meanwhile" in said
    assert len(open_draft(bare.workspace, "d").load_ids()) == 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("d --category fly", 2, "unknown category 'fly'"),
        ("d --category make-way", 1, "none of overcooked that fits"),
        ("d --partner nobody", 2, "no-op, replay or agent:NAME, found 'nobody'"),
        ("d --partner agent:", 2, "found 'agent:'"),
        ("d --partner agent:nobody", 2, "unknown agent 'nobody'"),
        ("d --per-category 0", 2, "--per-category of 1 or more"),
        ("'No Name'", 2, "suite name"),
        ("d", 1, "0 trajectories"),
    ],
)
def test_invalid_mining_request_is_refused_and_writes_nothing(tmp_path, capsys, words, code, said):
    own = Curation(tmp_path / "empty", capsys)
    assert said in own(f"mine {words}", code=code)
    assert not own.workspace.root.exists()


def test_partner_of_other_worlds_is_refused(bare):
    said = bare("mine d --partner agent:babyai-seeker", code=2)
    assert "agent:babyai-seeker plays only worlds of babyai, and the scenarios are of la" in said
