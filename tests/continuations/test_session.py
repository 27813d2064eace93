"""The human seat: the agents' observation, turn by turn, kept as a continuation."""

from pathlib import Path

import numpy as np
import pytest

from sts.continuations import session, store
from sts.domains import domain
from sts.engine.replay import verify
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from tests.examples import scenarios

SAYS = (0, 0, 1, 0, 0, 0, 0, 0)
TURNS = [session.Turn(move, say) for move, say in zip(range(8), SAYS, strict=True)]


def test_a_person_sees_what_an_agent_sees_and_no_more() -> None:
    (one,) = scenarios(1)
    seen = session.view(one, TURNS[:3], person="ann", attempt=0)
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
    first = session.view(one, TURNS[:2], person="ann", attempt=0)
    later = session.view(one, TURNS, person="ann", attempt=0)
    assert later["frames"][: len(first["frames"])] == first["frames"]
    assert (first["finished"], later["finished"]) == (False, True)


def test_a_played_continuation_is_kept_once_and_replays(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path))
    (one,) = scenarios(1)
    kept = session.finish(workspace, one, TURNS, person="ann", attempt=0, seconds=9.5)
    again = session.finish(workspace, one, TURNS[::-1], person="ann", attempt=0, seconds=9.5)
    assert again.content_hash == kept.content_hash
    other = session.finish(workspace, one, TURNS, person="ann", attempt=1, seconds=9.5)
    found = store.load(workspace, {one.hash})
    assert {c.id for c in found} == {kept.id, other.id}
    assert kept.agent == "human"
    assert kept.episode.moves[one.takeover :, 0].tolist() == list(range(8))
    assert kept.episode.says[one.takeover + 2, 0] == 1
    assert np.isnan(kept.log_probs).all()
    assert verify(domain("lambda-star"), [c.episode for c in found]) == [None, None]
    assert store.find(workspace, kept.id[:8]).id == kept.id


def test_an_unfinished_or_impossible_turn_is_refused(tmp_path: Path) -> None:
    (one,) = scenarios(1)
    with pytest.raises(ArgumentError, match="expected 8 turns, found 7"):
        session.finish(
            Workspace.open(str(tmp_path)), one, TURNS[:7], person="ann", attempt=0, seconds=1.0
        )
    for bad in (session.Turn(9, 0), session.Turn(-1, 0), session.Turn(0, 22), session.Turn(0, -1)):
        with pytest.raises(ArgumentError, match="known moves and tokens"):
            session.view(one, [bad], person="ann", attempt=0)
    with pytest.raises(ArgumentError, match="at most 8 turns"):
        session.view(one, [*TURNS, TURNS[0]], person="ann", attempt=0)


def test_a_team_is_not_played_by_one_person() -> None:
    (one,) = scenarios(1, roles=(0, 1))
    with pytest.raises(ArgumentError, match="evaluates a team"):
        session.view(one, [], person="ann", attempt=0)
