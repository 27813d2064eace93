"""Equal agents under the deal: categories that annotators judge by the instruction alone."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import expit, logit

from sts.annotations.people.deal import is_rubric_shown
from sts_analysis.statistics.annotators import Judging
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.tabulation import Outcomes
from tests.analysis.coverage.measures import ALPHA
from tests.analysis.coverage.worlds import ACCURACY, World, draw_successes, lay_out

pytestmark = pytest.mark.landing

SEED, SHARE = 33, 0.2
LENIENCE, CATEGORY, PERSON = 1.5, 1.0, 0.5
"""Effect of the instruction alone on strictness, in logits: its mean, and its standard deviation
between categories and between people in a category."""


def draw_studies(world: World, studies: int, share: float, *, by_agent: bool) -> Iterator[Outcomes]:
    """Draw studies whose annotators judge clips at random, a share of categories without texts.

    With `by_agent` the texts are withheld only from judgements of the first agent.
    """
    rng = np.random.default_rng(SEED)
    people, each = world.annotators, world.continuations
    shown = [
        [is_rubric_shown(k, place, share) for place in range(world.categories)]
        for k in range(people)
    ]
    agents, scenarios = len(world.rates), world.scenarios
    dealt = np.arange(agents) == 0 if by_agent else np.ones(agents, bool)
    alone = dealt[:, None, None] & np.repeat(~np.array(shown), world.size, axis=1)  # [A, K, S]
    cell = np.arange(agents * scenarios).reshape(agents, scenarios, 1)
    shape = agents, scenarios, people
    for _ in range(studies):
        done = draw_successes(world, 1, rng)[0]
        strict = world.deviation * rng.standard_normal((people, 2))
        change = LENIENCE + CATEGORY * rng.standard_normal((1, world.categories))
        change = change + PERSON * rng.standard_normal((people, world.categories))
        shift = strict[:, None] + (np.repeat(change, world.size, axis=1) * alone)[..., None]
        says = expit(logit([1 - ACCURACY, ACCURACY]) + shift)  # [A, K, S, 2]
        person = rng.integers(people, size=done.shape)
        at = np.arange(agents)[:, None, None], person, np.arange(scenarios)[:, None], done * 1
        verdict = rng.random(done.shape) < says[at]
        place, size = (cell * people + person).ravel(), cell.size * people
        given = np.bincount(place, minlength=size).reshape(shape).astype(float)
        positive = np.bincount(place, verdict.ravel(), size).reshape(shape)
        names = tuple(map(str, range(people)))
        judging = Judging(names, given / each, positive / each, given, positive)
        yield lay_out(world, positive.sum(axis=2) / each, judging)


def measure_size(
    annotators: int,
    *,
    others: bool | None = None,
    by_agent: bool = False,
    share: float = SHARE,
    studies: int,
) -> float:
    """Return the share of studies in which two equal agents are called different.

    Differences are for `others` than these annotators, by default where the report says so.
    """
    pair, called = np.arange(2), []
    world = World((0.5, 0.5), 10, 4, 3, annotators=annotators, deviation=0.7)
    for outcomes in draw_studies(world, studies, share, by_agent=by_agent):
        model = RateModel(outcomes)
        wider = model.generalises(model.estimate_rates(), pair) if others is None else others
        called.append(model.compare(pair, other_annotators=wider).p_holm[0] < ALPHA)
    return float(np.mean(called))


STUDIES = [(300, 0.038), pytest.param(4000, 0.01, marks=pytest.mark.slow)]
"""How many, and how far a share may lie from .05: three standard errors."""


@pytest.mark.parametrize(("studies", "error"), STUDIES)
@pytest.mark.parametrize("annotators", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_equal_agents_differ_in_one_study_of_twenty_under_the_deal(
    annotators: int, studies: int, error: float
) -> None:
    assert measure_size(annotators, studies=studies) == pytest.approx(0.05, abs=error)


@pytest.mark.parametrize(("studies", "error"), STUDIES)
def test_few_annotators_make_the_report_careful_with_or_without_the_deal(
    studies: int, error: float
) -> None:
    assert measure_size(5, others=False, studies=studies) == pytest.approx(0.05, abs=error)
    careful = measure_size(5, studies=studies)
    assert 0.04 - error <= careful <= 0.05 + error, "for other annotators like these"


def test_deal_by_agent_would_call_equal_agents_different() -> None:
    assert measure_size(10, by_agent=True, share=0.5, studies=150) > 0.12
    assert measure_size(10, share=0.5, studies=150) < 0.08
