"""Universal intelligence: the mean reward over environments, of which simple ones weigh most.

An environment weighs 2^-Kt_max. Kt_max is the length of its code on a reference machine in bits,
as the longest response of each takes one unit of time.

Axes: E environments, R runs.

Source: Legg and Hutter 2005; Hernández-Orallo and Dowe 2010, Definitions 9, 10, 14 and 15.
"""

import functools
import math
from collections import Counter
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.domains import Domain
from sts.engine.session import Team, open_session
from sts.errors import ArgumentError
from sts.numerics.streams import cross_streams, streams
from sts.trajectories.record import list_missions
from sts_analysis.measures.classes import Chosen, EnvironmentClass, load_class, subtract_offsets
from sts_analysis.measures.spans import Span

Floats = NDArray[np.float64]


class Settings(NamedTuple):
    """Settings of a test, the same for all agents."""

    class_name: str
    environments: int | None  # how many are drawn; None to play all
    interactions: int
    seed: int


class Environments(NamedTuple):
    """The E environments of a test, all different."""

    domain: Domain
    chosen: list[Chosen]
    # float64[E] by reference machine, each with the sum 1; the first spreads its weight the most
    weights: dict[str, Floats]


def weigh(lengths: Floats) -> Floats:
    """Return the weights 2^-length, float64[E], divided by their sum."""
    weights = np.exp2(lengths.min() - lengths)
    return cast(Floats, weights / weights.sum())


@functools.lru_cache(1)  # for the next agent
def choose_environments(settings: Settings) -> Environments:
    """Return the environments of a test; raise ArgumentError if they cannot be enumerated."""
    classes: Any = load_class(settings.class_name)
    drawn, lengths = settings.environments, getattr(classes, "code_lengths", None)
    if lengths is not None:
        weights = {name: weigh(own) for name, own in lengths.items()}
        weights = dict(sorted(weights.items(), key=lambda item: float((item[1] ** 2).sum())))
        machine, states = next(iter(weights)), classes.list_environments()
        chosen = list(map(Chosen, states, lengths[machine].tolist()))
        weights["uniform"] = np.full(len(states), 1 / len(states))
        if drawn is None:
            return Environments(classes.domain, chosen, weights)
        picked = [chosen[e] for e in _draw(weights[machine], drawn, settings.seed)]
    elif drawn is not None:
        machine, picked = "2^-complexity", _draw_by_level(classes, drawn, settings.seed)
    else:
        raise ArgumentError(
            f"class {classes.name} has no code lengths: give --environments, how many to draw"
        )
    counts = Counter(picked)
    return Environments(classes.domain, [*counts], {machine: np.array([*counts.values()]) / drawn})


def play_span(settings: Settings, span: Span) -> dict[str, list[list[float]]]:
    """Play all environments in the runs of a span, and return an agent's values, [R, E] each.

    They are the `average` reward (Definition 14), and `discounted`, the sum of reward i / i^2 over
    that of all 1 / i^2. Errors are those of `agents.load_planned` and of the session.
    """
    agent = agents.load_planned(span.agent, span.fingerprint)
    domain, chosen, _ = choose_environments(settings)
    runs, states = range(span.first, span.stop), [one.state for one in chosen]
    pairs = list(product(range(len(runs)), range(len(states))))
    # by the state, so that an environment that is drawn has the value that it has among all
    named = [(state,) for state in states]
    own = cross_streams(("universal", agent.name, settings.seed), runs, named, pairs)
    worlds, team = domain.restore(states * len(runs)), Team(agent, (0,), own)
    instructions = [list_missions(domain, state) for state in states] * len(runs)
    game = open_session(domain, worlds, [team], instructions=instructions)
    classes, sums = load_class(settings.class_name), np.zeros((2, len(pairs)))
    offsets = np.array([one.offset for one in chosen] * len(runs))
    for step in range(1, settings.interactions + 1):
        game.step()
        rewards = subtract_offsets(classes, offsets, game.worlds.rewards[:, None])[:, 0]
        sums += rewards, rewards / step**2
    agents.check_unchanged(agent)
    values = sums.reshape(2, len(runs), len(states))
    average, discounted = values[0] / settings.interactions, values[1] / (math.pi**2 / 6)
    return {"average": average.tolist(), "discounted": discounted.tolist()}


def _draw_by_level(classes: EnvironmentClass, count: int, seed: int) -> list[Chosen]:
    """Draw environments of whole complexities, at most 64, in proportion to 2^-complexity."""

    def choose(level: int, *key: int) -> Chosen | None:
        below = math.nextafter(level + 1, 0)
        return classes.choose(level, below, n_players=1, key=(seed, *key), used=set())

    highest = math.floor(min(classes.highest or 64, 64))
    levels = [level for level in range(highest + 1) if choose(level, 0) is not None]
    rows = _draw(weigh(np.array(levels, float)), count, seed)
    return [one for i, row in enumerate(rows) if (one := choose(levels[row], i)) is not None]


def _draw(weights: Floats, count: int, seed: int) -> NDArray[np.int64]:
    """Draw indices of weights, int64[count], in proportion to them (Definition 15)."""
    drawn = streams(("universal environments", seed), [(i,) for i in range(count)]) / 2**64
    return np.searchsorted(weights.cumsum()[:-1], drawn, "right")
