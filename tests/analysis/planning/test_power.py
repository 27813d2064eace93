"""Planning: formulas by hand, and by simulating the study that was planned."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sts.cli.main import main
from sts.errors import DamagedData, UnknownName
from sts_analysis.inputs import tables
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.subject import Subject
from sts_analysis.planning import power
from sts_analysis.planning.noise import Noise, Size, assumed_noise, judging_noise, measured_noise
from sts_analysis.planning.pilot import pilot
from sts_analysis.planning.power import Criterion
from sts_analysis.planning.prospect import measured, prospect
from sts_analysis.statistics.by_annotators import by_annotators
from sts_analysis.statistics.comparisons import FEW_SCENARIOS, compare
from sts_analysis.statistics.outcomes import Summary, summarise
from sts_analysis.statistics.pass_rates import pass_rates
from tests.analysis.planning.designs import copied, judged, plain

NOISE = assumed_noise(rate=0.5, icc=0.4, correlation=0.5, sensitivity=0.95, specificity=0.95)
SIZE = Size(160, 3, 1)


def study(
    rng: np.random.Generator, *, gap: float, scenarios: int, continuations: int, studies: int = 1
) -> np.ndarray:
    """Outcomes [2, studies, S, N]: the second agent passes half, the first `gap` more than that."""
    shape = (2, studies, scenarios)
    shared, own = rng.beta(0.75, 0.75, shape[1:]), rng.beta(0.75, 0.75, shape)
    chance = np.where(rng.random(shape) < math.sqrt(0.5), shared, own)
    chance[0] += 2 * gap * (1 - chance[0])
    return (rng.random((*shape, continuations)) < chance[..., None]).astype(np.float64)


def test_the_smallest_difference_of_a_worked_case() -> None:
    # Two agents, 100 scenarios of one category, variance .25 a scenario: an error of .05, and
    # 2.828 of it by the tables of Student's t with 99 df and its non-central sibling.
    seen = power.smallest_difference(Noise(0.25, 0.0, 0.0), Size(100, 1, 1), Criterion())
    assert seen == pytest.approx(0.1416, abs=2e-4)


def test_of_one_budget_more_scenarios_see_more_than_more_continuations() -> None:
    ways = power.splits(NOISE, 1600, Criterion())
    assert [way.continuations for way in ways] == [1, 2, 3, 5, 10, 20]
    assert all(2 * way.scenarios * way.continuations <= 1600 for way in ways)
    assert np.all(np.diff([way.difference for way in ways]) > 0)


def test_what_is_said_to_be_enough_is_and_one_less_is_not() -> None:
    wide = Size(2000, 1, 1)
    for size, least, grown in (
        (SIZE, power.scenarios_for, "scenarios"),
        (wide, power.continuations_for, "continuations"),
        (wide, power.annotations_for, "annotations"),
    ):
        # What lies between what the study sees and what endlessly many would see.
        endless = size._replace(**{grown: 1e9 if grown != "scenarios" else 1e5})
        limit = power.smallest_difference(NOISE, endless, Criterion())
        goal = (limit + power.smallest_difference(NOISE, size, Criterion())) / 2
        number = least(goal, NOISE, size, Criterion())
        assert number is not None and number > 1
        enough, short = size._replace(**{grown: number}), size._replace(**{grown: number - 1})
        assert power.smallest_difference(NOISE, enough, Criterion()) <= goal + 1e-12
        assert power.smallest_difference(NOISE, short, Criterion()) > goal


def test_where_scenarios_blur_it_no_number_of_continuations_is_enough() -> None:
    few = Size(100, 1, 1)
    assert power.continuations_for(0.02, NOISE, few, Criterion()) is None
    assert power.annotations_for(0.02, NOISE, few, Criterion()) is None
    assert power.continuations_for(0.02, NOISE, few, Criterion(fixed=True)) is not None


def test_among_more_agents_a_difference_must_be_larger() -> None:
    seen = [power.smallest_difference(NOISE, SIZE, Criterion(agents=n)) for n in (2, 3, 6, 20)]
    assert np.all(np.diff(seen) > 0)


def test_with_no_scenario_beyond_the_categories_nothing_is_seen() -> None:
    none = prospect(NOISE, Size(3, 5, 1), Criterion(categories=3), 0.05)
    assert none.smallest is None and none.to_json()["smallest"] is None


def test_anchors_leave_the_interval_a_tenth_wider() -> None:
    number = power.anchors_for(NOISE, SIZE, Criterion())
    assert number is not None
    own = power.standard_error(NOISE, SIZE)

    def width(anchors: int) -> float:
        owed = 1 - anchors / (2 * SIZE.scenarios * SIZE.continuations)
        return math.hypot(own, owed * math.sqrt(NOISE.judging / anchors))

    assert width(number) <= 1.1 * own < width(number - 1)


def alone(values: np.ndarray) -> tuple[Noise, Size]:
    """The noise of a pilot [2, 1, S, N] of which nothing was judged twice."""
    summary = summarise(values[:, 0])
    difference = np.subtract(*values[:, 0].mean(axis=2))
    error = difference.std(ddof=1) / math.sqrt(len(difference))
    nothing, one = np.full(2, np.nan), np.ones(2)
    return measured_noise(summary, error, judging=nothing, annotations=one, fixed=False)


@pytest.mark.parametrize("continuations", [1, 5])
@pytest.mark.parametrize("gap", [0.1, 0.2])
def test_a_planned_difference_is_seen_as_often_as_planned(gap: float, continuations: int) -> None:
    rng = np.random.default_rng(5)
    noise, size = alone(study(rng, gap=gap, scenarios=20_000, continuations=continuations))
    number = power.scenarios_for(gap, noise, size, Criterion())
    assert number is not None
    values = study(rng, gap=gap, scenarios=number, continuations=continuations, studies=600)
    difference = np.subtract(*values.mean(axis=3))
    error = difference.std(axis=1, ddof=1) / math.sqrt(number)
    seen = np.abs(difference.mean(axis=1)) > stats.t.isf(0.025, number - 1) * error
    assert seen.mean() == pytest.approx(0.8, abs=0.05)
    # Which is what a report tests by.
    first = summarise(values[:, 0])
    category = np.zeros(number, np.int64)
    rates = pass_rates(first, category, target="sampled")
    compared = compare(first, category, rates, target="sampled", seed=0, draws=99)
    assert compared.error[0] == pytest.approx(error[0])


def test_a_pilot_shows_the_noise_that_it_was_made_with() -> None:
    rng = np.random.default_rng(6)
    values = study(rng, gap=0.0, scenarios=6000, continuations=4)
    noise, size = alone(values)
    assert size == Size(6000, 4, 1)
    # Rates of .5 with ICC .4 vary by .1; those of both agents go together in a half of them.
    assert noise.between == pytest.approx(2 * 0.1 * (1 - 0.5), rel=0.1)
    assert noise.outcomes == pytest.approx(2 * 0.15, rel=0.05)
    assert math.isnan(noise.judging)
    # And what it says of itself is the report's own standard error.
    difference = np.subtract(*values[:, 0].mean(axis=2))
    own = difference.std(ddof=1) / math.sqrt(6000)
    assert power.standard_error(noise, size) == pytest.approx(own)


def test_of_one_continuation_each_nothing_tells_what_more_would_do() -> None:
    summary = Summary(np.ones((2, 4), np.int64), np.eye(2, 4), np.full((2, 4), np.nan))
    nothing, once = np.full(2, np.nan), np.ones(2)
    noise, size = measured_noise(summary, 0.3, judging=nothing, annotations=once, fixed=False)
    one = prospect(noise, size, Criterion(), 0.05)
    assert one.continuations is None and one.annotations is None and one.splits == ()
    assert one.to_json()["noise"]["outcomes"] is None


def pilot_table(people: int = 2) -> pd.DataFrame:
    """Two agents on six scenarios, where people differ on the first; and one nobody judged."""
    rows = [
        (agent, f"s{s}", f"{agent}{s}{n}", f"p{who}", ("success", "failure")[(s + n + other) % 2])
        for agent in ("a", "b")
        for s in range(6)
        for n in range(2)
        for who in range(people)
        for other in [int(agent == "a") + (who if s == 0 else 0)]
    ]
    columns = ["agent", "scenario", "continuation", "annotator", "verdict"]
    return pd.DataFrame([*rows, ("c", "s0", "c00", "", "")], columns=columns)


def ratings(people: int = 2) -> pd.DataFrame:
    return check_ratings(tables.from_frame("t", pilot_table(people)))


def test_judges_are_told_from_continuations_where_two_judged() -> None:
    variance, number = judging_noise(ratings(), ("a", "b"))
    # Of twelve continuations two were called otherwise: a variance of a half each.
    assert variance.tolist() == pytest.approx([1 / 12, 1 / 12])
    assert number.tolist() == [2, 2]
    variance, number = judging_noise(ratings(people=1), ("a", "b"))
    assert np.isnan(variance).all() and number.tolist() == [1, 1]


def test_a_pilot_refuses_what_it_does_not_know() -> None:
    told = pilot(ratings(), Subject("t"), target="sampled")
    assert set(told.ranked) == {"a", "b"}
    assert measured(told, "a", "b") is not None
    with pytest.raises(UnknownName, match="ranked agent"):
        measured(told, "a", "c")
    with pytest.raises(DamagedData, match="expected model labels"):
        pilot(ratings(), Subject("t"), target="sampled", source="model")


def test_the_command_plans_with_and_without_a_pilot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "ratings.csv")
    pilot_table().to_csv(path, index=False)
    assert main(["power", "--table", path, "--pair", "a", "b"]) == 0
    assert "as judged: scenarios 6" in capsys.readouterr().out
    assert main(["power", "--table", path]) == 0
    assert "and the next" in capsys.readouterr().out
    assert main(["power", "--n-agents", "6"]) == 0
    assert "all pairs of 6 ranked agents" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--power", "1"], "--power: expected a chance in (0.05, 1), found 1.0"),
        (["--difference", "nan"], "--difference: expected a number, found 'nan'"),
        (["--rate", "1.2"], "--rate: expected a share in (0, 1), found 1.2"),
        (["--pair", "a", "b"], "--pair is for a pilot"),
        (["--labels", "human"], "--labels is for a pilot"),
        (["--table", "t.csv", "--icc", "0.3"], "--icc is assumed without a pilot"),
        (["--n-agents", "1"], "expected --n-agents of 2 or more, found 1"),
        (["--scenarios", "0"], "expected --scenarios of 1 or more, found 0"),
        (["--sensitivity", ".4", "--specificity", ".5"], "expected a sum above 1"),
    ],
)
def test_flags_that_make_no_sense_are_refused_in_one_line(
    flags: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["power", *flags]) == 2
    refused = capsys.readouterr().err
    assert says in refused and refused.count("\n") == 1


def pilots(case: str) -> pd.DataFrame:
    """Two agents on some scenarios, of which something is missing."""
    scenarios = 1 if case == "one scenario" else 8
    each = 1 if case == "one continuation" else 2
    alike = case in ("all passes", "one continuation")
    rows = [
        (agent, f"s{s}", f"{agent}{s}{n}", "p0", words[0 if alike else (s * n + s // 2) % 2])
        for agent in ("a" if case == "one agent" else "ab")
        for s in range(scenarios)
        for n in range(each)
        for words in [("success", "failure") if agent == "a" else ("failure", "success")]
    ]
    columns = ["agent", "scenario", "continuation", "annotator", "verdict"]
    frame = pd.DataFrame(rows, columns=columns)
    if case == "all passes":
        frame["verdict"] = "success"
    if case == "none judged":
        frame[["annotator", "verdict"]] = ""
    return frame


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ("one agent", "expected at least two ranked agents, found 1"),
        ("one scenario", "a and b: fewer than two scenarios are judged for both"),
        ("all passes", "a and b: no spread is seen"),
        ("one continuation", "a and b: no spread is seen"),
        ("none judged", "expected human labels to plan from, found none"),
    ],
)
@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_a_pilot_that_tells_nothing_is_refused_in_one_line(
    case: str, says: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "ratings.csv")
    pilots(case).to_csv(path, index=False)
    assert main(["power", "--table", path, "--target", target]) == 1
    refused = capsys.readouterr().err
    if case == "one continuation" and target == "fixed":
        says = "each scenario has one continuation"
    assert says in refused and refused.count("\n") == 1


def test_a_plan_never_sees_more_than_there_is() -> None:
    few = prospect(NOISE, Size(3, 1, 1), Criterion(fixed=True), 0.05)
    assert few.smallest is None and all(way.difference < 1 for way in few.splits)
    # Of six scenarios signs flip in 64 ways, and no p is below 2 / 64; that of six agents must be.
    assert math.isinf(power.smallest_difference(NOISE, Size(6, 9, 1), Criterion(agents=6)))
    assert math.isfinite(power.smallest_difference(NOISE, Size(6, 9, 1), Criterion()))
    assert math.isinf(power.smallest_difference(NOISE, Size(5, 9, 1), Criterion()))


def test_what_a_pilot_does_not_tell_cannot_be_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "ratings.csv")
    frame = pilots("usual")
    frame.to_csv(path, index=False)
    assert main(["power", "--table", path, "--annotations", "3"]) == 2
    assert "nothing was judged by two people" in capsys.readouterr().err
    frame[~frame["continuation"].duplicated()].groupby(
        ["agent", "scenario"]
    ).first().reset_index().to_csv(path, index=False)
    assert main(["power", "--table", path, "--continuations", "3"]) == 2
    assert "the pilot has one continuation of each scenario" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["sampled", "fixed"])
@pytest.mark.parametrize("frame", [plain(scenarios=30), copied()], ids=["plain", "copies"])
def test_the_noise_of_a_pilot_adds_up_to_the_error_of_its_report(
    frame: pd.DataFrame, target: str
) -> None:
    told = judged(frame, target=target)
    a, b = told.labels.comparisons.pairs[0]
    seen = measured(told, told.ranked[a], told.ranked[b])
    assert not isinstance(seen, str)
    error = power.standard_error(*seen, fixed=target == "fixed")
    assert error == pytest.approx(told.labels.comparisons.error[0])


def test_copies_share_what_more_continuations_do_not_lessen() -> None:
    told = judged(copied(), target="fixed")
    seen = measured(told, "a", "b")
    assert not isinstance(seen, str)
    noise, size = seen
    assert noise.copies > 0
    many = power.standard_error(noise, size._replace(continuations=1e9), fixed=True)
    assert many == pytest.approx(math.sqrt(noise.copies / size.scenarios))


def noise_of(gap: float, right: float) -> Noise:
    """What `separated` draws from: chances x (1 - gap), + gap for the better; x varies by .1."""
    rate = (1 - gap) / 2
    icc = 0.1 * (1 - gap) ** 2 / (rate * (1 - rate))
    return assumed_noise(rate=rate, icc=icc, correlation=0.5, sensitivity=right, specificity=right)


def separated(
    *, gap: float, size: Size, agents: int, fixed: bool, right: float, studies: int
) -> float:
    """How often a report separates the better of agents from the next, in studies of a size.

    The better agent passes half of the scenarios and `gap` / 2 more, the others, which are alike,
    as much less; see `noise_of`.
    """
    scenarios, continuations, annotations = (int(part) for part in size)
    category, seen = np.zeros(scenarios, np.int64), 0
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        shape = (agents, scenarios)
        shared, own = rng.beta(0.75, 0.75, scenarios), rng.beta(0.75, 0.75, shape)
        chance = np.where(rng.random(shape) < math.sqrt(0.5), shared, own)
        if fixed:
            chance = np.broadcast_to(shared, shape).copy()
        chance = chance * (1 - gap)
        chance[0] += gap
        success = rng.random((*shape, continuations)) < chance[..., None]
        called = np.where(success, right, 1 - right)[..., None]
        values = (rng.random((*success.shape, annotations)) < called).mean(axis=3)
        summary = summarise(values)
        target = "fixed" if fixed else "sampled"
        rates = pass_rates(summary, category, target=target)
        compared = compare(summary, category, rates, target=target, seed=seed, draws=9999)
        seen += int(compared.separated[0])
    return seen / studies


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "agents", "right", "fixed"),
    [
        *((Size(160, 3, 1), 2, 0.95, fixed) for fixed in (False, True)),
        *((Size(60, 5, 2), 2, 0.85, fixed) for fixed in (False, True)),
        *((Size(160, 3, 1), 6, 0.95, fixed) for fixed in (False, True)),
        (Size(30, 1, 1), 2, 0.95, False),  # one continuation alone shows no spread to fix
        *((Size(12, 10, 1), 2, 0.95, fixed) for fixed in (False, True)),
        *((Size(8, 10, 1), 2, 0.95, fixed) for fixed in (False, True)),
    ],
)
def test_the_power_that_is_predicted_is_that_of_simulated_reports(
    size: Size, agents: int, right: float, fixed: bool
) -> None:
    gap, criterion = 0.0, Criterion(agents=agents, fixed=fixed)
    for _ in range(30):
        gap = power.smallest_difference(noise_of(gap, right), size, criterion)
    seen = separated(gap=gap, size=size, agents=agents, fixed=fixed, right=right, studies=500)
    few = not fixed and size.scenarios <= FEW_SCENARIOS
    # Flips of the signs of a few lumpy differences see a little less than of normal ones.
    assert (0.66 if few else 0.75) < seen < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_so_many_anchors_leave_the_adjusted_interval_a_tenth_wider(target: str) -> None:
    size, right = Size(80, 3, 1), 0.9
    noise = assumed_noise(rate=0.5, icc=0.4, correlation=0.5, sensitivity=right, specificity=right)
    anchors = power.anchors_for(noise, size, Criterion(fixed=target == "fixed"))
    assert anchors is not None
    ratios, told = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values = study(rng, gap=0.0, scenarios=80, continuations=3)[:, 0]
        both = set(rng.permutation(values.size)[:anchors].tolist())
        rows = [
            (f"a{a}", f"s{s}", f"{a}-{s}-{n}", f"p{who}", ("failure", "success")[int(said)])
            for place, (a, s, n) in enumerate(np.ndindex(values.shape))
            for who in ((0, 1) if place in both else (a,))
            for said in [values[a, s, n] if rng.random() < right else 1 - values[a, s, n]]
        ]
        columns = ["agent", "scenario", "continuation", "annotator", "verdict"]
        told.append(judged(pd.DataFrame(rows, columns=columns), target=target))
        who = by_annotators(told[-1].labels, told[-1].ratings, seed=0, draws=99)
        assert who is not None and who.adjusted.told.all()
        ratios.append(who.adjusted.error[0] / told[-1].labels.comparisons.error[0])
    assert 1.02 < np.mean(ratios) < 1.15
