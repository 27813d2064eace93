"""Power for these annotators, held against an oracle that knows what each of them makes of agents.

The oracle is the likelihood-ratio test of equal rates by the same verdicts. All but the abilities
of two agents is known to it: how often each annotator calls a success of each agent a success, and
anything else; and how scenarios vary. Scenarios are integrated out, so that agents are paired in
them. No test of the right size has more power in large studies (Neyman and Pearson 1933, Phil.
Trans. A 231:289; Wald 1943, Trans. Am. Math. Soc. 54:426), and the report, which estimates the
effects of annotators, knows less.

Axes: A two agents, S scenarios, C continuations, K annotators, G abilities, N nodes.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from scipy.interpolate import RectBivariateSpline
from scipy.special import expit, logit

from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.tabulation import Outcomes
from tests.analysis.coverage.measures import ALPHA
from tests.analysis.coverage.worlds import (
    ACCURACY,
    DIFFICULTY,
    INTERACTION,
    World,
    draw_successes,
    expect,
    find_ability,
    lay_out,
)

pytestmark = pytest.mark.landing

STRICTNESS, FAVOURITISM = 1.2, 0.4
"""Standard deviations, in logits: more than `fit_ratings` finds in real ratings."""
MIN_SHARE = 0.9
"""Of the oracle's power."""
WORLDS = {
    "middle": World((0.45, 0.57), 1, 200, 2, annotators=4, strictness=STRICTNESS),
    "high": World((0.82, 0.91), 1, 200, 2, annotators=4, strictness=STRICTNESS),
    "low": World((0.08, 0.17), 1, 200, 2, annotators=4, strictness=STRICTNESS),
    "one continuation": World((0.45, 0.6), 1, 200, 1, annotators=4, strictness=STRICTNESS),
    "two annotators": World((0.45, 0.57), 1, 200, 2, annotators=2, strictness=STRICTNESS),
    "ten annotators": World((0.45, 0.57), 1, 200, 2, annotators=10, strictness=STRICTNESS),
}
_WIDTH, _STEP, _FINE = 2.5, 0.1, 500
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class Power(NamedTuple):
    """Shares of studies that find the better agent better, and that find the worse one better."""

    report: float
    oracle: float
    report_wrong: float
    oracle_wrong: float


def draw_study(world: World, rng: np.random.Generator) -> tuple[Outcomes, np.ndarray]:
    """Draw a study in which each annotator judges the same share of both agents' clips.

    Returns:
      Its verdicts; and float64[A, K, 2], how often an annotator calls a failure, and a success, of
      an agent a success.
    """
    done, people = draw_successes(world, 1, rng)[0], world.annotators
    deal = rng.permuted(np.resize(np.arange(people), (2, done[0].size)), axis=1)
    person = deal.reshape(done.shape)
    shift = world.strictness * rng.standard_normal((1, people, 1))
    shift = shift + world.favour * rng.standard_normal((2, people, 1))
    says = expit(logit([1 - ACCURACY, ACCURACY]) + shift)
    verdict = rng.random(done.shape) < says[np.arange(2)[:, None, None], person, done * 1]
    gave = person[..., None] == np.arange(people)
    given, positive = gave.sum(axis=2) * 1.0, (gave & verdict[..., None]).sum(axis=2) * 1.0
    names, each = tuple(f"{k:02}" for k in range(people)), world.continuations
    judging = Judging(names, given / each, positive / each, given, positive)
    return lay_out(world, verdict.mean(axis=2), judging), says


def weigh_abilities(
    ability: np.ndarray, says: np.ndarray, judgements: np.ndarray, successes: np.ndarray
) -> np.ndarray:
    """Return float64[G, S, N], likelihoods of an agent's verdicts by ability and difficulty."""
    level = ability[:, None, None] + DIFFICULTY * _NODES[:, None] + INTERACTION * _NODES
    chance = expit(level)[..., None]
    chance = chance * says[:, 1] + (1 - chance) * says[:, 0]  # [G, N, N, K]
    kinds, kind = np.unique(np.stack([judgements, successes]), axis=1, return_inverse=True)
    said, not_said = kinds[1], kinds[0] - kinds[1]
    log = np.log(chance) @ said.T + np.log1p(-chance) @ not_said.T
    return np.asarray((_WEIGHTS @ np.exp(log)).transpose(0, 2, 1)[:, kind.ravel()])


