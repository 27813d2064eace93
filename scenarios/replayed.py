"""The environment itself along an episode: what categories read that no column holds."""

from __future__ import annotations

from collections.abc import Iterator

from sts.domains import Environment, domain
from sts.episodes import Episode
from sts.errors import ReplayMismatch


def environments(episode: Episode) -> Iterator[Environment]:
    """Yields the live environment before each of an episode's T steps and after the last.

    It is one environment, replayed along the way: look at it and go on, change nothing and keep
    nothing of it.

    Raises:
      ReplayMismatch: the replay leaves the recording; names the step.
    """
    worlds = domain(episode.domain).restore([episode.state])
    (environment,) = worlds.observe((0,), team=(0,), world=True).environments
    for t in range(episode.steps + 1):
        if (worlds.scene[0] != episode.scene[t]).any():
            raise ReplayMismatch(
                f"domain {episode.domain!r}: the world before step {t} is not as recorded", step=t
            )
        yield environment
        if t < episode.steps:
            worlds.step(episode.moves[t : t + 1], episode.says[t : t + 1])
