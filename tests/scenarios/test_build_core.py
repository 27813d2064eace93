"""The packaged suites of the sixteen: built again they are the same, by the rules they state."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Scenario
from sts.trajectories.types import Trajectory
from sts_scenarios import categories
from sts_scenarios.category import Label
from sts_scenarios.profiles import Profile
from tests.examples import recorded
from tests.reproduction.suites import build_core, dialogues, retiring
from tests.scenarios.scripted import episode
from tests.scenarios.test_moments import cut

CORE = store.load(Workspace.open("no-workspace-here"), "core@1").scenarios
TEN = [one for one in CORE if one.category == "clean-take"]


def profiles(every: list[Scenario], *passed: int) -> dict[str, Profile]:
    """Return profiles in which one that reads passes all, and another so many of ten."""
    done, not_done = Label("success", 1), Label("not_done", None)
    return {
        one.hash: Profile(
            one.hash, {"other": (*[done] * k, *[not_done] * (10 - k)), "reads": (done,)}
        )
        for one, k in zip(every, passed, strict=True)
    }


def retired(every: list[Scenario], made: dict[str, Profile]) -> dict[str, str]:
    why = retiring.retirements(every, made)
    return {id: one.reason for id, one in why.items()}


def test_what_is_passed_as_another_is_retired_and_of_a_category_a_fifth_at_most() -> None:
    alike = [dataclasses.replace(one, difficulty="easy") for one in TEN]
    why = retired(alike, profiles(alike, *[3] * 10))
    assert [*why] == ["clean-take-10", "clean-take-02"]
    assert [*why.values()] == [
        "10 are easy and 0 medium",
        "passed exactly as often by each agent as clean-take-01",
    ]
    assert retired(TEN, profiles(TEN, *range(10))) == {}
    turned = [*alike[:1], *(dataclasses.replace(one, series="s", turn=1) for one in alike[1:])]
    assert retired(turned, profiles(alike, *[3] * 10)) == {}


def test_what_tells_nobody_apart_goes_before_what_is_like_another() -> None:
    made = profiles(TEN, *[3] * 10)
    last = TEN[-1]
    flat: dict[str, tuple[Label, ...]] = {
        name: (Label("not_done", None),) for name in ("other", "reads")
    }
    why = retired(TEN, made | {last.hash: Profile(last.hash, flat)})
    assert [*why][0] == last.id and why[last.id] == "tells no agents apart: no agent passes"


def test_what_a_judge_cannot_tell_is_retired() -> None:
    crowd = episode("stay " * 10, start=(3, 3), others=[((3, 2), ""), ((3, 2), ""), ((3, 2), "")])
    two = episode("stay " * 10, start=(3, 3), others=[((3, 2), ""), ((3, 2), ""), ((2, 2), "")])
    far = episode("stay " * 10, start=(0, 0), others=[((3, 2), ""), ((3, 2), ""), ((3, 2), "")])
    said = [retiring.unclear(cut(what, "count-others")) for what in (crowd, two, far)]
    assert said == ["3 or more of those to be counted share a cell", "", ""]
    near, lost = ((2, 3),), ((4, 6),) + ((2, 3),) * 10
    for good, expected in ((near, True), (lost, False)):
        one = cut(episode("stay " * 10, start=(1, 3), good=good), "return-to-first")
        assert bool(retiring.unclear(one)) == expected


def test_of_what_there_is_most_the_last_goes_for_a_difficulty_of_which_there_are_few() -> None:
    levels = ["easy"] * 5 + ["medium"] * 2 + ["hard"] * 3
    every = [
        dataclasses.replace(one, difficulty=level) for one, level in zip(TEN, levels, strict=True)
    ]
    why = retiring.retirements(every, profiles(every, *range(10)))
    assert why == {"clean-take-05": retiring.Retired("5 are easy and 2 medium", "medium")}


def test_halves_of_a_pair_go_and_come_together() -> None:
    names = ["p", "p", "q", "q", *[""] * 6]
    asked = ["left", "right"] * 2 + [""] * 6
    every = [
        dataclasses.replace(one, pair=name, parameters={"asked": half})
        for one, name, half in zip(TEN, names, asked, strict=True)
    ]
    why = retired(every, profiles(every, 1, 2, 1, 3, 4, 5, 6, 7, 8, 9))
    assert [*why] == ["clean-take-03", "clean-take-04"] and why["clean-take-04"].startswith(
        "half of a pair: passed"
    )
    mined = [
        dataclasses.replace(one, id=f"clean-take-{n}", pair="r", parameters={"asked": half})
        for n, (one, half) in enumerate(zip(every[:2], asked[1::-1], strict=True), 11)
    ]
    wanted = dict.fromkeys(why, "easy")
    assert retiring.places(every, mined, wanted) == {
        "clean-take-12": "clean-take-03",
        "clean-take-11": "clean-take-04",
    }


def test_the_place_is_taken_by_what_has_the_answer_and_then_the_difficulty() -> None:
    def asking(number: int, answer: str, difficulty: str) -> Scenario:
        parameters = {"answer": answer}
        return dataclasses.replace(
            TEN[0], id=f"clean-take-{number}", difficulty=difficulty, parameters=parameters
        )

    gone = [asking(1, "up", "hard"), asking(2, "down", "easy")]
    mined = [
        asking(11, "left", "hard"),
        asking(12, "up", "easy"),
        asking(13, "up", "hard"),
        asking(14, "left", "easy"),
    ]
    wanted = {"clean-take-1": "hard", "clean-take-2": "easy"}
    assert retiring.places(gone, mined, wanted) == {
        "clean-take-13": "clean-take-1",
        "clean-take-14": "clean-take-2",
    }
    assert retiring.places(gone, mined[:1], wanted) == {"clean-take-11": "clean-take-1"}
    other_way = retiring.places(gone, mined, wanted | {"clean-take-1": "easy"})
    assert other_way == {"clean-take-12": "clean-take-1", "clean-take-14": "clean-take-2"}
    there = [*gone, asking(3, "left", "easy")]
    assert retiring.places(there, [*mined[:1], asking(15, "right", "hard")], wanted) == {
        "clean-take-15": "clean-take-1",
        "clean-take-11": "clean-take-2",
    }
    other = dataclasses.replace(mined[0], category="other")
    assert retiring.places(gone, [other], wanted) == {}


@pytest.fixture(scope="module")
def wandering() -> list[Trajectory]:
    size = {"team": 2, "steps": 50, "height": 10, "width": 10}
    agents = build_core.PERSON_LIKE, build_core.INSTRUCTED
    return [one for agent in agents for one in recorded(agent, count=60, seed=2, **size)]


def test_the_turns_of_a_dialogue_ask_one_participant_each_after_the_end_of_the_last(
    wandering: list[Trajectory],
) -> None:
    every = dialogues.dialogues(wandering, 2, ())
    by_id = {one.id: one for one in wandering}
    recorders = [by_id[turns[0].trajectory].participants[0].name for turns in every]
    assert recorders and len({*recorders}) == len(recorders)
    for turns in every:
        trajectory = by_id[turns[0].trajectory]
        assert trajectory.split == "test"
        assert [one.category for one in turns] == [*dialogues.TURNS]
        assert len({(one.trajectory, one.role) for one in turns}) == 1
        for one, later in zip(turns, turns[1:], strict=False):
            assert later.takeover >= one.takeover + categories.named(one.category).horizon
        for one in turns:
            asked = categories.named(one.category).moments(trajectory)
            assert (one.takeover, one.role) in {(c.moment, c.role) for c in asked}
    assert dialogues.dialogues(wandering[::-1], 2, ()) == every
    worlds = {by_id[turns[0].trajectory].world for turns in every}
    others = dialogues.dialogues(wandering, 2, worlds)
    assert not worlds & {by_id[turns[0].trajectory].world for turns in others}


def test_scripts_and_random_agents_are_a_large_share_of_what_is_recorded() -> None:
    episodes = {
        who: sum(count for agent, *_, count in build_core.RECORDINGS if agent == who)
        for who, *_ in build_core.RECORDINGS
    }
    assert episodes["random"] >= 0.3 * sum(episodes.values())
    assert episodes[build_core.PERSON_LIKE] >= 0.2 * sum(episodes.values())
    assert len({team for _, team, *_ in build_core.RECORDINGS}) == 8
    assert len({size for *_, size, _ in build_core.RECORDINGS}) >= 4


@pytest.mark.slow
def test_two_builds_agree_in_every_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_core, "EPISODES", 0.08)
    monkeypatch.setattr(build_core, "PER_CATEGORY", 5)
    first, second = (build_core.build(tmp_path / name) for name in ("a", "b"))
    assert [one.hash for one in first] == [one.hash for one in second]
    for suite in first:
        assert store.read(tmp_path / "a" / str(suite.version)).hash == suite.hash
        assert suite.provenance["rules"]["retired"] == retiring.RULE
    old, new = ({one.id for one in suite.scenarios} for suite in first)
    assert first[1].parent == first[0].label == "core@1"
    assert len(old & new) >= 0.8 * len(old) and old - new
    reasons = {change.id: change.reason for change in first[1].changes}
    assert all(reasons[id] for id in (old - new) | (new - old))


def test_a_build_without_a_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert build_core.main([]) == 2
    assert "expected OUT" in capsys.readouterr().err
