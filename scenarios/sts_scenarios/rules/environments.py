"""Access to the live environment along an episode, for categories that need more than columns."""

from collections.abc import Iterator

from sts.domains import Environment
from sts.engine.replay import replay_worlds
from sts.episodes import Episode


def iter_environments(episode: Episode) -> Iterator[Environment]:
    """Yield the live environment before each of an episode's T steps and after the last.

    It is the same object each time, replayed along the way: do not change it or keep references.

    Raises:
      ReplayMismatch: the replay leaves the recording; names the step.
    """
    environment: Environment | None = None
    for worlds in replay_worlds([episode], [f"domain {episode.domain!r}"]):
        if environment is None:
            (environment,) = worlds.observe((0,), team=(0,), world=True).environments
        yield environment