def ask_oracle(world: World, outcomes: Outcomes, says: np.ndarray) -> tuple[float, float]:
    """Return the difference of the pool's rates that is most likely, and p of none."""
    judging = outcomes.judging
    assert judging is not None
    truth = np.array([find_ability(rate) for rate in world.rates])
    grids = truth[:, None] + np.arange(-_WIDTH, _WIDTH + _STEP / 2, _STEP)
    parts = zip(grids, says, judging.judgements, judging.successes, strict=True)
    first, second = (weigh_abilities(*part) for part in parts)
    joint = np.einsum("gsn,hsn,n->ghs", first, second, _WEIGHTS, optimize=True)
    likely = RectBivariateSpline(grids[0], grids[1], np.log(joint).sum(axis=2))
    fine = np.linspace(grids[:, 0], grids[:, -1], _FINE, axis=1)
    surface = likely(fine[0], fine[1])
    best = np.unravel_index(surface.argmax(), surface.shape)
    calls = (judging.judgements.sum(axis=(0, 1)) / judging.judgements.sum()) @ says  # [A, 2]
    deviation = float(np.hypot(DIFFICULTY, INTERACTION))
    rates = np.array([[expect(x, deviation) for x in np.round(row, 12)] for row in fine])
    pool = calls[:, :1] + np.diff(calls) * rates
    equal = np.interp(pool[0], pool[1], fine[1], left=np.nan, right=np.nan)
    possible = np.isfinite(equal)
    null = likely.ev(fine[0][possible], equal[possible]).max()
    ratio = 2 * max(surface.max() - null, 0.0)
    return float(pool[0][best[0]] - pool[1][best[1]]), float(stats.chi2.sf(ratio, 1))


def measure_power(world: World, studies: int) -> Power:
    """Measure the power of the report and of the oracle in the same seeded studies."""
    rng = np.random.default_rng(world.seed)
    found = []
    for _ in range(studies):
        outcomes, says = draw_study(world, rng)
        model = RateModel(outcomes)
        assert model.annotators is not None
        rates = np.array(world.rates)[:, None]
        opinion = rates * says[..., 1] + (1 - rates) * says[..., 0]
        truth = float(np.diff(opinion @ model.annotators.workload)[0])
        pair = model.compare(np.arange(2))
        tests = (pair.value[0], pair.p[0]), ask_oracle(world, outcomes, says)
        found.append([(p < ALPHA) * np.sign(-value * truth) for value, p in tests])
    claims = np.array(found)
    return Power(*(claims > 0).mean(axis=0), *(claims < 0).mean(axis=0))


def test_oracle_calls_equal_agents_different_in_one_study_of_twenty() -> None:
    world = WORLDS["middle"]._replace(rates=(0.5, 0.5))
    rng = np.random.default_rng(world.seed)
    found = [ask_oracle(world, *draw_study(world, rng)) for _ in range(200)]
    assert np.mean([p < ALPHA for _, p in found]) == pytest.approx(0.05, abs=0.046)


STUDIES = [40, pytest.param(600, marks=pytest.mark.slow)]


@pytest.mark.parametrize("studies", STUDIES)
@pytest.mark.parametrize("favour", [0.0, FAVOURITISM])
def test_power_is_nine_tenths_of_an_oracle_that_knows_annotators(studies, favour) -> None:
    found = {
        name: measure_power(world._replace(favour=favour), studies)
        for name, world in WORLDS.items()
    }
    report, oracle, *_ = np.mean([*found.values()], axis=0)
    assert 0.5 < oracle < 0.9 and report >= MIN_SHARE * oracle, found
    if studies >= 600:
        assert all(power.report >= MIN_SHARE * power.oracle for power in found.values()), found
