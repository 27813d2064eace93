"""Hours with racing: simulated races agree with looks at tables of verdicts."""

import json

import numpy as np
import pytest

from sts.cli.main import main
from sts_analysis.planning.chances import Accuracy, ChanceModel
from sts_analysis.planning.power import Assumptions, Design
from sts_analysis.planning.race_hours import (
    MAX_AGENTS,
    RaceShare,
    simulate_race,
    spread_agents,
)
from sts_analysis.statistics.race import list_points, look_at, read_sign
from sts_analysis.statistics.rates import RateModel
from tests.analysis.planning.designs import CORRELATION, ICC, draw_verdicts, lay_out, make_table

ONE, RIGHT = np.ones(1), Accuracy(1.0, 1.0)
POWER = "power --n-agents 4 --scenarios 100 --difference 20 --json"


def spread(agents: int, difference: float) -> ChanceModel:
    assumptions = Assumptions(np.array([0.5]), ONE, ICC, CORRELATION, 0.5, RIGHT)
    return spread_agents(assumptions, difference, agents)


def simulate(
    goal: str, difference: float = 0.1, *, agents: int = 4, rounds: int = 5, **design
) -> RaceShare:
    size = Design(**{"scenarios": 60, "continuations": 1, "annotations": 1} | design)
    given = spread(agents, difference), ONE, RIGHT, goal, size, (rounds,)
    return simulate_race(*given)[rounds]


def look_at_study(verdicts: np.ndarray, goal: str, place: np.ndarray) -> tuple[float, float]:
    """Race agents in a table of verdicts, float64[A, S, K], by the function that looks at it.

    Returns:
      The share of the clips that is judged, and that of the pairs that is separated.
    """
    agents, scenarios, rounds = verdicts.shape
    whole = lay_out(verdicts, np.zeros(scenarios, int), np.arange(scenarios))
    racing, until = set(whole.agents), np.zeros(agents)
    resolved: dict[tuple[str, str], float] = {}
    for point in list_points(rounds):
        until[[name in racing for name in whole.agents]] = point
        known = place[..., None] + np.arange(rounds) < until[:, None, None]
        judged = known.sum(axis=2)
        total = np.where(known, verdicts, 0.0).sum(axis=2)
        made = whole.continuations._replace(y=np.where(known, verdicts, np.nan).ravel())
        value = np.divide(total, judged, out=np.full(judged.shape, np.nan), where=judged > 0)
        outcomes = whole._replace(continuations=made, value=value, judged=judged)
        look = look_at(RateModel(outcomes), resolved, goal, racing)
        decided = (pair for pair in look.pairs if pair.outcome != "open")
        resolved |= {(pair.first, pair.second): read_sign(pair) for pair in decided}
        racing -= {*look.leaving}
        if not racing:
            break
    separated = sum(sign != 0 for sign in resolved.values())
    return until.mean() / rounds, separated / (agents * (agents - 1) / 2)


@pytest.mark.parametrize(
    ("goal", "studies"),
    [
        ("rank", 15),
        pytest.param("rank", 160, marks=pytest.mark.slow),
        pytest.param("best", 160, marks=pytest.mark.slow),
    ],
)
def test_simulated_race_judges_and_separates_what_looks_at_tables_do(goal, studies) -> None:
    rates, rng = spread(4, 0.1).rate[:, 0].tolist(), np.random.default_rng(1)
    verdicts = draw_verdicts(rates, unit=np.arange(60), continuations=5, studies=studies)
    order = rng.permuted(np.tile(np.arange(60), (studies, 4, 1)), axis=2) / 60
    seen = np.array([look_at_study(verdicts[:, n], goal, order[n]) for n in range(studies)])
    error = 2.5 * seen.std(axis=0) / np.sqrt(studies) + 0.02
    assert (np.abs(seen.mean(axis=0) - simulate(goal)[:2]) < error).all()


@pytest.mark.parametrize(
    "design", [{"scenarios": 316}, {"unit_size": 2.0}, {"fixed": True}, {"annotations": 2}], ids=str
)
def test_racing_saves_judging_and_separates_nearly_the_same_pairs(design) -> None:
    raced = simulate("rank", **design)
    assert 0.4 < raced.judged < 0.95
    assert raced.separated == pytest.approx(raced.separated_by_all, abs=0.03)
    assert raced.separated > 0.4


def test_finding_the_best_agent_takes_fewer_clips_than_ranking_all() -> None:
    assert simulate("best", rounds=10).judged < 0.75 * simulate("rank", rounds=10).judged


def test_equal_agents_leave_and_are_rarely_separated() -> None:
    raced = simulate("rank", 1e-9, agents=6, rounds=10, scenarios=100)
    assert raced.judged < 0.6 and raced.separated < 0.02


def test_agents_far_apart_leave_in_an_early_round() -> None:
    raced = simulate("rank", 0.4, agents=2, rounds=10, scenarios=316)
    assert raced.separated == 1 and raced.judged <= 0.2


def test_assumed_agents_are_evenly_spread_about_the_rate_within_limits() -> None:
    assert spread(3, 0.1).rate[:, 0] == pytest.approx([0.6, 0.5, 0.4])
    assert spread(3, 0.9).rate[:, 0] == pytest.approx([0.98, 0.5, 0.02])


@pytest.mark.parametrize(("agents", "scenarios"), [(MAX_AGENTS + 1, 10), (2, 1_000_000)])
def test_races_of_very_large_studies_are_not_simulated(agents, scenarios) -> None:
    given = spread(agents, 0.01), ONE, RIGHT, "rank", Design(scenarios, 1, 1), (10,)
    assert simulate_race(*given) == {}


def list_hours(capsys, flags: str) -> list[tuple[float, float | None]]:
    assert main(f"{POWER} {flags}".split()) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    return [(row["hours"], row["hours_racing"]) for row in pair["hours"]]


def test_command_lists_hours_with_racing_by_goal(capsys) -> None:
    ranked, best, whole = (list_hours(capsys, f"--goal {g}") for g in ("rank", "best", "all"))
    assert ranked == list_hours(capsys, "")
    assert [racing for _, racing in whole] == [None] * 5
    assert [hours for hours, _ in whole] == [hours for hours, _ in ranked]
    for (hours, racing), (_, shorter) in zip(ranked[1:], best[1:], strict=True):
        assert racing is not None and shorter is not None and shorter < racing < hours


@pytest.mark.landing
def test_command_races_agents_with_the_rates_of_the_pilot(tmp_path, capsys) -> None:
    path = str(tmp_path / "ratings.csv")
    verdicts = draw_verdicts([0.2, 0.5, 0.8], unit=np.arange(60), continuations=2)[:, 0]
    make_table(verdicts).to_csv(path, index=False)
    assert main(["power", "--table", path, "--pair", "a", "b"]) == 0
    text = capsys.readouterr().out
    assert "hours with racing" in text and "True rates: those of the pilot." in text
    assert main(["power", "--table", path, "--pair", "a", "b", "--goal", "all"]) == 0
    assert "racing" not in capsys.readouterr().out.lower()


def test_command_says_which_rates_it_assumes(capsys) -> None:
    assert main(POWER.split()[:-1]) == 0
    assert "0.20 to 0.80, neighbours 20 points apart" in capsys.readouterr().out


def test_unknown_goal_prints_one_line_error(capsys) -> None:
    assert main(["power", "--goal", "last"]) == 2
    printed = capsys.readouterr().err
    assert "unknown value of --goal 'last'; known: all, best, rank" in printed
    assert printed.count("\n") == 1
