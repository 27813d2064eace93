"""The universal score: its worked examples, its weights, what it ranks, and that it resumes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import spearmanr

from sts import agents
from sts.agents import Agent, PolicyOutput, fingerprint
from sts.cli.main import main
from sts.storage.scores import read_score_rows
from sts.storage.workspace import Workspace
from sts_analysis.measures import universal, universal_scores
from sts_analysis.measures.spans import Span
from sts_analysis.measures.symbols.automata import AutomataClass
from sts_analysis.measures.universal import Settings, choose_environments, play_span
from tests.analysis.measures.symbol_agents import FAMILY

ALL = Settings("automata", None, 100, 0)
PACKAGED = (
    *("random", "symbols-constant-0", "symbols-constant-1", "symbols-win-stay"),
    "symbols-q-table",
)


class Values(NamedTuple):
    """An agent's values, float64[R, E]."""

    average: np.ndarray
    discounted: np.ndarray


def play(name: str, settings: Settings = ALL, runs: int = 2) -> Values:
    span = Span(name, fingerprint(agents.load(name)), 0, runs)
    return Values(**{kind: np.array(own) for kind, own in play_span(settings, span).items()})


class Buttons:
    """A robot presses one of three buttons, and the cells change in a cycle after each press.

    The environments of the source draw the cells; ours begin at each place of the cycle, so that
    the mean over them is the expected value.
    """

    name, highest, domain = "buttons", 0.0, property(lambda self: self)
    action_names, tokens, noop, reward_unit = ("B1", "B2", "B3"), ("silence",), 0, None

    def __init__(self, cells: list[str], halves: bool = False) -> None:
        self.cells, self.halves = cells, halves
        self.code_lengths = {"table": np.zeros(len(cells))}

    def list_environments(self) -> list[bytes]:
        return [json.dumps(start).encode() for start in range(len(self.cells))]

    def restore(self, states: list[bytes]) -> Any:
        return Pressed(self, np.array([json.loads(state) for state in states]))


class Pressed:
    def __init__(self, buttons: Buttons, place: np.ndarray) -> None:
        self.buttons, self.place, self.steps = buttons, place, 0
        self.rewards = np.zeros((len(place), 1))
        self.scene = np.zeros((len(place), 1), np.uint16)

    def observe(self, players: Any, *, team: Any, world: bool) -> None:
        return None

    def step(self, actions: np.ndarray, utterances: np.ndarray) -> None:
        self.steps += 1
        self.place = (self.place + 1) % len(self.buttons.cells)
        seen = [
            self.buttons.cells[place][a] for place, a in zip(self.place, actions[:, 0], strict=True)
        ]
        paid = np.array([{"W": 1.0, "B": -1.0, "0": 0.0}[cell] for cell in seen])
        self.rewards = (paid / 2**self.steps if self.buttons.halves else paid)[:, None]


class Press(Agent):
    """Agent that always presses the same button."""

    version, button = "1", 0

    def act(self, observation, instructions, memory, draws):
        return PolicyOutput(np.full(draws.shape[:2], self.button)), memory


class Press1(Press):
    name = "press-1"


class Press2(Press):
    name, button = "press-2", 1


class Press3(Press):
    name, button = "press-3", 2


def press(button: int) -> str:
    return f"{__name__}:Press{button}"


