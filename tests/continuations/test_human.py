"""A person plays: the agents' observation, turn by turn, kept as a continuation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts.continuations import human, store
from sts.continuations.takeover import make_script, make_teams, shape_of
from sts.domains import domain
from sts.engine.lockstep import play
from sts.engine.replay import verify
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.worlds.lambda_star.domain import Batch
from tests.examples import played, scenarios

SAYS = (0, 0, 1, 0, 0, 0, 0, 0)
TURNS = list(zip(range(8), SAYS, strict=True))


def test_a_person_sees_what_an_agent_sees_and_no_more() -> None:
    (one,) = scenarios(1)
    seen = played(one, TURNS[:3]).view()
    assert len(seen["frames"]) == one.takeover + 3 + 1
    world = domain("lambda-star")
    worlds = world.restore([one.recording.state])
    for frame in range(one.takeover + 1):
        o = worlds.observe(one.roles, team=one.roles, world=False)
        sight = seen["frames"][frame]
        assert [c["good"] for c in sight["cells"]] == o.good[0, 0].tolist()
        assert [c["evil"] for c in sight["cells"]] == o.evil[0, 0].tolist()
        assert [c["reward"] * 2 for c in sight["cells"]] == o.reward[0, 0].tolist()
        assert sight["row"] * sight["width"] + sight["column"] == o.cell[0, 0]
        if frame < one.takeover:
            worlds.step(one.recording.moves[None, frame], one.recording.says[None, frame])
    assert set(seen["frames"][0]["cells"][0]) == {"good", "evil", "others", "reward"}


def test_more_turns_leave_what_was_seen_as_it_was() -> None:
    (one,) = scenarios(1)
    first = played(one, TURNS[:2]).view()
    later = played(one, TURNS).view()
    assert later["frames"][: len(first["frames"])] == first["frames"]
    assert (first["finished"], later["finished"]) == (False, True)


def test_a_played_continuation_is_kept_once_and_replays(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path))
    (one,) = scenarios(1)
    kept = played(one, TURNS).finish(workspace, seconds=9.5)
    again = played(one, TURNS[::-1]).finish(workspace, seconds=9.5)
    assert again.content_hash == kept.content_hash
    other = played(one, TURNS, attempt=1).finish(workspace, seconds=9.5)
    found = store.load(workspace, {one.hash})
    assert {c.id for c in found} == {kept.id, other.id}
    assert kept.agent == "human"
    assert kept.episode.moves[one.takeover :, 0].tolist() == list(range(8))
    assert kept.episode.says[one.takeover + 2, 0] == 1
    assert np.isnan(kept.log_probs).all()
    assert verify(domain("lambda-star"), [c.episode for c in found]) == [None, None]
    assert store.find(workspace, kept.id[:8]).id == kept.id


def test_an_unfinished_or_impossible_turn_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    (one,) = scenarios(1)
    begun = played(one, TURNS[:7])
    with pytest.raises(ArgumentError, match="expected 8 turns, found 7"):
        begun.finish(Workspace.open(str(tmp_path)), seconds=1.0)
    before = begun.view()
    for bad in ((9, 0), (-1, 0), (0, 22), (0, -1)):
        with pytest.raises(ArgumentError, match="known moves and tokens"):
            begun.take(human.Turn(*bad))
    assert begun.view() == before
    begun.take(human.Turn(*TURNS[7]))
    with pytest.raises(ArgumentError, match="at most 8 turns"):
        begun.take(human.Turn(0, 0))


def test_a_team_is_not_played_by_one_person() -> None:
    (one,) = scenarios(1, roles=(0, 1))
    with pytest.raises(ArgumentError, match="evaluates a team"):
        played(one, [])


def test_a_turn_is_one_step_of_the_world_however_many_came_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps, stepped = 0, Batch.step

    def counted(worlds: Batch, *given: Any) -> None:
        nonlocal steps
        steps += 1
        stepped(worlds, *given)

    (one,) = scenarios(1, partner="agent:local-search")
    monkeypatch.setattr(Batch, "step", counted)
    begun = human.Play(one, person="ann", attempt=0)
    assert steps == one.takeover
    for n, turn in enumerate(TURNS, 1):
        begun.take(human.Turn(*turn))
        assert steps == one.takeover + n


def test_a_view_from_a_frame_on_holds_what_came_since_and_no_more() -> None:
    (one,) = scenarios(1)
    begun = played(one, TURNS[:5])
    whole, since = begun.view(), begun.view(one.takeover + 1 + 3)
    assert since["frames"] == whole["frames"][-2:] and since["played"] == 5
    assert whole["turns"] == [list(turn) for turn in TURNS[:5]]
    assert since["turns"] == whole["turns"][3:]
    assert begun.view(one.takeover + 1)["turns"] == whole["turns"]


@pytest.mark.parametrize("partner", ["no-op", "replay", "agent:random"])
def test_turns_made_one_by_one_give_what_lock_step_play_gives(partner: str, tmp_path: Path) -> None:
    (one,) = scenarios(1, partner=partner)
    kept = played(one, TURNS).finish(Workspace.open(str(tmp_path)), seconds=1.0).episode
    world, form = domain("lambda-star"), shape_of(one)
    script = make_script(world, form, [one])
    script.moves[0, one.takeover :, 0], script.says[0, one.takeover :, 0] = np.transpose(TURNS)
    script.forced[:, 0] = True
    teams = make_teams(form, None, [human.identity(one, "ann", 0)])
    together = play(
        world,
        world.restore([one.recording.state]),
        teams,
        steps=one.takeover + one.horizon,
        script=script,
    )
    for name in ("moves", "says", "rewards", "scene"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(together, name)[0])
