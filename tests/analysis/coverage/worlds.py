"""Seeded studies whose truth is known.

The logit of an agent's chance in a scenario is its ability, plus the scenario's difficulty, which
agents share, plus an interaction of both; half of the variance of either belongs to the unit. An
annotator has a sensitivity and a specificity of their own, and may favour agents.

Axes: N studies, A agents, S scenarios, C continuations, R verdicts a clip, K annotators.
"""

import zlib
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.tabulation import Continuations, Outcomes

SEED = 12
DIFFICULTY, INTERACTION = 1.2, 0.8
"""Standard deviations, in logits."""
UNIT_SHARE = 0.5
ACCURACY = 0.9
"""Sensitivity and specificity of an annotator without deviation."""
FAVOUR = 0.5
"""Standard deviation, in logits, of what an annotator makes of an agent, in cells that say so."""
UNITS = {"own": (1,), "4": (4,), "10": (10,), "unequal": (1, 2, 1, 4, 1, 3)}
"""Sizes of consecutive units, repeated until all scenarios have one."""
LEANS = {"80/20": 0.8, "90/10": 0.9, "confounded": 1.0}
"""Share of an agent's clips that half of the annotators judge; the other half for the next."""
ASSIGNMENTS = ("random", *LEANS, "by scenario", "favouring")
WAVES = 0.1
"""Share of the clips of earlier agents that new people judge, who alone judge the new agents."""
AGENTS_AT_ONCE = 30
"""Agents of several studies share a table where no annotator joins them; pairs grow in squares."""
JUDGED_AT_ONCE = 20
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(101)


class World(NamedTuple):
    """What all studies of a cell have in common.

    Attributes:
      rates: A expected shares of successes in other scenarios from the same sources.
      categories: number of categories.
      size: scenarios of each category.
      continuations: of an agent in a scenario.
      units: key of `UNITS`.
      missing: share of the scenarios that an agent lacks, drawn for each agent.
      annotators: K; 0 for verdicts that are right and have no annotator.
      deviation: of annotators' sensitivity and specificity, in logits.
      assignment: of `ASSIGNMENTS`, or "waves".
      verdicts: R.
      favour: standard deviation, in logits, of what an annotator makes of an agent.
      strictness: of what an annotator makes of all agents, alike in sensitivity and specificity.
    """

    rates: tuple[float, ...]
    categories: int
    size: int
    continuations: int
    units: str = "own"
    missing: float = 0.0
    annotators: int = 0
    deviation: float = 0.0
    assignment: str = "random"
    verdicts: int = 1
    favour: float = 0.0
    strictness: float = 0.0

    @property
    def scenarios(self) -> int:
        """Number of scenarios."""
        return self.categories * self.size

    @property
    def unit(self) -> np.ndarray:
        """int64[S], units of consecutive scenarios."""
        return divide_into_units(self.scenarios, self.units)

    @property
    def units_drawn(self) -> int:
        """Number of units."""
        return int(self.unit[-1]) + 1

    @property
    def seed(self) -> list[int]:
        """Seed of this world's studies; the same on each machine."""
        words = repr(self).replace(", favour=0.0, strictness=0.0)", ")")
        return [SEED, zlib.crc32(words.encode())]

    @property
    def favours(self) -> float:
        """Standard deviation of favours, in logits."""
        return FAVOUR if self.assignment == "favouring" else self.favour


@cache
def divide_into_units(scenarios: int, units: str) -> np.ndarray:
    """Return int64[S]."""
    sizes = np.resize(UNITS[units], scenarios)
    return np.repeat(np.arange(scenarios), sizes)[:scenarios]


@cache
def expect(mean: float, deviation: float) -> float:
    """Return the mean of the logistic function of a normal number."""
    weights = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()
    return float(weights @ expit(mean + deviation * _NODES))


@cache
def find_ability(rate: float) -> float:
    """Return the logit at which an agent's rate over all scenarios is `rate`."""
    deviation = float(np.hypot(DIFFICULTY, INTERACTION))
    return float(brentq(lambda mean: expect(mean, deviation) - rate, -20, 20))


def draw_successes(world: World, studies: int, rng: np.random.Generator) -> np.ndarray:
    """Draw bool[N, A, S, C], what agents do."""

    def draw(deviation: float, agents: int) -> np.ndarray:
        shared = rng.standard_normal((studies, agents, world.units_drawn))[..., world.unit]
        lone = rng.standard_normal((studies, agents, world.scenarios))
        return deviation * (np.sqrt(UNIT_SHARE) * shared + np.sqrt(1 - UNIT_SHARE) * lone)

    ability = np.array([find_ability(rate) for rate in world.rates])[:, None]
    chance = expit(ability + draw(DIFFICULTY, 1) + draw(INTERACTION, len(ability)))
    return rng.random((*chance.shape, world.continuations)) < chance[..., None]


def draw_gaps(world: World, studies: int, rng: np.random.Generator) -> np.ndarray:
    """Draw bool[N, A, S], scenarios that an agent lacks: equally many of each agent."""
    shape = (studies, len(world.rates), world.scenarios)
    if not world.missing:
        return np.zeros(shape, bool)
    order = rng.random(shape).argsort(axis=2).argsort(axis=2)
    return np.asarray(order < round(world.missing * world.scenarios))


