"""Mining: the test side only, one moment a world and category, the same for the same seed."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts.cli.main import main
from sts.episodes import Episode, Instruction
from sts.errors import ReplayMismatch, UnknownName
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.drafts import open_draft
from sts.suites.lint import lint
from sts.trajectories import store
from sts.trajectories.types import Trajectory
from sts_scenarios import api as command
from sts_scenarios import categories, mining
from sts_scenarios.category import CONTEXT, Candidate
from sts_scenarios.mining import order
from tests.examples import SAMPLE_2016, on_test_side, recorded, state_after

NAMES = (
    *("count-others", "keep-beside", "last-move", "return-to-first"),
    *("shadow-evil", "when-evil", "where-is-good", "where-was-evil"),
)
EVERY = [categories.named(name) for name in NAMES]
EIGHT = [word for name in NAMES for word in ("--category", name)]
TWO = EIGHT[:4]


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded(count=60, team=2, steps=40, height=8, width=9, seed=5)


@pytest.fixture(scope="module")
def mined(trajectories: list[Trajectory]) -> mining.Mined:
    return mining.mine(trajectories, EVERY, per_category=3, seed=0)


@pytest.fixture
def workspace(tmp_path: Path, trajectories: list[Trajectory]) -> Workspace:
    workspace = Workspace.open(str(tmp_path / "w"))
    store.save(workspace, trajectories)
    return workspace


def at_step_20(
    hears: bool, trajectory: Trajectory, context: int, horizon: int
) -> Iterator[Candidate]:
    yield Candidate(20, 0, "easy", hears=hears)


def test_what_was_said_in_a_recording_is_heard_where_a_candidate_says_so(
    trajectories: list[Trajectory],
) -> None:
    one = next(t for t in trajectories if t.split == "test")
    said = [("Before.", 2), ("Within.", 15), ("At takeover.", 20), ("After.", 25)]
    told = [Instruction(text, "talk", at, "setter") for text, at in said]
    talked = dataclasses.replace(one, instructions=tuple(told))
    for hears, expected in (
        (False, []),
        (True, [("Before.", 0), ("Within.", 5), (said[2][0], 10)]),
    ):
        category = dataclasses.replace(
            categories.named("find-good-again"),
            fits=lambda scenario: None,
            candidates=partial(at_step_20, hears),
        )
        (found,) = mining.mine([talked], [category], per_category=1, seed=0).scenarios
        assert [(i.text, i.given_at) for i in found.heard] == expected
        assert found.instructions[-1] == found.instruction
        assert lint([found]) == []


def sts(workspace: Workspace, *words: str) -> int:
    return main([*words, "--workspace", str(workspace.root)])


def hashes(found: mining.Mined) -> list[str]:
    return [s.row_hash for s in found.scenarios]


def test_being_made_in_the_folder_of_its_world_is_all_that_installs_a_category() -> None:
    folder = Path(categories.__file__).parent
    made = re.compile(
        r"^[A-Z_]+ = (Category|build_(category|question|instruction|pair))\(", re.MULTILINE
    )
    count = sum(len(made.findall(file.read_text())) for file in folder.rglob("*.py"))
    assert count == len(categories.installed())


def test_an_unknown_category_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="find-good-again"):
        categories.named("find-evil-again")


def test_the_same_seed_mines_the_same_scenarios_in_any_order_of_files(
    trajectories: list[Trajectory], mined: mining.Mined
) -> None:
    again = mining.mine(trajectories[::-1], EVERY, per_category=3, seed=0)
    assert hashes(again) == hashes(mined)


def test_another_seed_mines_others(trajectories: list[Trajectory], mined: mining.Mined) -> None:
    other = mining.mine(trajectories, EVERY, per_category=3, seed=1)
    assert {s.hash for s in other.scenarios} != {s.hash for s in mined.scenarios}


def test_only_the_test_side_is_mined(trajectories: list[Trajectory], mined: mining.Mined) -> None:
    train = [t for t in trajectories if t.split == "train"]
    assert train
    assert not mining.mine(train, EVERY, per_category=3, seed=0).scenarios
    worlds = {t.world for t in on_test_side(trajectories)}
    assert {s.world for s in mined.scenarios} <= worlds


def test_what_is_mined_passes_the_lint_of_suites(mined: mining.Mined) -> None:
    assert len(mined.scenarios) > 12
    assert lint(mined.scenarios) == []


def test_what_is_mined_fits_its_moment(mined: mining.Mined) -> None:
    for scenario in mined.scenarios:
        assert categories.named(scenario.category).fits(scenario) is None


def test_what_its_category_finds_unfit_is_left_out_and_said(
    trajectories: list[Trajectory],
) -> None:
    fussy = dataclasses.replace(
        categories.named("shadow-evil"),
        fits=lambda s: "too near" if s.difficulty == "easy" else None,
    )
    every = mining.mine(trajectories, [categories.named("shadow-evil")], per_category=6, seed=0)
    found = mining.mine(trajectories, [fussy], per_category=6, seed=0)
    assert found.unfit == {"shadow-evil": "too near"} and not every.unfit
    kept = [s.hash for s in every.scenarios if s.difficulty != "easy"]
    assert [s.hash for s in found.scenarios] == kept and len(kept) < len(every.scenarios)


def test_a_category_takes_a_world_once(trajectories: list[Trajectory]) -> None:
    one = categories.named("where-is-good")
    found = mining.mine(trajectories, [one], per_category=1000, seed=0)
    worlds = [s.world for s in found.scenarios]
    assert len(worlds) == len(set(worlds)) == found.worlds["where-is-good"]
    assert found.candidates["where-is-good"] > len(worlds)


def test_teams_that_played_one_world_share_its_one_place(trajectories: list[Trajectory]) -> None:
    world = on_test_side(trajectories)[0]
    twin = dataclasses.replace(world, source="another recording of the same world")
    one = categories.named("when-evil")
    assert len(mining.mine([world, twin], [one], per_category=5, seed=0).scenarios) == 1


def test_candidates_leave_room_for_context_and_continuation(
    trajectories: list[Trajectory],
) -> None:
    for category in EVERY:
        for trajectory in on_test_side(trajectories)[:4]:
            for candidate in category.moments(trajectory):
                assert CONTEXT <= candidate.moment
                assert candidate.moment + category.horizon <= trajectory.episode.steps


def test_the_recording_is_cut_where_the_scenario_says(
    trajectories: list[Trajectory], mined: mining.Mined
) -> None:
    whole = {t.id: t for t in trajectories}
    scenario = mined.scenarios[0]
    source = whole[scenario.trajectory]
    start, takeover = scenario.context_start, scenario.context_start + scenario.takeover
    assert scenario.recording.state == state_after(source, start)
    assert scenario.takeover_hash == content_hash(state_after(source, takeover))
    assert (scenario.recording.scene[0] == source.episode.scene[start]).all()


def test_a_trajectory_that_does_not_replay_is_refused(trajectories: list[Trajectory]) -> None:
    episode = trajectories[0].episode
    scene = episode.scene.copy()
    scene[7, 2] = (scene[7, 2] + 1) % 72
    altered = Episode(
        episode.domain, episode.state, episode.moves, episode.says, episode.rewards, scene
    )
    with pytest.raises(ReplayMismatch, match="step 6: object 2 is at"):
        mining.states_at(altered, (3, 9))
    assert mining.states_at(altered, (3,)) == mining.states_at(episode, (3,))


def test_a_trajectory_whose_rewards_are_not_what_was_earned_is_refused_by_name(
    trajectories: list[Trajectory],
) -> None:
    rewards = [one.episode.rewards + np.int8(1) for one in trajectories]
    altered = [
        dataclasses.replace(one, episode=dataclasses.replace(one.episode, rewards=other))
        for one, other in zip(trajectories, rewards, strict=True)
    ]
    with pytest.raises(ReplayMismatch, match="^trajectory [0-9a-f]+: .*step 0: .* receives"):
        mining.mine(altered, [categories.named("shadow-evil")], per_category=1, seed=0)


def test_each_scenario_names_its_recording_and_whether_it_was_done_there(
    mined: mining.Mined,
) -> None:
    for scenario in mined.scenarios:
        label = categories.named(scenario.category).label
        done = label(scenario.recording, scenario.takeover, scenario.roles, scenario.parameters)
        assert ("done-in-recording" in scenario.tags) == (done.verdict == "success")
        assert scenario.provenance["source"].startswith("sts record local-search seed 5")
        assert scenario.provenance["recorded_by"] == ["local-search", "local-search"]


def test_episodes_of_the_published_program_are_mined_too(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path))
    assert (
        sts(workspace, "trajectories", "import", str(SAMPLE_2016), "--format", "lambdastar-2016")
        == 0
    )
    every = [dataclasses.replace(t, world="0" * 64) for t in store.load(workspace)]
    found = mining.mine(every, EVERY, per_category=1, seed=0)
    assert found.scenarios
    assert all(s.provenance["source"].startswith("lambdastar-2016") for s in found.scenarios)


def test_the_command_writes_a_draft_that_freezes(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "tiny", *EIGHT, "--per-category", "2", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["category"] for row in printed["categories"]] == [c.name for c in EVERY]
    assert {row["chosen"] for row in printed["categories"]} == {2}
    strata = printed["strata"]
    assert {(one["source"], one["recorder"]) for one in strata} == {("agent", "local-search")}
    assert sum(one["chosen"] for one in strata) == 16
    there = sum(row["candidates"] for row in printed["categories"])
    assert sum(one["candidates"] for one in strata) == there
    assert len(open_draft(workspace, "tiny").ids()) == 16
    assert sts(workspace, "suite", "freeze", "tiny") == 1
    assert "15 more are undecided" in capsys.readouterr().err
    assert sts(workspace, "draft", "accept", "tiny", "--all") == 0
    assert sts(workspace, "suite", "freeze", "tiny") == 0
    assert len(suites.load(workspace, "tiny@1").scenarios) == 16


def test_a_partner_of_other_worlds_is_refused(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "d", "--partner", "agent:babyai-seeker") == 2
    said = "agent:babyai-seeker plays only worlds of babyai, and the scenarios are of lambda-star"
    assert said in capsys.readouterr().err


def test_the_command_warns_of_a_category_it_cannot_fill(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "big", "--category", "shadow-evil", "--per-category", "99") == 0
    captured = capsys.readouterr()
    assert "warning: shadow-evil has fewer than 99 environments" in captured.err
    assert "where-is-good" not in captured.out


def test_what_is_mined_again_is_added_and_a_draft_is_replaced_only_when_asked(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sts(workspace, "mine", "d", *TWO, "--per-category", "1") == 0
    first = open_draft(workspace, "d")
    assert sts(workspace, "mine", "d", *TWO, "--per-category", "2") == 0
    assert "added to the 2 candidates that draft d had" in capsys.readouterr().out
    more = open_draft(workspace, "d")
    hashes = [one.hash for one in more.summaries()]
    assert more.id == first.id and len(hashes) == len(set(hashes)) > 2
    assert set(first.ids()) < set(more.ids())
    assert sts(workspace, "mine", "d", *TWO, "--per-category", "2", "--replace") == 0
    assert open_draft(workspace, "d").id != first.id
    assert len(open_draft(workspace, "d").ids()) == 4


def test_worlds_that_have_a_candidate_are_not_mined_again_which_is_said(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = ("mine", "d", "--category", "shadow-evil", "--per-category", "99")
    assert sts(workspace, *mine) == 0
    before = open_draft(workspace, "d").ids()
    capsys.readouterr()
    assert sts(workspace, *mine) == 1
    assert (
        "nothing new to mine: draft d has a candidate of every environment"
        in capsys.readouterr().err
    )
    assert open_draft(workspace, "d").ids() == before


@pytest.mark.parametrize("more", [(), ("--replace",)])
def test_of_two_that_mine_one_draft_at_once_the_later_is_refused(
    workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
) -> None:
    name, carried_out = f"at-once{len(more)}", order.carried_out
    if more:
        assert sts(workspace, "mine", name, *TWO, "--per-category", "1") == 0

    def beside(*given: Any, **named: Any) -> order.Carried:
        monkeypatch.setattr(command, "carried_out", carried_out)
        assert sts(workspace, "mine", name, *TWO, "--per-category", "2", *more) == 0
        return carried_out(*given, **named)

    monkeypatch.setattr(command, "carried_out", beside)
    capsys.readouterr()
    assert sts(workspace, "mine", name, *TWO, "--per-category", "3", *more) == 1
    error = capsys.readouterr().err
    assert f"draft {name} was created by another command meanwhile" in error.splitlines()[-1]
    assert len(open_draft(workspace, name).ids()) == 4


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("mine", "d", "--category", "fly"), 2, "unknown category 'fly'"),
        (("mine", "d", "--category", "make-way"), 1, "none of overcooked that fits"),
        (("mine", "d", "--partner", "nobody"), 2, "no-op, replay or agent:NAME, found 'nobody'"),
        (("mine", "d", "--partner", "agent:"), 2, "found 'agent:'"),
        (("mine", "d", "--partner", "agent:nobody"), 2, "unknown agent 'nobody'"),
        (("mine", "d", "--per-category", "0"), 2, "--per-category of 1 or more"),
        (("mine", "No Name"), 2, "suite name"),
        (("mine", "d"), 1, "0 trajectories"),
    ],
)
def test_what_cannot_be_mined_is_one_line_and_writes_nothing(
    tmp_path: Path,
    words: tuple[str, ...],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    workspace = Workspace.open(str(tmp_path / "empty"))
    assert sts(workspace, *words) == code
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not workspace.root.exists()


def test_more_than_there_is_is_all_there_is(trajectories: list[Trajectory]) -> None:
    most = mining.mine(trajectories, EVERY[:2], per_category=10**18, seed=0)
    assert hashes(most) == hashes(mining.mine(trajectories, EVERY[:2], per_category=1000, seed=0))
