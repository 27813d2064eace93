"""Replaying episodes and holding every step, scene and rewards, against its recording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import Domain, Worlds, shapes
from sts.domains import domain as find_domain
from sts.engine import session
from sts.engine.session import Actions
from sts.episodes import Episode
from sts.errors import ReplayMismatch


class Mismatch(NamedTuple):
    """Where a replay leaves its recording: the step, and how."""

    step: int
    what: str


class ReplayedStep(NamedTuple):
    """B episodes before one of their steps or after the last, as they are replayed.

    `mismatches` says by the number of an episode how it has just left its recording.
    """

    worlds: Worlds
    mismatches: Mapping[int, Mismatch]


def _stack(episodes: Sequence[Episode], name: str, steps: int) -> NDArray[Any]:
    """Return [B, steps, P, ...]: column `name` of episodes of one P, cut at `steps`."""
    out: NDArray[Any] = np.stack([getattr(e, name)[:steps] for e in episodes])
    return out


def differences(worlds: Worlds, episodes: Sequence[Episode], step: int) -> dict[int, Mismatch]:
    """Return by the number of an episode how its world after `step` is not as recorded."""
    scene = np.stack([e.scene[step + 1] for e in episodes])
    rewards = np.stack([e.rewards[step] for e in episodes])
    off = (worlds.scene != scene).any(1) | (_bits(worlds.rewards) != _bits(rewards)).any(1)
    out = {}
    for b in np.flatnonzero(off).tolist():
        moved = worlds.scene[b] != scene[b]
        if moved.any() and hasattr(worlds, "frames"):  # of which a scene is the digest
            found = "the world is not as recorded"
        elif moved.any():
            k = int(np.argmax(moved))
            found = f"object {k} is at {worlds.scene[b, k]}, recorded at {scene[b, k]}"
        else:
            p = int(np.argmax(_bits(worlds.rewards)[b] != _bits(rewards)[b]))
            units = " (in reward units)" if rewards.dtype == np.int8 else ""
            found = (
                f"participant {p} receives {worlds.rewards[b, p]}, recorded {rewards[b, p]}{units}"
            )
        out[b] = Mismatch(step, f"step {step}: {found}")
    return out


def _bits(rewards: NDArray[Any]) -> NDArray[Any]:
    """Return what two rewards that are equal bit for bit have in common."""
    return rewards.view(np.uint64) if rewards.dtype == np.float64 else rewards


def replayed(domain: Domain, episodes: Sequence[Episode]) -> Iterator[ReplayedStep]:
    """Yield episodes, with the same T, P and K, before each of their T steps and after the last.

    Nothing follows where the states have other participants or objects than the recordings.
    Errors are those of `along`, but for a mismatch.
    """
    first, everyone = episodes[0], range(len(episodes))
    done = Actions(*(_stack(episodes, name, first.steps) for name in ("moves", "says")))
    begun = session.open(domain, domain.restore([e.state for e in episodes]))
    session.check_actions(domain, done)
    worlds = begun.worlds
    sizes = worlds.scene.shape[1], worlds.rewards.shape[1]
    if sizes != (first.scene.shape[1], first.participants):
        yield ReplayedStep(worlds, dict.fromkeys(everyone, _SIZES_DIFFER))
        return
    off = (worlds.scene != [e.scene[0] for e in episodes]).any(1)
    yield ReplayedStep(worlds, dict.fromkeys(np.flatnonzero(off).tolist(), _START_DIFFERS))
    for step in range(first.steps):
        begun.step(Actions(done.moves[:, step], done.says[:, step]), range(first.participants))
        yield ReplayedStep(worlds, differences(worlds, episodes, step))


_START_DIFFERS = Mismatch(0, "step 0: the scene is not where the state has it")
_SIZES_DIFFER = Mismatch(0, "step 0: the state has other participants than the recording")


def along(episodes: Sequence[Episode], names: Sequence[str]) -> Iterator[Worlds]:
    """Yield the worlds of episodes before each of their T steps and after the last, as recorded.

    They are of one domain, with the same T, P and K, and one batch, replayed along the way: whoever
    looks changes nothing. Errors call them by `names`.

    Raises:
      ReplayMismatch: a replay leaves its recording; names the episode and the step.
      DamagedData: a state cannot be restored, or what was done is no move or token.
    """
    for worlds, mismatches in replayed(find_domain(episodes[0].domain), episodes):
        for b, (step, what) in mismatches.items():
            raise ReplayMismatch(f"{names[b]}: {what}", step=step)
        yield worlds


def verify(domain: Domain, episodes: Sequence[Episode]) -> list[Mismatch | None]:
    """Return for each episode where its replay first leaves the recording, or None."""
    groups: dict[tuple[tuple[int, ...], Hashable], list[int]] = defaultdict(list)
    for i, one in enumerate(episodes):
        size = one.steps, one.participants, one.scene.shape[1]
        groups[size, shapes(one, domain)].append(i)
    out: list[Mismatch | None] = [None] * len(episodes)
    for members in groups.values():
        for _, mismatches in replayed(domain, [episodes[i] for i in members]):
            for b, mismatch in mismatches.items():
                out[members[b]] = out[members[b]] or mismatch
    return out
