"""The anytime intelligence test: environments that follow the agent's level, and longer ones.

Each run begins with the simplest environment and the shortest time. The average reward in one
environment decides how complex the next is, and each lasts half as long again as the one before.
The score is the mean of the average rewards, so that the test can be stopped at any time.

Axes: R runs, M environments of each.

Source: Hernández-Orallo and Dowe 2010, section 5; Definitions 16, 18 and 19. The text does not
say what follows the highest complexity of a class: here, more environments of that complexity.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.domains import Domain
from sts.domains.random import Random
from sts.engine import lockstep
from sts.engine.session import Team, open_session
from sts.errors import ArgumentError
from sts.numerics.streams import streams
from sts.trajectories.record import list_missions
from sts_analysis.measures.classes import Chosen, EnvironmentClass, load_class, subtract_offsets

WARM_UP = 10
"""Steps of a random agent before an environment counts; see section 5.2 of the source."""
FIRST_LEVEL = 1.0
FIRST_TIMEOUT_S = 1e-6
SANDBAGGING = -0.1
"""A mean reward at one level, below which an agent may seek simpler environments."""
MAX_INTERACTIONS = 1_000_000  # of one run
MAX_ENVIRONMENTS = 100  # which have more interactions than that
MAX_SECONDS = 86_400.0  # of one run
MAX_SEARCH = 1000  # levels that are tried for the next environment


class Settings(NamedTuple):
    """Settings of a test, the same for all agents; a run depends on them and on its agent."""

    class_name: str
    environments: int  # M, if interactions are counted
    n_players: int
    seed: int
    keeps_memory: bool = True  # from one environment to the next, as in the source
    seconds: float | None = None  # the time of a run; None counts interactions
    # of the agent, declared; None measures them
    seconds_per_action: float | None = None
    first_timeout: float = FIRST_TIMEOUT_S


class Runs(NamedTuple):
    """The course of R runs."""

    level: NDArray[np.float64]  # float64[R, M + 1], before each environment is chosen, and after
    complexity: NDArray[np.float64]  # float64[R, M]
    reward: NDArray[np.float64]  # float64[R, M], the average of each environment
    interactions: NDArray[np.int64]  # int64[R, M]

    @property
    def scores(self) -> NDArray[np.float64]:
        """float64[R, M], the score of each run if it had been stopped after each environment."""
        out: NDArray[np.float64] = self.reward.cumsum(1) / np.arange(1, self.reward.shape[1] + 1)
        return out


def count_interactions(environments: int) -> list[int]:
    """Return the interactions with each environment: 1, 2, 3, 5, 8, 12 ... (Definition 19)."""
    out, count = [], 1
    for _ in range(environments):
        out.append(count)
        count += -(-count // 2)
    return out


def list_timeouts(seconds: float, first_timeout: float = FIRST_TIMEOUT_S) -> list[float]:
    """Return the time-out of each environment of a run of so many seconds (Definition 18)."""
    out: list[float] = []
    timeout = first_timeout
    while sum(out) + timeout <= seconds:
        out.append(timeout)
        timeout += timeout / 2
    return out


def average_reward(rewards: Sequence[float], times: Sequence[float], timeout: float) -> float:
    """Return the average reward of an agent whose actions were completed at `times`.

    Only a part of the actions counts, as large as the part of the time until the last of them: an
    agent that stops when it is ahead gains nothing. Without an action it is 0 (Definition 16).
    """
    counted = math.floor(len(rewards) * times[-1] / timeout) if rewards else 0
    return sum(rewards[:counted]) / counted if counted else 0.0


def choose_next(
    classes: EnvironmentClass,
    level: float,
    *,
    n_players: int,
    key: Sequence[int],
    used: AbstractSet[bytes],
) -> tuple[float, Chosen]:
    """Return the next environment, with the level, which rises until there is one.

    Raises:
      ArgumentError: all environments up to the highest complexity were used.
    """
    for _ in range(MAX_SEARCH):
        top = level if classes.highest is None else min(level, classes.highest)
        chosen = classes.choose(top - 1, top, n_players=n_players, key=key, used=used)
        if chosen is not None:
            return level, chosen
        if top < level:
            break
        level += 1
    raise ArgumentError(
        f"class {classes.name} has no further environment after {len(used)}: "
        "ask for fewer environments"
    )


def play_runs(name: str, fingerprint: str, settings: Settings, first: int, stop: int) -> Runs:
    """Play runs `first` to `stop` - 1 of an agent by name and fingerprint.

    Raises:
      ArgumentError: the agent is not the one of this fingerprint, does not fit the class, or the
        class has too few environments.
      StsError: the agent failed.
    """
    agent, classes = agents.load_planned(name, fingerprint), load_class(settings.class_name)
    if settings.seconds is not None and settings.seconds_per_action is None:
        alone = [_play(agent, classes, settings, [run]) for run in range(first, stop)]
        played = Runs(*(np.concatenate(own) for own in zip(*alone, strict=True)))
    else:
        played = _play(agent, classes, settings, range(first, stop))
    agents.check_unchanged(agent)
    return played


def plan_timeouts(settings: Settings) -> list[float]:
    """Return the time-out of each environment, in seconds or in interactions.

    Raises:
      ArgumentError: there is time for no environment, or for too many interactions.
    """
    if settings.seconds is None:
        most = min(settings.environments, MAX_ENVIRONMENTS)
        timeouts: list[float] = [*count_interactions(most)]
        longest = sum(timeouts)
    else:
        if not settings.seconds <= MAX_SECONDS:  # also if it is not a number
            raise ArgumentError(
                f"expected at most {MAX_SECONDS:g} seconds in a run, found {settings.seconds:g}"
            )
        timeouts = list_timeouts(settings.seconds, settings.first_timeout)
        longest = sum(timeouts) / (settings.seconds_per_action or math.inf)
    if not timeouts:
        given: float = settings.environments
        least = "1 environment"
        if settings.seconds is not None:
            given, least = settings.seconds, f"{settings.first_timeout:g} seconds"
        raise ArgumentError(f"expected {least} or more in a run, found {given:g}")
    if longest > MAX_INTERACTIONS:
        raise ArgumentError(
            f"expected at most {MAX_INTERACTIONS} interactions in a run, found more: "
            "ask for fewer environments or for less time"
        )
    return timeouts


def _play(
    agent: agents.Agent,
    classes: EnvironmentClass,
    settings: Settings,
    runs: Sequence[int],
) -> Runs:
    domain = classes.domain
    timeouts, everyone = plan_timeouts(settings), tuple(range(settings.n_players))
    level = np.full((len(runs), len(timeouts) + 1), FIRST_LEVEL)
    complexity, reward = np.zeros((2, len(runs), len(timeouts)))
    counts, raised = np.zeros(reward.shape, np.int64), np.zeros(len(runs))
    used: list[set[bytes]] = [set() for _ in runs]
    own = streams(("anytime", agent.name, settings.seed), [(run,) for run in runs])
    team = Team(agent, everyone, own)
    for m, timeout in enumerate(timeouts):
        chosen = []
        for r, run in enumerate(runs):
            key = settings.seed, run, m
            raised[r], one = choose_next(
                classes, level[r, m], n_players=settings.n_players, key=key, used=used[r]
            )
            used[r].add(one.state)
            chosen.append(one)
        worlds = domain.restore([one.state for one in chosen])
        random = streams(("anytime warm-up", settings.seed), [(run, m) for run in runs])
        lockstep.play_episodes(domain, worlds, [Team(Random(), everyone, random)], steps=WARM_UP)
        instructions = [list_missions(domain, one.state) for one in chosen]
        offsets = np.array([one.offset for one in chosen])
        balance = functools.partial(subtract_offsets, classes, offsets)
        reward[:, m], counts[:, m], team = _play_environment(
            domain, worlds, team, instructions, balance, settings, timeout
        )
        complexity[:, m] = [one.complexity for one in chosen]
        level[:, m + 1] = raised * (1 + reward[:, m] / 2)
    return Runs(level, complexity, reward, counts)


def _play_environment(
    domain: Domain,
    worlds: Any,
    team: Team,
    instructions: Any,
    balance: Callable[[Any], NDArray[np.float64]],
    settings: Settings,
    timeout: float,
) -> tuple[NDArray[np.float64], int, Team]:
    """Return the average rewards, float64[R], the number of interactions, and the team after."""
    memory = team.memory
    if settings.seconds is not None and settings.seconds_per_action is None:
        game = open_session(domain, worlds, [team], instructions=instructions)
        rewards, times, began = [], [], time.perf_counter()
        while (now := time.perf_counter() - began) < timeout:
            game.step()
            if (now := time.perf_counter() - began) > timeout:  # too late to count
                break
            rewards.append(float(balance(game.worlds.rewards[:, None])[0, 0]))
            times.append(now)
        average = np.array([average_reward(rewards, times, timeout)])
        count, steps, memory = len(rewards), game.steps, game.memories[0]
    else:
        each = settings.seconds_per_action or 1.0
        count = steps = int(timeout / each)
        average = np.zeros(len(worlds.rewards))
        if count:
            played = lockstep.play_episodes(
                domain, worlds, [team], steps=count, instructions=instructions
            )
            times = [each * (step + 1) for step in range(count)]
            rows = balance(played.rewards).tolist()
            average = np.array([average_reward(row, times, timeout) for row in rows])
            memory = played.memories[0]
    kept = memory if settings.keeps_memory else None
    return average, count, team._replace(memory=kept, since=team.since + steps)