@pytest.mark.parametrize("button", [1, 2, 3])
def test_example_2_is_worth_a_third(button: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewards are halved at each step, and a third of the presses finds the ball."""
    buttons = Buttons(["W00", "0W0", "00W"], halves=True)
    monkeypatch.setattr(universal, "load_class", lambda _: buttons)
    settings = Settings("example 2", None, 60, 0)
    total = play(press(button), settings).average * settings.interactions
    weights = choose_environments(settings).weights["table"]
    assert (total @ weights).tolist() == pytest.approx([1 / 3, 1 / 3])


def test_example_4_is_worth_what_the_source_says(monkeypatch: pytest.MonkeyPatch) -> None:
    buttons = Buttons(["0WB", "0BW", "W0B", "WB0"])
    monkeypatch.setattr(universal, "load_class", lambda _: buttons)
    settings = Settings("example 4", None, 100, 0)
    weights = choose_environments(settings).weights["table"]
    found = [play(press(button), settings).average[0] @ weights for button in (1, 2, 3)]
    assert found == pytest.approx([1 / 2, -1 / 4, -1 / 4])
    random = play("random", settings, 100).average @ weights
    assert abs(random.mean()) < 4 * random.std(ddof=1) / 10


def test_rewards_are_weighed_by_the_square_of_their_step(monkeypatch: pytest.MonkeyPatch) -> None:
    buttons = Buttons(["W00", "000"])
    monkeypatch.setattr(universal, "load_class", lambda _: buttons)
    found = play(press(1), Settings("squares", None, 5, 0), 1)
    assert found.average.tolist() == [pytest.approx([2 / 5, 3 / 5])]
    odd, even = 1 + 1 / 9 + 1 / 25, 1 / 4 + 1 / 16
    expected = [even / (math.pi**2 / 6), odd / (math.pi**2 / 6)]
    assert found.discounted.tolist() == [pytest.approx(expected)]


def test_weights_halve_with_each_bit_and_sum_to_1() -> None:
    test = choose_environments(ALL)
    assert len(test.chosen) == 1816 and list(test.weights)[-1] == "uniform"
    assert [weights.sum() for weights in test.weights.values()] == pytest.approx([1.0] * 4)
    assert universal.weigh(np.array([900.0, 901.0, 901.0])).tolist() == [0.5, 0.25, 0.25]


def test_score_is_that_of_the_machine_that_spreads_its_weight_the_most() -> None:
    """The specification has 8.6 effective environments of a code that is no length in bits."""
    effective = {name: 1 / (own**2).sum() for name, own in choose_environments(ALL).weights.items()}
    assert list(effective) == ["successor", "return", "table", "uniform"]
    assert list(effective.values()) == pytest.approx([37.6, 18.6, 17.8, 1816], abs=0.1)


@pytest.fixture(scope="module")
def family() -> dict[str, Values]:
    """Values of 23 agents, packaged and of tests."""
    names = [*PACKAGED, *(f"tests.analysis.measures.symbol_agents:{name}" for name in FAMILY)]
    return {name: play(name, runs=4) for name in names}


def correlate(a: np.ndarray, b: np.ndarray) -> float:
    return float(spearmanr(a.round(9), b.round(9))[0])


@pytest.mark.landing
def test_ranking_depends_on_the_discount_more_than_on_the_code(family: dict[str, Values]) -> None:
    weights = choose_environments(ALL).weights
    average = np.array([own.average.mean(0) for own in family.values()])
    discounted = np.array([own.discounted.mean(0) for own in family.values()])
    scores = {name: average @ own for name, own in weights.items()}
    uniform = scores.pop("uniform")
    codes = [correlate(a, b) for a in scores.values() for b in scores.values()]
    assert len(family) == 23 and min(codes) >= 0.97
    assert min(correlate(own, uniform) for own in scores.values()) >= 0.97
    assert correlate(scores["successor"], discounted @ weights["successor"]) < 0.95
    halves = scores["successor"][:, None] + average  # as if one environment had half of the weight
    gaps = halves[:, None] - halves[None]
    assert ((gaps.max(-1) > 1e-9) & (gaps.min(-1) < -1e-9)).sum() / 2 > 0.7 * 253


@pytest.mark.landing
def test_drawn_environments_approach_the_score_of_all(family: dict[str, Values]) -> None:
    """The specification has .051, .027 and .011, of other agents and codes."""
    average = np.array([own.average.mean(0) for own in family.values()])
    exact = average @ choose_environments(ALL).weights["successor"]
    row = {one.state: e for e, one in enumerate(choose_environments(ALL).chosen)}
    for count, low, high in ((20, 0.03, 0.09), (100, 0.015, 0.045), (500, 0.006, 0.02)):
        missed = []
        for seed in range(20):
            test = choose_environments(ALL._replace(environments=count, seed=seed))
            rows = [row[one.state] for one in test.chosen]
            missed.append(np.abs(average[:, rows] @ test.weights["successor"] - exact).mean())
        assert low < np.mean(missed) < high


@pytest.mark.landing
def test_optimal_policy_is_above_every_agent_in_every_environment(
    family: dict[str, Values],
) -> None:
    best = AutomataClass().best_values(ALL.interactions)
    for own in family.values():
        assert (own.average <= best + 1e-12).all()


def test_random_scores_0_under_both_discounts_and_all_codes() -> None:
    values = play("random", runs=20)
    for weights in choose_environments(ALL).weights.values():
        for kind in values:
            score = kind @ weights
            assert abs(score.mean()) < 4 * score.std(ddof=1) / len(score) ** 0.5


def test_agent_that_ignores_rewards_scores_exactly_0() -> None:
    """An automaton with the negated rewards is in the class, and weighs the same."""
    values = play("symbols-constant-1", runs=1)
    for weights in choose_environments(ALL).weights.values():
        for kind in values:
            assert (kind @ weights).item() == pytest.approx(0, abs=1e-12)


def test_equal_scores_share_a_rank(tmp_path: Path) -> None:
    names = ["symbols-constant-0", "symbols-constant-1", "symbols-win-stay"]
    given: dict[str, Any] = {"class_": "automata", "runs": 1, "interactions": 10}
    found = universal_scores.measure(
        names, suite=None, workspace=Workspace.open(tmp_path), seed=0, **given
    )
    assert found.tables[0].columns[-2:] == ("best rank", "worst rank")
    assert [row[-2:] for row in found.tables[0].rows] == [(1, 1), (2, 2), (2, 2)]


def test_drawn_environment_has_the_value_that_it_has_among_all() -> None:
    drawn = ALL._replace(environments=30)
    values = dict(zip(_states(ALL), play("random").average.T.tolist(), strict=True))
    for state, value in zip(_states(drawn), play("random", drawn).average.T.tolist(), strict=True):
        assert value == values[state]


def _states(settings: Settings) -> list[bytes]:
    return [one.state for one in choose_environments(settings).chosen]


def test_class_that_cannot_be_enumerated_is_drawn_by_complexity() -> None:
    test = choose_environments(Settings("lambda-star", 200, 10, 0))
    (weights,) = test.weights.values()
    assert weights.sum() == pytest.approx(1)
    complexity = np.array([one.complexity for one in test.chosen])
    share = [float(weights[complexity == k].sum()) for k in (2, 3, 4)]
    assert share == pytest.approx([1 / 2, 1 / 4, 1 / 8], abs=0.11)
    assert test == choose_environments(Settings("lambda-star", 200, 10, 0))


def test_command_saves_both_scores_and_draws_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "measure universal --class automata --agent random --agent symbols-win-stay --runs 2"
    assert main([*words.split(), "--environments", "50", "--figure", "levels.svg"]) == 0
    out = capsys.readouterr().out
    assert "effective environments" in out and "score by complexity" in out
    assert Path("levels.svg").read_text().startswith("<svg")
    rows = read_score_rows(Path("sts-workspace/scores/universal.parquet"))
    metric = "universal automata environments=50"
    assert {row["metric"] for row in rows} == {metric, f"{metric} 1/i^2"}
    assert {row["sees"] for row in rows} == {"observation"}
    assert all(row["n"] == 50 and row["standard_error"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--class lambda-star", "class lambda-star has no code lengths: give --environments"),
        ("--class automata --environments 0", "expected 1 to 100000 environments, found 0"),
        ("--class automata --runs 1000000", "expected 1 to 1000 runs"),
        ("--class automata --interactions 1000000", "expected 1 to 100000 interactions"),
        ("--class automata --agent random", "agent 'random' is given twice"),
        ("--class automata --agent local-search", "plays only in lambda-star"),
        ("--class automata --team 2", "metric 'universal' takes no --team"),
        ("--class nope", "unknown class"),
        ("", "give --class, one of"),
    ],
)
def test_bad_setting_gets_one_line(flags: str, message: str, refuse: Callable[[str], str]) -> None:
    assert message in refuse(f"universal --agent random {flags}")