def lay_out(world: World, value: np.ndarray, judging: Judging | None = None) -> Outcomes:
    """Lay out values, float64[agents, S], of one or several studies as `tabulate` does."""
    agents, scenarios = value.shape
    seen = np.isfinite(value)
    judged = np.where(seen, world.continuations, 0)
    return Outcomes(
        source="human",
        agents=tuple(map(str, range(agents))),
        baseline=np.zeros(agents, bool),
        scenarios=tuple(map(str, range(scenarios))),
        category=np.repeat(np.arange(world.categories), world.size),
        categories=tuple(map(str, range(world.categories))),
        kind=("",) * scenarios,
        unit=world.unit,
        value=value,
        low=value,
        high=value,
        bound_share=seen.astype(float),
        continued=seen,
        judged=judged,
        unjudgeable=np.zeros_like(judged),
        continuations=Continuations(*[np.zeros(0)] * 8),
        judging=judging,
        judged_clips=judged.sum(axis=1),
    )


def simulate(world: World, studies: int) -> Iterator[tuple[Outcomes, np.ndarray]]:
    """Yield tables of studies, the agents of one after those of the other, and the truth.

    The truth is float64[N, A], what the study's pool of annotators says of an agent in other
    scenarios. Studies of one table have their gaps in common.
    """
    rng = np.random.default_rng(world.seed)
    together = JUDGED_AT_ONCE if world.annotators else max(1, AGENTS_AT_ONCE // len(world.rates))
    for start in range(0, studies, together):
        count = min(together, studies - start)
        successes = draw_successes(world, count, rng)
        if world.annotators:
            yield from judge(world, successes, draw_gaps(world, count, rng), rng)
        else:
            value = np.where(draw_gaps(world, 1, rng), np.nan, successes.mean(axis=3))
            truth = np.broadcast_to(world.rates, (count, len(world.rates)))
            yield lay_out(world, value.reshape(-1, world.scenarios)), truth


def judge(
    world: World, successes: np.ndarray, gaps: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[Outcomes, np.ndarray]]:
    """Yield the table of each study after annotators judged its clips, with the truth."""
    studies, agents, scenarios, continuations = successes.shape
    people, deviation = world.annotators, world.deviation
    person = _assign(world, successes.shape, rng)
    shift = deviation * rng.standard_normal((studies, 1, people, 2))
    shift = shift + world.strictness * rng.standard_normal((studies, 1, people, 1))
    shift = shift + world.favours * rng.standard_normal((studies, agents, people, 1))
    says = expit(logit([1 - ACCURACY, ACCURACY]) + shift)  # [N, A, K, 2], chance of "success"
    study = np.arange(studies)[:, None, None, None, None]
    agent = np.arange(agents)[:, None, None, None]
    verdict = rng.random(person.shape) < says[study, agent, person, successes[..., None] * 1]
    cell = (study * agents + agent) * scenarios + np.arange(scenarios)[:, None, None]
    place = (cell * people + person).ravel()
    shape, size = (studies, agents, scenarios, people), studies * agents * scenarios * people
    kept = ~gaps[..., None]
    judgements = np.bincount(place, minlength=size).reshape(shape) * kept
    positive = np.bincount(place, verdict.ravel(), size).reshape(shape) * kept
    workload = judgements.sum(axis=(1, 2)) / judgements.sum(axis=(1, 2, 3))[:, None]
    rates = np.array(world.rates)[:, None]
    opinion = rates * says[..., 1] + (1 - rates) * says[..., 0]  # [N, A, K]
    truth = np.einsum("nk,nak->na", workload, opinion)
    verdicts = continuations * world.verdicts
    value = np.where(gaps, np.nan, positive.sum(axis=3) / verdicts)
    names = tuple(f"{k:02}" for k in range(people))
    for n in range(studies):
        given, said = judgements[n].astype(float), positive[n]
        judging = Judging(names, given / verdicts, said / verdicts, given, said)
        yield lay_out(world, value[n], judging), truth[[n]]


def _assign(world: World, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw int64[N, A, S, C, R], the annotators of each clip, all different."""
    studies, agents, scenarios, continuations = shape
    people, together = world.annotators, world.assignment == "by scenario"
    half = np.arange(people) >= (people + 1) // 2
    share = LEANS.get(world.assignment, 0.5)
    weights = np.where(half == (np.arange(agents) % 2)[:, None], share, 1 - share)
    if world.assignment in LEANS:
        weights = weights / np.bincount(half, minlength=2)[half * 1]
    if world.assignment == "waves":
        new = np.arange(agents)[:, None] >= agents / 2
        weights = np.where(new, half * 1.0, np.where(half, WAVES, 1 - WAVES))
    drawn = (studies, 1, scenarios, 1, people) if together else (*shape, people)
    with np.errstate(divide="ignore"):
        wait = rng.standard_exponential(drawn) / weights[:, None, None]
    first = wait.argpartition(world.verdicts - 1, axis=-1)[..., : world.verdicts]
    return np.broadcast_to(first, (*shape, world.verdicts))


def expect_rates(world: World) -> np.ndarray:
    """Return float64[A], the rates in other scenarios, as other annotators judge."""
    deviation = float(np.hypot(np.hypot(world.deviation, world.favours), world.strictness))
    failure, success = (expect(float(logit(x)), deviation) for x in (1 - ACCURACY, ACCURACY))
    return failure + np.array(world.rates) * (success - failure)
