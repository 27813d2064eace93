"""Replay of episodes, with each step's scene and rewards compared to the recording."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import Worlds, action_space, load_domain, observation_shapes, silent_utterances
from sts.engine import session
from sts.engine.session import Actions
from sts.episodes import Episode
from sts.errors import ReplayMismatch


class Mismatch(NamedTuple):
    """A difference between a replay and its recording: the step, and a description."""

    step: int
    description: str


_START_DIFFERS = Mismatch(0, "step 0: the recorded scene differs from the state's")
_SIZES_DIFFER = Mismatch(0, "step 0: the state has other players or objects than the recording")


class Recordings(NamedTuple):
    """Scenes and rewards of B episodes of at most T steps; zeros follow the shorter ones."""

    steps: NDArray[np.int64]  # int64[B]
    scene: NDArray[np.uint16]  # uint16[B, T + 1, K]
    rewards: NDArray[Any]  # [B, T, P]


def stack_recordings(episodes: Sequence[Episode], steps: Sequence[int]) -> Recordings:
    """Stack the first `steps` of each episode; they agree in their numbers of players and objects.

    Repeated episodes are copied once.
    """
    first = episodes[0]
    number: dict[tuple[int, int], int] = {}
    each = [*zip(episodes, steps, strict=True)]
    rows = [number.setdefault((id(episode), n), len(number)) for episode, n in each]
    distinct = dict(zip(rows, episodes, strict=True))
    lengths = np.array([n for _, n in number])
    scene = np.zeros((len(number), lengths.max() + 1, first.scene.shape[1]), np.uint16)
    rewards = np.zeros((len(number), lengths.max(), first.n_players), first.rewards.dtype)
    for row, episode in distinct.items():
        n = lengths[row]
        scene[row, : n + 1], rewards[row, :n] = episode.scene[: n + 1], episode.rewards[:n]
    return Recordings(lengths[rows], scene[rows], rewards[rows])


def find_mismatches(worlds: Worlds, recorded: Recordings, step: int) -> dict[int, Mismatch]:
    """Compare worlds after `step` to the recordings; return the mismatches by episode index.

    Episodes of which fewer steps are recorded are not compared. The worlds may be fewer than the
    recordings, the first of them.
    """
    count = len(worlds.rewards)
    moved = worlds.scene != recorded.scene[:count, step + 1]
    rewards = recorded.rewards[:count, step]
    differs = _comparable_rewards(worlds.rewards) != _comparable_rewards(rewards)
    out: dict[int, Mismatch] = {}
    if not (moved.any() or differs.any()):
        return out
    off = (moved.any(1) | differs.any(1)) & (recorded.steps[:count] > step)
    for b in np.flatnonzero(off).tolist():
        if moved[b].any() and hasattr(worlds, "frames"):  # whose scenes are digests
            difference = "the digest of the world differs from the recording"
        elif moved[b].any():
            k = int(np.argmax(moved[b]))
            found, expected = worlds.scene[b, k], recorded.scene[b, step + 1, k]
            difference = f"object {k} is at {found}, recorded at {expected}"
        else:
            p = int(np.argmax(differs[b]))
            units = " (in reward units)" if rewards.dtype == np.int8 else ""
            received = worlds.rewards[b, p]
            difference = f"player {p} receives {received}, recorded {rewards[b, p]}{units}"
        out[b] = Mismatch(step, f"step {step}: {difference}")
    return out


def _comparable_rewards(rewards: NDArray[Any]) -> NDArray[Any]:
    """Return rewards in a form in which only bit-identical ones are equal."""
    return rewards.view(np.uint64) if rewards.dtype == np.float64 else rewards


def iterate_replay(episodes: Sequence[Episode]) -> Iterator[tuple[Worlds, dict[int, Mismatch]]]:
    """Replay episodes of one domain, T, P and K; yield the worlds in each of the T + 1 states.

    With the worlds come the new differences from the recordings, by the index of the episode. It
    stops at the first state if the states have other players or objects than the recordings.

    Raises:
      DamagedData: as for `replay_worlds`.
    """
    first = episodes[0]
    domain = load_domain(first.domain)
    game = session.open_session(domain, domain.restore([e.state for e in episodes]))
    worlds = game.worlds
    actions = np.stack([e.actions for e in episodes], axis=1)
    utterances = np.stack([e.utterances for e in episodes], axis=1)
    session.check_actions(domain, Actions(actions, utterances))
    sizes = worlds.scene.shape[1], worlds.rewards.shape[1]
    if sizes != (first.scene.shape[1], first.n_players):
        yield worlds, dict.fromkeys(range(len(episodes)), _SIZES_DIFFER)
        return
    recorded = stack_recordings(episodes, [e.steps for e in episodes])
    off = (worlds.scene != recorded.scene[:, 0]).any(1)
    yield worlds, dict.fromkeys(np.flatnonzero(off).tolist(), _START_DIFFERS)
    actions = actions.astype(action_space(domain).dtype, copy=False)
    utterances = utterances.astype(silent_utterances(domain, ()).dtype, copy=False)
    for step in range(first.steps):
        game.repeat(Actions(actions[step], utterances[step]))
        yield worlds, find_mismatches(worlds, recorded, step)


def replay_worlds(episodes: Sequence[Episode], names: Sequence[str]) -> Iterator[Worlds]:
    """Replay episodes as `iterate_replay` does; yield the worlds of all T + 1 states.

    The worlds are a single batch that is stepped in place; do not modify it. `names` are used in
    errors.

    Raises:
      ReplayMismatch: a replay differs from its recording; names the episode and the step.
      DamagedData: a state cannot be restored, or a recorded action or utterance is invalid.
    """
    for worlds, mismatches in iterate_replay(episodes):
        for b, (step, description) in mismatches.items():
            raise ReplayMismatch(f"{names[b]}: {description}", step=step)
        yield worlds


def verify(episodes: Sequence[Episode]) -> list[Mismatch | None]:
    """Replay episodes; return the first mismatch of each, or None."""
    groups: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for i, episode in enumerate(episodes):
        size = episode.steps, episode.n_players, episode.scene.shape[1]
        groups[episode.domain, size, observation_shapes(episode)].append(i)
    out: list[Mismatch | None] = [None] * len(episodes)
    for members in groups.values():
        for _, mismatches in iterate_replay([episodes[i] for i in members]):
            for b, mismatch in mismatches.items():
                out[members[b]] = out[members[b]] or mismatch
    return out
