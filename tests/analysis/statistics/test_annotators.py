"""The model of annotators: held against logistic regression, leaving units out, and edges."""

import numpy as np
import pytest
from scipy.special import expit, logit

from sts_analysis.statistics.annotator_fit import fit_annotators
from sts_analysis.statistics.annotators import AnnotatorModel, Judging
from sts_analysis.statistics.rates import RateModel
from tests.analysis.coverage.worlds import World, lay_out


def draw(
    agents: int, scenarios: int, people: int, *, leniency=0.0, favour=0.0, lean=0.0, seed=0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw one verdict of an annotator on each agent and scenario: judgements and successes.

    Even annotators judge even agents more often by `lean`.
    """
    rng = np.random.default_rng(seed)
    alike = np.arange(people) % 2 == np.arange(agents)[:, None] % 2
    weight = np.where(alike, 1 + lean, 1 - lean)
    wait = rng.standard_exponential((agents, scenarios, people)) / weight[:, None]
    judgements = np.eye(people)[wait.argmin(axis=2)]
    chance = np.linspace(-1, 1, agents)[:, None] + leniency * rng.standard_normal(people)
    chance = expit(chance + favour * rng.standard_normal((agents, people)))
    return judgements, judgements * (rng.random(judgements.shape) < chance[:, None])


def make_model(judgements: np.ndarray, successes: np.ndarray) -> RateModel:
    """Return the rates of verdicts that weigh the same within an agent and scenario."""
    agents, scenarios, people = judgements.shape
    number = judgements.sum(axis=2, keepdims=True)
    share, value = judgements / np.maximum(number, 1), successes / np.maximum(number, 1)
    judging = Judging(tuple(f"{k:03}" for k in range(people)), share, value, judgements, successes)
    world = World((0.5,) * agents, 1, scenarios, 1)
    outcomes = lay_out(world, np.where(number[..., 0] > 0, value.sum(axis=2), np.nan), judging)
    return RateModel(outcomes._replace(judged_clips=number.sum(axis=(1, 2))))


def fit(judgements: np.ndarray, successes: np.ndarray) -> AnnotatorModel:
    return fit_annotators(judgements, successes, np.arange(judgements.shape[1]))


def test_rates_are_plain_where_everyone_judged_the_same_share_of_each_agent() -> None:
    judgements, successes = draw(3, 120, 4, leniency=1.0, favour=0.5)
    judgements[:] = np.eye(4)[np.arange(120) % 4]
    rng = np.random.default_rng(1)
    successes = judgements * (rng.random(judgements.shape) < [0.2, 0.4, 0.6, 0.8])
    found = make_model(judgements, successes).estimate_rates()
    assert found.rate == pytest.approx(found.plain)


def test_leniency_is_that_of_logistic_regression() -> None:
    import statsmodels.api as sm

    judgements, successes = draw(3, 400, 4, leniency=1.0, lean=0.6)
    model = fit(judgements, successes)
    n, x = judgements.sum(axis=1), successes.sum(axis=1)
    agent, person = np.indices(n.shape).reshape(2, -1)
    design = np.concatenate([np.eye(3)[agent], np.eye(4)[person][:, 1:]], axis=1)
    response = np.stack([x.ravel(), (n - x).ravel()], axis=1)
    oracle = sm.GLM(response, design, family=sm.families.Binomial()).fit()
    expected = np.append(0.0, oracle.params[3:])
    error = np.sqrt(np.diag(oracle.cov_params())[3:])
    assert (np.abs(model.leniency - model.leniency[0] - expected)[1:] < 0.1 * error).all()
    difference = model.leniency_errors - model.leniency_errors[:, :1]
    assert np.sqrt((difference**2).sum(axis=0))[1:] == pytest.approx(error, rel=0.1)


def test_errors_are_those_of_leaving_units_out() -> None:
    judgements, successes = draw(3, 90, 4, leniency=1.0, lean=0.6)
    whole = make_model(judgements, successes)
    found, pairs = whole.estimate_rates(), whole.compare(np.arange(3))
    left = []
    for unit in range(90):
        kept = np.arange(90) != unit
        left.append(make_model(judgements[:, kept], successes[:, kept]).estimate_rates().rate)
    deviations = np.array(left) - np.mean(left, axis=0)
    assert found.se == pytest.approx(np.sqrt(89 / 90 * (deviations**2).sum(axis=0)), rel=0.1)
    differences = deviations[:, pairs.first] - deviations[:, pairs.second]
    assert pairs.se == pytest.approx(np.sqrt(89 / 90 * (differences**2).sum(axis=0)), rel=0.1)


def test_favours_are_seen_where_they_are_and_rarely_where_not() -> None:
    strong = [fit(*draw(4, 300, 4, leniency=1.0, favour=0.8, seed=s)) for s in range(20)]
    assert np.mean([model.favour_p < 0.05 for model in strong]) > 0.8
    assert np.sqrt(np.mean([model.favour_variance for model in strong])) == pytest.approx(
        0.8, abs=0.15
    )
    none = [fit(*draw(4, 300, 4, leniency=1.0, seed=s)) for s in range(100)]
    assert np.mean([model.favour_p < 0.05 for model in none]) <= 0.12
    assert np.mean([model.favour_variance for model in none]) < 0.02


def test_verdicts_on_one_clip_are_no_sign_that_annotators_agree_on_agents() -> None:
    rng = np.random.default_rng(3)
    judgements = np.ones((3, 60, 3))
    successes = np.repeat(rng.random((3, 60, 1)) < 0.5, 3, axis=2) * 1.0  # everyone sees the same
    model = fit(judgements, successes)
    assert model.favour_variance == 0 and model.leniency_variance == 0


def test_annotator_with_one_verdict_leaves_agents_comparable() -> None:
    judgements, successes = draw(3, 100, 3)
    judgements, successes = (np.pad(x, ((0, 0), (0, 0), (0, 1))) for x in (judgements, successes))
    judgements[0, 0] = successes[0, 0] = [0, 0, 0, 1]
    assert make_model(judgements, successes).compare(np.arange(3)).identifiable.all()


def test_agents_who_share_no_annotator_by_way_of_others_are_apart() -> None:
    judgements, successes = draw(3, 100, 3)
    judgements[:] = np.eye(3)[[0, 0, 1]][:, None]
    model = make_model(judgements, judgements * successes.sum(axis=2, keepdims=True))
    pairs = model.compare(np.arange(3))
    assert pairs.identifiable.tolist() == [True, False, False]
    assert not model.generalises(model.estimate_rates(), np.arange(3))


@pytest.mark.parametrize(
    ("agents", "scenarios", "people", "chance"),
    [
        (3, 100, 1, 0.5),
        (3, 100, 3, 1.0),
        (3, 100, 3, 0.0),
        (2, 1, 3, 0.5),
        (2, 2, 3, 0.5),
        (20, 250, 500, 0.5),
        (3, 60, 3, [[0.0, 1.0, 0.5]]),
        (3, 60, 3, [[0.0], [1.0], [0.5]]),
    ],
    ids=["one annotator", "all succeed", "all fail", "one scenario", "two scenarios",
         "500 annotators with ten verdicts", "annotators of one mind", "complete separation"],
)  # fmt: skip
def test_extreme_studies_have_rates_within_0_and_1(agents, scenarios, people, chance) -> None:
    judgements, _ = draw(agents, scenarios, people)
    rng = np.random.default_rng(4)
    chances = np.broadcast_to(chance, (agents, people))[:, None]
    model = make_model(judgements, judgements * (rng.random(judgements.shape) < chances))
    found = model.estimate_rates()
    assert ((found.rate >= 0) & (found.rate <= 1)).all() and np.isfinite(found.interval).all()
    assert (np.diff(found.interval)[:, 0] > 0).all()
    pairs = model.compare(np.arange(agents), other_annotators=True)
    assert np.isfinite(pairs.interval[pairs.identifiable]).all()


def test_order_of_agents_and_annotators_does_not_matter() -> None:
    judgements, successes = draw(4, 80, 5, leniency=1.0, favour=0.5, lean=0.5)
    agents, people = np.array([2, 0, 3, 1]), np.array([4, 2, 0, 1, 3])
    turned = [table[agents][..., people] for table in (judgements, successes)]
    one, other = make_model(judgements, successes), make_model(*turned)
    assert other.estimate_rates().rate == pytest.approx(one.estimate_rates().rate[agents])
    assert other.estimate_rates().se == pytest.approx(one.estimate_rates().se[agents])


def test_far_agents_are_adjusted_on_the_scale_of_odds() -> None:
    judgements, _ = draw(2, 4000, 2, lean=0.8)
    says = expit(logit([[0.1], [0.9]]) + np.array([-1.0, 1.0]))
    rng = np.random.default_rng(5)
    successes = judgements * (rng.random(judgements.shape) < says[:, None])
    model = make_model(judgements, successes)
    assert model.annotators is not None
    truth = says @ model.annotators.workload
    found = model.estimate_rates()
    assert np.abs(found.rate - truth).max() < 0.02 < np.abs(found.plain - truth).max()
