"""Replaying episodes and holding every step, scene and rewards, against its recording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import Domain, Worlds, shapes
from sts.domains import domain as find_domain
from sts.engine.lockstep import Script, known, play
from sts.episodes import Episode
from sts.errors import DamagedData, ReplayMismatch


class Mismatch(NamedTuple):
    """Where a replay leaves its recording: the first such step, and how."""

    step: int
    what: str


def stack(episodes: Sequence[Episode], name: str, steps: int) -> NDArray[np.int8]:
    """Returns int8[B, steps, P]: column `name` of episodes of one P, cut at `steps`."""
    out: NDArray[np.int8] = np.stack([getattr(e, name)[:steps] for e in episodes])
    return out


def differences(
    worlds: Worlds, episodes: Sequence[Episode], step: int
) -> Iterator[tuple[int, Mismatch]]:
    """Yields (episode, how) where worlds after `step` are not as recorded."""
    scene = np.stack([e.scene[step + 1] for e in episodes])
    rewards = np.stack([e.rewards[step] for e in episodes])
    off = (worlds.scene != scene).any(1) | (worlds.rewards != rewards).any(1)
    for b in np.flatnonzero(off).tolist():
        moved = worlds.scene[b] != scene[b]
        if moved.any() and hasattr(worlds, "frames"):  # of which a scene is the digest
            found = "the world is not as recorded"
        elif moved.any():
            k = int(np.argmax(moved))
            found = f"object {k} is at {worlds.scene[b, k]}, recorded at {scene[b, k]}"
        else:
            p = int(np.argmax(worlds.rewards[b] != rewards[b]))
            found = (
                f"participant {p} receives {worlds.rewards[b, p]}, recorded {rewards[b, p]}"
                " (in reward units)"
            )
        yield b, Mismatch(step, f"step {step}: {found}")


def along(episodes: Sequence[Episode], names: Sequence[str]) -> Iterator[Worlds]:
    """Yields the worlds of episodes before each of their T steps and after the last, as recorded.

    They are one batch, replayed along the way: whoever looks changes nothing.

    Args:
      episodes: of one domain, with the same T, P and K.
      names: what an error calls each of them.

    Raises:
      ReplayMismatch: a replay leaves its recording; names the episode and the step.
      DamagedData: a state cannot be restored, or what was done is no move or token.
    """
    world, steps = find_domain(episodes[0].domain), episodes[0].steps
    worlds = world.restore([e.state for e in episodes])
    moves, says = (stack(episodes, name, steps) for name in ("moves", "says"))
    if not known(world, moves, says):
        raise DamagedData(f"{names[0]}: a move or a token that the domain has not")
    shapes = worlds.scene.shape[1], worlds.rewards.shape[1]
    if shapes != (episodes[0].scene.shape[1], moves.shape[2]):
        raise ReplayMismatch(f"{names[0]}: {_OTHERS}", step=0)
    for b in np.flatnonzero((worlds.scene != [e.scene[0] for e in episodes]).any(1)).tolist():
        raise ReplayMismatch(f"{names[b]}: {_OTHER_START}", step=0)
    yield worlds
    for step in range(steps):
        worlds.step(moves[:, step], says[:, step])
        for b, mismatch in differences(worlds, episodes, step):
            raise ReplayMismatch(f"{names[b]}: {mismatch.what}", step=step)
        yield worlds


_OTHER_START = "step 0: the scene is not where the state has it"
_OTHERS = "step 0: the state has other participants than the recording"


def verify(domain: Domain, episodes: Sequence[Episode]) -> list[Mismatch | None]:
    """Returns for each episode where its replay first leaves the recording, or None.

    Raises:
      DamagedState: an episode's state cannot be restored.
    """
    groups: dict[tuple[tuple[int, ...], Hashable], list[int]] = defaultdict(list)
    for i, one in enumerate(episodes):
        size = one.steps, one.participants, one.scene.shape[1]
        groups[size, shapes(one, domain)].append(i)
    out: list[Mismatch | None] = [None] * len(episodes)
    for ((steps, participants, objects), _), members in groups.items():
        chosen = [episodes[i] for i in members]
        worlds = domain.restore([e.state for e in chosen])
        if worlds.scene.shape[1] != objects or worlds.rewards.shape[1] != participants:
            for i in members:
                out[i] = Mismatch(0, _OTHERS)
            continue
        for b in np.flatnonzero((worlds.scene != [e.scene[0] for e in chosen]).any(1)):
            out[members[b]] = Mismatch(0, _OTHER_START)

        def watch(
            step: int, worlds: Worlds, *, chosen: list[Episode] = chosen, at: list[int] = members
        ) -> None:
            for b, mismatch in differences(worlds, chosen, step):
                out[at[b]] = out[at[b]] or mismatch

        script = Script(
            stack(chosen, "moves", steps),
            stack(chosen, "says", steps),
            np.ones((steps, participants), np.bool_),
        )
        play(domain, worlds, [], steps=steps, script=script, watch=watch)
    return out
