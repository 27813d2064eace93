"""Races of agents: which agents leave, what is saved, and how often a race is wrong."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from sts.annotations.queue.rounds import PLACES_PER_ROUND, Cells, RoundOrder
from sts.annotations.races import DIFFERENT, HOPELESS, OPEN, PairLook
from sts_analysis.statistics.powered_rates import fit_labels
from sts_analysis.statistics.race import (
    LookResult,
    Resolved,
    find_closed_bar,
    find_due_point,
    find_hopeless,
    list_points,
    look_at,
    read_sign,
)
from sts_analysis.statistics.rates import RateModel, Rates
from sts_analysis.statistics.tabulation import Outcomes, RaceBounds, tabulate

NO_SCENARIOS = pd.DataFrame(columns=["scenario", "category", "kind"])
DIFFICULTY, INTERACTION = 1.2, 0.8
"""Standard deviations of the log odds of a scenario: of what agents share, and of the rest."""
_ODDS = np.hypot(DIFFICULTY, INTERACTION) * ndtri((np.arange(1000) + 0.5) / 1000)
PAIRS = (0.45, 0.45, 0.6, 0.6, 0.75, 0.75)
_VERDICTS = ["", "failure", "success"]


class World(NamedTuple):
    """Distribution of drawn studies."""

    rates: tuple[float, ...]  # of each agent
    scenarios: int = 316
    continuations: int = 10
    categories: int = 24
    annotators: int = 5
    alike: tuple[int | None, ...] = ()  # by agent, the outcome whose continuations share a clip
    twice: float = 0.1  # share of clips with two verdicts
    accuracy: float = 0.0  # of a program's labels; 0 for none


class Study(NamedTuple):
    """A study, of which all verdicts are known; rows are verdicts of continuations."""

    table: pd.DataFrame
    agents: tuple[str, ...]
    agent: np.ndarray
    clip: np.ndarray
    position: np.ndarray  # in rounds
    truth: np.ndarray  # float64[A], rates by the verdicts of these annotators
    outcome: np.ndarray  # bool, of the continuation


class Played(NamedTuple):
    """The end of a race: signs of pairs that differ, clips judged, and the rates."""

    found: dict[tuple[str, str], float]
    share: float
    rates: Rates
    pairs: tuple[tuple[float, PairLook], ...]  # that were resolved, with the point of that look


def draw_study(world: World, seed: int) -> Study:
    """Draw a study: chances of success are logit-normal over scenarios, and correlated."""
    rng = np.random.default_rng(seed)
    agents, shape = len(world.rates), (len(world.rates), world.scenarios, world.continuations)
    base = [brentq(lambda m, r=r: expit(m + _ODDS).mean() - r, -12, 12) for r in world.rates]
    odds = np.array(base)[:, None] + rng.normal(0, DIFFICULTY, world.scenarios)
    odds = odds + rng.normal(0, INTERACTION, shape[:2])
    y = rng.random(shape) < expit(odds)[..., None]
    a, s, k = (index.ravel() for index in np.indices(shape))
    outcome = y.ravel()
    alike = np.array([*(-1 if x is None else x for x in world.alike), *[-1] * agents])[a]
    key = np.where(alike == outcome, -1, k) + (a * world.scenarios + s) * (world.continuations + 1)
    _, first, clip = np.unique(key, return_index=True, return_inverse=True)
    # Annotators differ a little, and each clip has one of them, or two.
    hit, false = 0.93 + rng.uniform(-0.03, 0.03, (2, world.annotators)) * [[1], [-1]]
    false = 1 - false
    size = len(first)
    who = rng.permutation(np.arange(size) % world.annotators)
    other = (who + rng.integers(1, max(world.annotators, 2), size)) % world.annotators
    second = (rng.random(size) < world.twice) & (world.annotators > 1)
    says = [
        rng.random(size) < np.where(outcome[first], hit[person], false[person])
        for person in (who, other)
    ]
    row = np.concatenate([np.arange(len(a)), np.flatnonzero(second[clip])])
    turn = np.arange(len(row)) >= len(a)
    shown = clip[row]
    order = RoundOrder(
        {f"s{n:03}": f"c{n % world.categories:02}" for n in range(world.scenarios)}, seed
    )
    names = tuple(f"a{n:02}" for n in range(agents))
    cells = Cells(names, [f"s{n:03}" for n in range(world.scenarios)], a, k, s)
    position = (order.find_places(cells) / PLACES_PER_ROUND)[row]
    person = np.where(turn, other[shown], who[shown])
    table = pd.DataFrame(
        {
            "agent": _label(a[row], names),
            "scenario": _label(s[row], cells.scenarios),
            "category": _label(s[row] % world.categories, [f"c{n:02}" for n in range(24)]),
            "continuation": row,
            "clip": shown,
            "annotator": _label(person + 1, ["", *(f"p{n}" for n in range(world.annotators))]),
            "verdict": _label(1 + np.where(turn, says[1][shown], says[0][shown]), _VERDICTS),
            "round": 1 + position // 1,
            "place": position % 1,
            "truth": "",
            "kind": "",
            "sees": "observation",
            "source": "human",
            "horizon": 40.0,
        }
    )
    share = np.bincount(person, minlength=world.annotators) / len(person)
    rates = np.array(world.rates)
    truth = rates * (share @ hit) + (1 - rates) * (share @ false)
    return Study(table, names, a[row], shown, position, truth, outcome[row])


def _label(codes: NDArray[np.int64], names: Any) -> "pd.Categorical[Any]":
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(list(names)))


def lay_out(
    study: Study, judged: np.ndarray, bounds: RaceBounds | None, *, without: tuple[str, ...] = ()
) -> Outcomes:
    """Lay out a study in which these rows are judged, without some columns."""
    columns: dict[str, Any] = {"clip": "", "round": np.nan, "place": np.nan}
    rows = study.table.assign(**{name: columns[name] for name in without})
    for name in ("annotator", "verdict"):
        known = rows[name].cat
        rows[name] = _label(np.where(judged, known.codes, 0), known.categories)
    return tabulate(rows, "human", scenarios=NO_SCENARIOS, bounds=bounds)


def label(study: Study, accuracy: float, seed: int) -> Outcomes:
    """Lay out labels of a program that is right in this share of the clips."""
    is_right = np.random.default_rng((seed, 1)).random(study.clip.max() + 1) < accuracy
    verdict = 1 + (study.outcome == is_right[study.clip])
    rows = study.table.assign(source="automatic", verdict=_label(verdict, _VERDICTS))
    return tabulate(rows, "automatic", scenarios=NO_SCENARIOS)


def race(study: Study, rounds: int, goal: str, labels: Outcomes | None = None) -> Played:
    """Play a race as `planning.looks` does, with a look at each point."""
    resolved: dict[tuple[str, str], float] = {}
    out: dict[str, float] = {}
    judged = np.zeros(study.clip.max() + 1, bool)
    rows: list[tuple[float, PairLook]] = []
    for point in list_points(rounds):
        racing = [name for name in study.agents if name not in out]
        here = np.isin(study.agent, [study.agents.index(name) for name in racing])
        judged[study.clip[here & (study.position < point)]] = True
        bounds = {name: out.get(name, point) for name in study.agents}
        outcomes = lay_out(study, judged[study.clip], RaceBounds(bounds, bounds))
        control = None if labels is None else fit_labels(outcomes, labels)
        model = RateModel(outcomes, control=control)
        look = look_at(model, resolved, goal, racing)
        rows += [(point, pair) for pair in look.pairs if pair.outcome != OPEN]
        resolved = {(pair.first, pair.second): read_sign(pair) for _, pair in rows}
        out |= dict.fromkeys(look.leaving, point)
        if len(out) == len(study.agents):
            break
    found = {pair: sign for pair, sign in resolved.items() if sign}
    return Played(found, float(judged.mean()), model.estimate_rates(), tuple(rows))


def judge_all(study: Study) -> dict[tuple[str, str], float]:
    """Return the signs of pairs that differ at .05 when everything is judged."""
    model = RateModel(lay_out(study, np.ones(len(study.clip), bool), None))
    agents = np.arange(len(study.agents))
    pairs = model.compare(agents)
    return {
        (study.agents[a], study.agents[b]): float(np.sign(value))
        for a, b, value, p in zip(pairs.first, pairs.second, pairs.value, pairs.p_holm, strict=True)
        if p < 0.05
    }


def is_wrong(found: Mapping[tuple[str, str], float], study: Study) -> bool:
    """Return True if agents are found in a wrong order, or equal ones to differ."""
    truth = dict(zip(study.agents, study.truth, strict=True))
    return any(sign != np.sign(round(truth[a] - truth[b], 9)) for (a, b), sign in found.items())


def look(study: Study, point: float, *, resolved: Resolved | None = None, **changes: Any):
    """Look at a study in which everything before a point is judged."""
    bounds = dict.fromkeys(study.agents, point)
    outcomes = lay_out(study, study.position < point, RaceBounds(bounds, bounds))
    settings = {"goal": "rank", "racing": study.agents} | changes
    return look_at(RateModel(outcomes), resolved or {}, settings["goal"], settings["racing"])


def read_outcomes(found: LookResult) -> dict[str, str]:
    return {f"{pair.first} {pair.second}": pair.outcome for pair in found.pairs}


def keep_rows(study: Study, keep: np.ndarray) -> Study:
    agent, clip, position = study.agent[keep], study.clip[keep], study.position[keep]
    table, outcome = study.table[keep].reset_index(drop=True), study.outcome[keep]
    return study._replace(table=table, agent=agent, clip=clip, position=position, outcome=outcome)


def test_points_are_the_quarters_of_the_first_round_and_the_end_of_each() -> None:
    assert list_points(3) == (0.25, 0.5, 0.75, 1.0, 2.0, 3.0)
    assert list_points(1) == (0.25, 0.5, 0.75, 1.0)


@pytest.mark.parametrize(
    ("until", "last", "point"),
    [
        ({}, {}, None),
        ({"a": 0.24}, {}, None),
        ({"a": 0.6, "b": 1.4}, {}, 0.5),
        ({"a": 0.6, "b": 1.4}, {"a": 0.5, "b": 0.5}, None),
        ({"a": 3.2, "b": 2.9}, {"a": 0.5, "b": 0.5}, 2.0),  # passed points are not made up for
        ({"a": 4.0, "b": 4.0}, {"a": 3.0, "b": 3.0}, 4.0),
        ({"a": 3.2, "b": 0.1}, {"a": 3.0}, None),  # b has joined
        ({"a": 3.2, "b": 0.3}, {"a": 3.0}, 0.25),
        ({"a": 3.2, "b": 2.0}, {"a": 3.0, "b": 1.0}, 2.0),
        ({"a": 3.2}, {"a": 3.0, "b": 1.0}, None),  # b has left
    ],
)
def test_look_is_due_at_the_point_that_all_agents_in_the_race_have_reached(
    until, last, point
) -> None:
    assert find_due_point(until, last, 4) == point


def test_bar_rises_with_information_to_that_of_the_end() -> None:
    bar = find_closed_bar(np.array([np.nan, 0.0, 0.25, 0.5, 0.999, 1.0]))
    assert bar == pytest.approx([0, 0, 7.464e-6, 0.0015358, 0.025018, 0.05], rel=1e-3, abs=1e-12)


@pytest.mark.parametrize(
    ("information", "pairs", "least"),
    [
        (1.0, 1, 1.95996),  # at the end, the quantile itself
        (1.0, 10, 2.80703),
        (0.5, 1, 1.95996 * 0.5**0.5 - 1.5 * 0.5**0.5),
        (0.5, 10, 2.80703 * 0.5**0.5 - 1.5 * 0.5**0.5),
        (0.25, 1, 0.0),  # what may still come is more than the bar
    ],
)
def test_pair_is_hopeless_below_a_bar_less_what_may_still_come(information, pairs, least) -> None:
    difference = np.array([-1, -1, 1, 1]) * (least + np.array([0.001, -0.001, 0.001, -0.001]))
    found = find_hopeless(difference, np.ones(4), np.full(4, information), pairs)
    assert found.tolist() == [False, least > 0, False, least > 0]


def test_pair_without_numbers_is_not_hopeless() -> None:
    nan = np.nan
    difference, se, information = np.array([[nan, 0.0, 0.0], [1.0, nan, 1.0], [1.0, 1.0, nan]])
    assert not find_hopeless(difference, se, information, 1).any()


@pytest.mark.parametrize(
    ("information", "pairs", "hopeless"),
    [(0.25, 1, False), (0.5, 1, True), (0.4, 1, True), (0.25, 50, True)],
)
def test_alike_agents_are_hopeless_once_too_few_units_can_differ(
    information: float, pairs: int, hopeless: bool
) -> None:
    none, share = np.zeros(2), np.array([information, np.nan])
    assert find_hopeless(none, none, share, pairs).tolist() == [hopeless, False]
    assert not find_hopeless(none + 1.0, none, share, pairs).any()


CLEAR = World((0.92, 0.4, 0.4), scenarios=60, continuations=3, categories=4)


@pytest.fixture(scope="module")
def clear() -> Study:
    """Return a study of one agent that is far ahead of two equal ones."""
    return draw_study(CLEAR, 0)


def test_agents_leave_when_all_their_pairs_are_resolved(clear) -> None:
    early, later = look(clear, 0.25), look(clear, 1.0)
    assert read_outcomes(later) == {"a00 a01": DIFFERENT, "a00 a02": DIFFERENT, "a01 a02": OPEN}
    assert set(read_outcomes(early).values()) == {OPEN} and early.leaving == ()
    assert later.leaving == ("a00",)
    assert [read_sign(pair) for pair in later.pairs] == [1, 1, 0]


def test_agents_that_others_beat_leave_if_the_best_is_wanted(clear) -> None:
    assert look(clear, 1.0, goal="best").leaving == clear.agents
    beaten = {("a00", "a01"): 1.0}
    assert look(clear, 0.25, goal="best", resolved=beaten).leaving == ("a01",)
    assert look(clear, 0.25, resolved=beaten).leaving == ()


def test_agent_that_has_left_keeps_others_in_the_race_and_leaves_no_more(clear) -> None:
    assert look(clear, 1.0, racing=["a01"]).leaving == ()  # a01 and a02 are open
    assert look(clear, 1.0, racing=["a00"]).leaving == ("a00",)
    assert look(clear, 1.0, racing=["a00", "a01"]).leaving == ("a00",)


def test_resolved_pair_is_not_looked_at_again(clear) -> None:
    pairs = {("a00", "a01"): -1.0, ("a00", "a02"): 0.0}  # unlike what the verdicts say
    found = look(clear, 1.0, resolved=pairs)
    assert read_outcomes(found) == {"a01 a02": OPEN} and found.leaving == ("a00",)
    assert look(clear, 1.0, resolved=pairs, goal="best").leaving == ("a00",)


def test_agents_without_any_failure_or_success_are_told_apart() -> None:
    """Their difference has no standard error, and no variance that could be shared."""
    study = draw_study(World((0.5,) * 3, scenarios=60, continuations=6, categories=4), 0)
    says = _label(np.where(study.agent == 2, 1, 2), _VERDICTS)
    sure = study._replace(table=study.table.assign(verdict=says))
    both = {"a00 a02": DIFFERENT, "a01 a02": DIFFERENT}
    assert read_outcomes(look(sure, 1.0)) == {"a00 a01": OPEN} | both
    assert look(sure, 1.0).leaving == ("a02",)
    assert read_outcomes(look(sure, 3.0)) == {"a00 a01": HOPELESS} | both


def test_pair_waits_for_ten_units() -> None:
    study = draw_study(World((0.95, 0.05), scenarios=12, continuations=3, categories=1), 0)
    for scenarios, outcome in ((9, OPEN), (10, DIFFERENT)):
        few = keep_rows(study, study.table["scenario"].cat.codes.to_numpy() < scenarios)
        assert read_outcomes(look(few, 3.0)) == {"a00 a01": outcome}


def test_agent_that_lacks_scenarios_stays_until_the_others_leave(clear) -> None:
    lacks = (clear.agent == 1) & (clear.table["scenario"].cat.codes < 20).to_numpy()
    part = keep_rows(clear, ~lacks)
    assert read_outcomes(look(part, 0.25)) == {"a00 a02": OPEN}
    assert look(part, 0.25).leaving == ()
    assert look(part, 1.0).leaving == clear.agents
    lacking_too = keep_rows(clear, ~lacks & (clear.agent != 2))
    assert read_outcomes(look(lacking_too, 1.0)) == {}


def test_agent_alone_is_judged_to_the_end(clear) -> None:
    """With one that lacks scenarios, or none, there is nothing to compare it with."""
    few = (clear.table["scenario"].cat.codes < 20).to_numpy() & (clear.agent == 1)
    for others in (few, clear.agent == 9):
        study = keep_rows(clear, (clear.agent == 0) | others)
        assert look(study, 1.0) == LookResult((), ())


def race_naively(study: Study, seed: int) -> dict[tuple[str, str], float]:
    """Play a race in which clips are judged in random order, and rates are means of what is judged.

    It has the same rule, after each quarter of the clips.
    """
    place = np.random.default_rng(seed).permutation(study.clip.max() + 1)[study.clip]
    resolved: dict[tuple[str, str], float] = {}
    for share in (0.25, 0.5, 0.75, 1.0):
        judged = place < share * (place.max() + 1)
        model = RateModel(lay_out(study, judged, None, without=("clip", "round", "place")))
        found = look_at(model, resolved, "rank", study.agents)
        resolved |= {(p.first, p.second): read_sign(p) for p in found.pairs if p.outcome != OPEN}
    return {pair: sign for pair, sign in resolved.items() if sign}


@pytest.mark.landing
def test_alike_continuations_mislead_random_clips_and_no_race() -> None:
    studies = 4
    world = World((0.5, 0.5), scenarios=80, categories=4, alike=(0, 1))
    wrong, naive, rates = 0, 0, []
    for seed in range(studies):
        study = draw_study(world, seed)
        played = race(study, world.continuations, "rank")
        wrong += is_wrong(played.found, study)
        naive += is_wrong(race_naively(study, seed), study)
        rates.append(played.rates.rate)
    assert naive >= studies - 1 and wrong <= 1
    assert np.mean(rates, axis=0) == pytest.approx([0.5, 0.5], abs=4 * 0.06 / studies**0.5)


def test_race_saves_half_of_the_clips_and_keeps_the_order() -> None:
    """Three agents far from each other are in the order that the full plan finds."""
    world = World((0.2, 0.5, 0.8), scenarios=60, continuations=6, categories=4)
    for seed in range(2):
        study = draw_study(world, seed)
        played = race(study, world.continuations, "rank")
        assert played.found == judge_all(study) and len(played.found) == 3
        assert played.share <= 0.5


def test_right_labels_add_information_and_wrong_ones_none() -> None:
    study = draw_study(World((0.35, 0.5, 0.65), scenarios=120, continuations=8), 0)
    bounds = RaceBounds(*[dict.fromkeys(study.agents, 2.0)] * 2)
    outcomes = lay_out(study, study.position < 2, bounds)
    found = []
    for labels in (None, label(study, 0.95, 0), label(study, 0.5, 0)):
        control = None if labels is None else fit_labels(outcomes, labels)
        pairs = look_at(RateModel(outcomes, control=control), {}, "rank", study.agents).pairs
        found.append([(pair.se or 0.0, pair.information or 0.0) for pair in pairs])
    (se, share), (right_se, right_share), (wrong_se, _) = np.array(found).swapaxes(1, 2)
    assert (right_se < 0.9 * se).all() and wrong_se == pytest.approx(se, rel=0.05)
    # The variance at the end of the plan is the same.
    assert right_se**2 * right_share == pytest.approx(se**2 * share, rel=0.25)


def find_beaten(found: Mapping[tuple[str, str], float]) -> set[str]:
    return {pair[1 if sign > 0 else 0] for pair, sign in found.items()}


def spread(agents: int) -> tuple[float, ...]:
    return tuple(np.linspace(0.41, 0.92, agents).tolist())


class Summary(NamedTuple):
    """Means over races."""

    share: float  # of clips that are judged
    kept: float  # share of the full plan's differences that are found, too
    wrong: float  # share of races with a wrong order
    covered: float  # share of agents whose interval holds the true rate


def summarise(world: World, goal: str, studies: int) -> Summary:
    """Play races. For the goal "best", an agent that any other beats counts as a difference."""
    shares, wrong, covered = np.zeros((3, studies))
    there = kept = 0
    for seed in range(studies):
        study = draw_study(world, seed)
        labels = label(study, world.accuracy, seed) if world.accuracy else None
        full, played = judge_all(study), race(study, world.continuations, goal, labels)
        shares[seed], wrong[seed] = played.share, is_wrong(played.found, study)
        ends = played.rates.interval
        covered[seed] = ((ends[:, 0] <= study.truth) & (study.truth <= ends[:, 1])).mean()
        wanted: set[object] = {*full.items()}
        reached: set[object] = {*played.found.items()}
        if goal == "best":
            wanted, reached = {*find_beaten(full)}, {*find_beaten(played.found)}
        there, kept = there + len(wanted), kept + len(wanted & reached)
    return Summary(float(shares.mean()), kept / max(there, 1), wrong.mean(), covered.mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "goal", "studies", "most"),
    [
        (World(PAIRS), "rank", 60, 0.5),
        (World(spread(8)), "rank", 40, 0.65),
        (World(spread(12)), "rank", 24, 0.9),
        (World(PAIRS), "best", 80, 0.3),
        (World(spread(8)), "best", 80, 0.25),
        (World(spread(12)), "best", 40, 0.3),
        (World((0.6,) * 8), "rank", 60, 0.58),
        (World((0.6,) * 8, scenarios=10), "rank", 60, 0.66),
        (World((0.6,) * 2, scenarios=80), "rank", 150, 0.6),
        (World((0.6,) * 2, scenarios=10), "rank", 150, 0.65),
        (World((0.6,) * 2, scenarios=80, annotators=1), "rank", 80, 0.6),
        (World((0.6,) * 2, scenarios=80, annotators=10), "rank", 80, 0.6),
        (World((0.6,) * 2, scenarios=80, alike=(0, 1)), "rank", 150, 0.75),
        (World(PAIRS, scenarios=80, alike=(0, None)), "rank", 40, 0.8),
        (World(PAIRS, accuracy=0.95), "rank", 60, 0.4),
        (World(PAIRS, accuracy=0.5), "rank", 60, 0.5),
        (World((0.6,) * 8, accuracy=0.95), "rank", 60, 0.5),
        (World((0.6,) * 2, scenarios=80, alike=(0, 1), accuracy=0.9), "rank", 150, 0.75),
    ],
)
def test_race_saves_clips_at_hardly_a_cost_in_truth(world, goal, studies, most) -> None:
    """Bounds are three standard errors wide, as if the agents of a study were one."""
    found = summarise(world, goal, studies)

    def vary(share: float) -> float:
        return 3 * float(np.sqrt(share * (1 - share) / studies))

    assert found.share <= most
    assert found.wrong <= 0.075 + vary(0.075)
    assert 0.93 - vary(0.93) <= found.covered <= 0.97 + vary(0.97)
    assert len({*world.rates}) == 1 or found.kept >= 0.97 - vary(0.97)
