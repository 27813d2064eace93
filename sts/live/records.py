"""Records of ended sessions: a trajectory, or a person's continuation of a scenario."""

from pathlib import Path

import numpy as np

from sts.continuations.continuation import Continuation, make_continuation
from sts.engine.replay import verify
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, ReplayMismatch
from sts.live.game import Game
from sts.live.types import EMPTY
from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Player, Trajectory


def get_journal_path(workspace: Workspace, session: str) -> Path:
    """Return the path of a session's journal."""
    return workspace.path("live", "sessions", f"{session}.jsonl")


def store_live_trajectory(workspace: Workspace, game: Game) -> Trajectory:
    """Store the trajectory of an ended session, after a replay, and note it in the journal.

    An empty player is the script "no-op". Instructions have the category
    "live". Provenance states the session and the kind of everyone who gave instructions.

    Raises:
      ArgumentError: the session has not ended, or has no steps.
      ReplayMismatch: the episode does not replay.
      OSError: it cannot be written.
    """
    episode, opening = _make_episode(game), game.opening
    by_player = {p.player: p for p in game.participants}
    participants = [by_player.get(player, EMPTY) for player in range(episode.n_players)]
    players = tuple(
        Player("script", "no-op") if p.kind == "empty" else Player(p.kind, p.name)
        for p in participants
    )
    instructions = tuple(
        Instruction(
            told.text,
            "live",
            told.step,
            "setter",
            player=told.player,
            mark=told.mark,
            marked_at=told.marked_at,
        )
        for told in game.told
    )
    setters = sorted({game.participants[told.by].kind for told in game.told})
    provenance = collect_provenance() | {
        "session": opening.id,
        "study": opening.study,
        "activity": opening.activity,
        "practice": opening.practice,
        "setters": setters,
        "tick": opening.tick,
        "ended": game.ended,
    }
    world = game.domain.world_id(episode.state)
    source = f"sts live {opening.id}"
    trajectory = Trajectory(episode, players, instructions, world, source, provenance)
    store.save(workspace, [trajectory])
    game.note_stored(trajectory.id)
    return trajectory


def make_live_continuation(game: Game) -> Continuation:
    """Return a person's continuation of a scenario, after a replay.

    Raises:
      ArgumentError: the session plays no scenario, or ended before its last step.
      ReplayMismatch: the episode does not replay.
    """
    scenario = game.scenario
    if scenario is None or game.time != scenario.context + scenario.horizon:
        raise ArgumentError(f"session {game.opening.id} did not play a scenario to its end")
    log_probs = np.stack([step.log_probs for step in game.steps])
    return make_continuation(
        scenario,
        game.make_identity(),
        _make_episode(game),
        log_probs=log_probs[:, scenario.players],
        sees=game.domain.sees,
        deterministic=False,
        seconds=game.seconds,
        provenance=collect_provenance() | {"session": game.opening.id, "tick": game.opening.tick},
    )


def _make_episode(game: Game) -> Episode:
    """Return what happened, after a replay."""
    if not game.ended or not game.steps:
        raise ArgumentError(f"session {game.opening.id} has no steps, or has not ended")
    actions, utterances, rewards, _ = map(np.stack, zip(*game.steps, strict=True))
    scene = np.stack(game.scenes)
    episode = Episode(game.opening.domain, game.opening.state, actions, utterances, rewards, scene)
    (mismatch,) = verify([episode])
    if mismatch is not None:
        raise ReplayMismatch(
            f"session {game.opening.id} does not replay: {mismatch.description}",
            step=mismatch.step,
        )
    return episode
