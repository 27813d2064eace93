"""A person plays: the agents' observation, turn by turn, kept as a continuation."""

import numpy as np
import pytest

from sts.continuations import human, store
from sts.continuations.takeover import compute_shape, make_script, make_teams
from sts.domains import load_domain
from sts.engine.lockstep import play_episodes
from sts.engine.replay import verify
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.worlds.lambda_star.domain import Batch
from tests.examples import play_turns, scenarios

SAYS = (0, 0, 1, 0, 0, 0, 0, 0)
TURNS = list(zip(range(8), SAYS, strict=True))


def test_person_sees_the_observation_of_an_agent_and_no_more():
    (one,) = scenarios(1)
    seen = play_turns(one, TURNS[:3]).view()
    assert len(seen["frames"]) == one.takeover + 3 + 1
    world = load_domain("lambda-star")
    worlds = world.restore([one.recording.state])
    for frame in range(one.takeover + 1):
        o = worlds.observe(one.players, team=one.players, world=False)
        sight = seen["frames"][frame]
        assert [c["good"] for c in sight["cells"]] == o.good[0, 0].tolist()
        assert [c["evil"] for c in sight["cells"]] == o.evil[0, 0].tolist()
        assert [c["reward"] * 2 for c in sight["cells"]] == o.reward[0, 0].tolist()
        assert sight["row"] * sight["width"] + sight["column"] == o.cell[0, 0]
        if frame < one.takeover:
            worlds.step(one.recording.actions[None, frame], one.recording.utterances[None, frame])
    assert set(seen["frames"][0]["cells"][0]) == {"good", "evil", "others", "reward"}


def test_played_continuation_is_stored_once_and_replays(tmp_path):
    workspace = Workspace.open(str(tmp_path))
    (one,) = scenarios(1)
    kept = play_turns(one, TURNS).finish(workspace, seconds=9.5)
    again = play_turns(one, TURNS[::-1]).finish(workspace, seconds=9.5)
    assert again.content_hash == kept.content_hash
    other = play_turns(one, TURNS, attempt=1).finish(workspace, seconds=9.5)
    found = store.load(workspace, {one.hash})
    assert {c.id for c in found} == {kept.id, other.id}
    assert kept.agent == "human"
    assert kept.episode.actions[one.takeover :, 0].tolist() == list(range(8))
    assert kept.episode.utterances[one.takeover + 2, 0] == 1
    assert np.isnan(kept.log_probs).all()
    assert verify([c.episode for c in found]) == [None, None]
    assert store.find_continuation(workspace, kept.id[:8]).id == kept.id


def test_invalid_turns_are_rejected_without_side_effects(tmp_path):
    (one,) = scenarios(1)
    begun = play_turns(one, TURNS[:7])
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
    with pytest.raises(ArgumentError, match="evaluates a team"):
        play_turns(scenarios(1, players=(0, 1))[0], [])


def test_turn_takes_one_environment_step(monkeypatch):
    steps, stepped = 0, Batch.step

    def counted(worlds, *given):
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


def test_view_from_a_frame_holds_only_what_came_since():
    (one,) = scenarios(1)
    begun = play_turns(one, TURNS[:5])
    first, last = play_turns(one, TURNS[:2]).view(), play_turns(one, TURNS).view()
    assert last["frames"][: len(first["frames"])] == first["frames"]
    assert (first["finished"], last["finished"]) == (False, True)
    whole, since = begun.view(), begun.view(one.takeover + 1 + 3)
    assert since["frames"] == whole["frames"][-2:] and since["played"] == 5
    assert whole["turns"] == [list(turn) for turn in TURNS[:5]]
    assert since["turns"] == whole["turns"][3:]
    assert begun.view(one.takeover + 1)["turns"] == whole["turns"]


@pytest.mark.parametrize("partner", ["no-op", "replay", "agent:random"])
def test_turns_give_the_episode_of_lockstep_play(partner, tmp_path):
    (one,) = scenarios(1, partner=partner)
    kept = play_turns(one, TURNS).finish(Workspace.open(str(tmp_path)), seconds=1.0).episode
    world, form = load_domain("lambda-star"), compute_shape(one)
    script = make_script(world, form, [one])
    script.actions[0, one.takeover :, 0], script.utterances[0, one.takeover :, 0] = np.transpose(
        TURNS
    )
    script.forced[:, 0] = True
    teams = make_teams(form, None, [human.make_identity(one, "ann", 0)])
    worlds, steps = world.restore([one.recording.state]), one.takeover + one.horizon
    together = play_episodes(world, worlds, teams, steps=steps, script=script)
    for name in ("actions", "utterances", "rewards", "scene"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(together, name)[0])
