"""Our behaviours beside the published program's episodes: nothing impossible, nothing uneven.

The recorded episodes are 100, of three sizes: 5x5 with 4 participants, 6x6 with 3, 7x7 with 6.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, chisquare, kstest

from sts.agents.protocol import Agent, Choice
from sts.domains import domain
from sts.domains.random import Random
from sts.engine.lockstep import play
from sts.engine.session import Team
from sts.errors import DamagedData
from sts.numerics.streams import stream
from sts.worlds.lambda_star import kernels, torus
from sts.worlds.lambda_star.agents.bidding import Bidding
from sts.worlds.lambda_star.agents.binary_tree import BinaryTree
from sts.worlds.lambda_star.agents.dictatorship import Dictatorship
from sts.worlds.lambda_star.agents.imitation import Imitation
from sts.worlds.lambda_star.agents.local_search import LocalSearch
from sts.worlds.lambda_star.agents.oracle import Oracle
from sts.worlds.lambda_star.agents.stigmergy import Stigmergy
from sts.worlds.lambda_star.agents.wisdom_of_the_crowd import WisdomOfTheCrowd
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.published import importer
from sts.worlds.lambda_star.state import MOVES, decode
from tests.examples import DATA, SAMPLE_2016
from tests.reproduction.published_program.__main__ import main
from tests.reproduction.published_program.moves import (
    BEHAVIOURS,
    FIRST_SIGHT,
    Behaviour,
    Recording,
    check,
    read,
)
from tests.reproduction.published_program.places import read_places
from tests.reproduction.published_program.uniformity import Outcome, uniformity

TRACES = DATA / "lambdastar_2016_traces.jsonl.xz"
MOVES_A_TEAM = 40 * 30 * 4 + 20 * 25 * 3 + 40 * 20 * 6
TESTED = len(BEHAVIOURS) - 1  # the oracle never chooses
UNEVEN = 0.05 / TESTED
RANDOM = Random().bind_domain(LambdaStar())
Recordings = dict[str, list[Recording]]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    path.write_bytes(lzma.decompress(TRACES.read_bytes()))
    return path


@pytest.fixture(scope="module")
def recordings(traces: Path) -> Recordings:
    return read([traces])


def few(recordings: Recordings, team: str, count: int = 4) -> list[Recording]:
    """Return so many episodes of each size, which are quickly checked."""
    return [
        Recording(r.places[:count], r.starts[:count], r.moves[:count]) for r in recordings[team]
    ]


def behaviour(team: str, **changes: Any) -> Behaviour:
    found = {b.team: b for b in BEHAVIOURS}
    return found[team]._replace(**changes)


class Mutant(Agent):
    """An agent that misreads what it sees, forgets, or weighs its moves otherwise."""

    name = "mutant"

    def __init__(
        self,
        agent: Agent,
        *,
        see: Callable[[Any], Any] = lambda seen: seen,
        forget: bool = False,
        weigh: Callable[[NDArray[np.float64]], NDArray[np.float64]] = lambda weights: weights,
    ) -> None:
        self.agent, self.see, self.forget, self.weigh = agent, see, forget, weigh
        self.draws, self.sees = agent.draws, agent.sees  # type: ignore[misc]

    def begin(self, batch, roles):
        return self.agent.begin(batch, roles)

    def act(self, observation, instructions, memory, draws):
        if self.forget:
            memory = self.begin(*observation.cell.shape)
        choice, memory = self.agent.act(self.see(observation), instructions, memory, draws)
        return Choice(self.weigh(np.asarray(choice.moves))), memory


def only_the_first(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.eye(len(MOVES))[weights.argmax(-1)]


def rather_the_first(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return weights * np.arange(len(MOVES), 0, -1)


def never_staying(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    moving = weights * (np.arange(len(MOVES)) != MOVES.index("stay"))
    return np.where(moving.any(-1, keepdims=True), moving, weights)


def exchanged(seen):
    """Good and Evil in each other's place."""
    return replace(seen, reward=-seen.reward, good=seen.evil, evil=seen.good)


def column_by_column(seen):
    """The neighbourhood in another order."""
    order = np.arange(9).reshape(3, 3).T.ravel()
    return replace(seen, reward=np.ascontiguousarray(seen.reward[..., order]))


def robbed(seen):
    """A reward map on which Good's own cell pays nothing."""
    return replace(seen, reward=np.where(seen.reward == 2, 0, seen.reward).astype(np.int8))


def flattened(seen):
    """A reward map on which Good's own cell pays no more than its neighbours."""
    return replace(seen, reward=np.minimum(seen.reward, 1))


def looking_at_evil(seen):
    return replace(seen, good_next=seen.evil_next)


class OverTheEdge(Oracle):
    """Takes, halfway round the torus, the way down or right even where it crosses an edge."""

    def act(self, observation, instructions, memory, draws):
        o = observation
        size = o.height[:, None]
        goal = o.good_next[:, None]
        rows, columns = (goal // size - o.cell // size) % size, (goal - o.cell) % size
        signs = [np.sign(np.where(2 * gap > size, gap - size, gap)) for gap in (rows, columns)]
        return Choice(np.eye(len(MOVES))[3 * signs[0] + signs[1] + 4]), memory


DEAR = ("bidding", "dictatorship", "random", "wisdom-of-the-crowd")
"""Whose 100 episodes take longest to check; `few` of theirs are checked quickly."""


@pytest.mark.parametrize("checked", [b for b in BEHAVIOURS if b.name in DEAR], ids=lambda b: b.name)
def test_the_first_recorded_moves_are_possible(checked: Behaviour, recordings: Recordings) -> None:
    found = check(checked, few(recordings, checked.team))
    assert found.first is None and found.possible == found.moves > 1000


each_but_the_dear = pytest.mark.parametrize(
    "checked",
    [pytest.param(b, marks=pytest.mark.slow) if b.name in DEAR else b for b in BEHAVIOURS],
    ids=lambda b: b.name,
)


@each_but_the_dear
def test_every_recorded_move_is_possible_and_ties_fall_evenly(
    checked: Behaviour, recordings: Recordings
) -> None:
    found = check(checked, recordings[checked.team])
    assert found.first is None
    assert found.possible == found.moves == MOVES_A_TEAM
    if checked.name == "oracle":
        assert found.choices == 0 and found.p is None
    else:
        assert found.choices > 150
        assert found.p is not None and found.p > UNEVEN


@pytest.mark.parametrize("checked", BEHAVIOURS, ids=lambda b: b.name)
def test_without_the_cited_quirks_moves_are_impossible_and_without_any_none_is(
    checked: Behaviour, recordings: Recordings
) -> None:
    found = check(checked, few(recordings, checked.team), quirks=False)
    assert (found.first is not None) == bool(checked.cites)
    assert (found.possible < found.moves) == bool(checked.cites)


@pytest.mark.parametrize("checked", [b for b in BEHAVIOURS if b.cites], ids=lambda b: b.name)
def test_each_needs_the_first_sight_of_section_3_1(
    checked: Behaviour, recordings: Recordings
) -> None:
    others = tuple(cite for cite in checked.cites if cite != FIRST_SIGHT)
    found = check(checked._replace(cites=others), few(recordings, checked.team))
    assert found.first is not None and found.first.step == 1


@pytest.mark.parametrize(
    ("team", "agent"),
    [("fr", Stigmergy()), ("imitative", Imitation()), ("binary_tree", BinaryTree())],
)
def test_the_first_sight_alone_does_not_explain_what_section_7_does(
    team: str, agent: Agent, recordings: Recordings
) -> None:
    found = check(behaviour(team, published=agent), few(recordings, team))
    assert found.first is not None


def test_the_guide_that_imitation_follows_starts_where_section_2_has_it(
    recordings: Recordings,
) -> None:
    moved = [
        r._replace(places=tuple(p._replace(guide=(p.guide + 2) % 36) for p in r.places))
        for r in few(recordings, "imitative")
    ]
    assert check(behaviour("imitative"), moved).first is not None


def test_where_only_the_first_sight_differs_nothing_else_is_impossible(
    recordings: Recordings,
) -> None:
    """What local search does after its first step needs no quirk."""
    late = [_from_the_second_step(r) for r in recordings["local_search"]]
    found = check(behaviour("local_search"), late, quirks=False)
    assert found.possible == found.moves > 10_000


def _from_the_second_step(recording: Recording) -> Recording:
    worlds = Batch(recording.starts)
    first = recording.moves[:, 0]
    worlds.step(first, np.zeros_like(first))
    states = [decode(raw) for raw in worlds.states()]
    return Recording(recording.places, tuple(states), recording.moves[:, 1:])


@pytest.mark.parametrize(
    ("team", "mutant"),
    [
        ("random", Mutant(RANDOM, weigh=never_staying)),
        ("local_search", Mutant(LocalSearch(), weigh=only_the_first)),
        ("local_search", Mutant(LocalSearch(), weigh=never_staying)),
        ("local_search", Mutant(LocalSearch(), see=exchanged)),
        ("local_search", Mutant(LocalSearch(), see=column_by_column)),
        ("local_search", Mutant(LocalSearch(), see=robbed)),
        ("fr", Mutant(Stigmergy(marks="lasting"), see=column_by_column)),
        ("fr", Mutant(Stigmergy(marks="lasting"), forget=True)),
        ("woc", Mutant(WisdomOfTheCrowd(), forget=True)),
        ("woc", Mutant(WisdomOfTheCrowd(), see=robbed)),
        ("bidding", Mutant(Bidding(), forget=True)),
        ("bidding", Mutant(Bidding(), see=exchanged)),
        ("dictator", Mutant(Dictatorship(), see=exchanged)),
        ("binary_tree", Mutant(LocalSearch(), see=exchanged)),
        ("oracle", Mutant(Oracle(), see=looking_at_evil)),
        ("oracle", OverTheEdge()),
        ("imitative", Mutant(Imitation(guide="each-role"), see=looking_at_evil)),
        ("imitative", Mutant(Imitation(guide="each-role"), see=robbed)),
    ],
)
def test_a_wrong_rule_or_reward_makes_moves_impossible(
    team: str, mutant: Agent, recordings: Recordings
) -> None:
    found = check(behaviour(team, published=mutant), few(recordings, team, 8))
    assert found.possible < found.moves
    assert found.first is not None and found.first.move not in found.first.expected


class Reversed(Agent):
    """A team whose last role comes first."""

    name, draws = "reversed", 1

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def begin(self, batch, roles):
        return self.agent.begin(batch, roles)

    def act(self, observation, instructions, memory, draws):
        o = observation
        seen = replace(o, cell=o.cell[:, ::-1].copy(), reward=o.reward[:, ::-1].copy())
        choice, memory = self.agent.act(seen, instructions, memory, draws[:, ::-1].copy())
        return Choice(choice.moves[:, ::-1]), memory


@pytest.mark.parametrize(("team", "agent"), [("bidding", Bidding()), ("dictator", Dictatorship())])
def test_another_order_of_the_team_makes_moves_impossible(
    team: str, agent: Agent, recordings: Recordings
) -> None:
    found = check(behaviour(team, published=Reversed(agent)), few(recordings, team))
    assert found.possible < found.moves


def test_moves_of_one_team_must_be_possible_together(recordings: Recordings) -> None:
    """At first nothing is in sight and any move of the dictator's will do, if the others follow."""
    recording = recordings["dictator"][0]
    cells = np.array([[[s.cells[0]]] for s in recording.starts])
    sight = torus.moved(cells, np.arange(9), 5, 5)
    blank = np.flatnonzero((sight != 0).all((1, 2)))
    moves = recording.moves[blank, :1].copy()
    moves[:, 0, 0] = (moves[:, 0, 0] + 3) % len(MOVES)
    other = Recording(
        tuple(recording.places[b] for b in blank), tuple(recording.starts[b] for b in blank), moves
    )
    alone = check(behaviour("dictator", joint=False), [other])
    together = check(behaviour("dictator"), [other])
    assert alone.possible == alone.moves > together.possible


@pytest.mark.parametrize(
    ("team", "agent"),
    [
        ("random", RANDOM),
        ("local_search", LocalSearch()),
        ("fr", Stigmergy(marks="lasting")),
        ("imitative", Imitation(guide="each-role")),
    ],
)
def test_favoured_ties_are_uneven_though_every_move_is_possible(
    team: str, agent: Agent, recordings: Recordings
) -> None:
    favouring = behaviour(team, published=Mutant(agent, weigh=rather_the_first))
    found = check(favouring, recordings[team])
    assert found.possible == found.moves
    assert found.p is not None and found.p < 1e-6


def played(agent: Agent, recording: Recording) -> Recording:
    """Return new episodes of an agent from the same starts."""
    batch, steps, people = recording.moves.shape
    streams = np.array([stream("moves", agent.name, b) for b in range(batch)], np.uint64)
    team = Team(agent, tuple(range(people)), streams)
    made = play(domain("lambda-star"), Batch(recording.starts), [team], steps=steps)
    return recording._replace(moves=made.moves)


@each_but_the_dear
def test_what_our_agents_play_passes_the_check_of_themselves(
    checked: Behaviour, recordings: Recordings
) -> None:
    joint = checked.name in ("bidding", "dictatorship")
    assert checked.joint == joint
    again = [played(checked.ours, r) for r in recordings[checked.team][2:]]
    found = check(checked, again, quirks=False)
    assert found.possible == found.moves == 40 * 20 * 6
    assert found.p is None or found.p > UNEVEN


@pytest.mark.parametrize(
    "team", [b.team for b in BEHAVIOURS if b.ours.draws == 0 and b.name != "oracle"]
)
def test_what_always_takes_the_first_tie_is_possible_but_uneven(
    team: str, recordings: Recordings
) -> None:
    agent = behaviour(team).ours
    again = [played(Mutant(agent, weigh=only_the_first), r) for r in recordings[team]]
    found = check(behaviour(team), again, quirks=False)
    assert found.possible == found.moves
    assert found.p is not None and found.p < 1e-6


class Early(Agent):
    """Plans with small draws only, so it makes for the first of several targets."""

    name, draws = "early", 1

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def begin(self, batch, roles):
        return self.agent.begin(batch, roles)

    def act(self, observation, instructions, memory, draws):
        return self.agent.act(observation, instructions, memory, draws**2)


@pytest.mark.parametrize(
    "team",
    ["woc", *(pytest.param(team, marks=pytest.mark.slow) for team in ("bidding", "dictator"))],
)
def test_plans_that_favour_the_first_targets_are_uneven_though_every_move_is_possible(
    team: str, recordings: Recordings
) -> None:
    found = check(behaviour(team, published=Early(behaviour(team).ours)), recordings[team])
    assert found.possible == found.moves
    assert found.p is not None and found.p < 1e-6


def test_a_flattened_reward_map_is_uneven_though_every_move_is_possible(
    recordings: Recordings,
) -> None:
    flat = Mutant(LocalSearch(), see=flattened)
    found = check(behaviour("local_search", published=flat), recordings["local_search"])
    assert found.possible == found.moves
    assert found.p is not None and found.p < 1e-6


def test_equal_chances_are_tested_as_pearson_does():
    counts = [31, 22, 18, 25]
    outcomes = [Outcome((0.25,) * 4, k) for k, n in enumerate(counts) for _ in range(n)]
    assert uniformity(outcomes) == pytest.approx(chisquare(counts).pvalue)
    pairs = [Outcome((0.5,) * 2, k) for k, n in enumerate((40, 20)) for _ in range(n)]
    both = chisquare(counts).statistic + chisquare((40, 20)).statistic
    assert uniformity(outcomes + pairs) == pytest.approx(chi2.sf(both, 3 + 1))


def test_what_cannot_tell_has_no_p():
    assert uniformity([]) is None
    assert uniformity([Outcome((1.0,), 0)] * 50) is None
    assert uniformity([Outcome((0.5, 0.5), 0)] * 9) is None
    assert uniformity([Outcome((0.5, 0.5), 0)] * 10) == pytest.approx(chi2.sf(10, 1))


def test_unequal_chances_have_an_even_p_where_pearsons_has_not():
    """Choices that are mostly sure vary less than their sums of chances suggest."""
    rng = np.random.default_rng(5)
    sure = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
    ours, pearson = [], []
    for _ in range(300):
        chances = sure[rng.integers(0, 3, 150)]
        taken = (rng.random((150, 1)) > chances.cumsum(1)[:, :2]).sum(1)
        rows = [Outcome(tuple(row), int(k)) for row, k in zip(chances, taken, strict=True)]
        ours.append(uniformity(rows) or 0.0)
        expected = chances.sum(0)
        pearson.append(chisquare(np.bincount(taken, minlength=3), expected).pvalue)
    assert kstest(ours, "uniform").pvalue > 0.01
    assert kstest(pearson, "uniform").pvalue < 1e-6


def test_places_count_lines_and_episodes_as_the_file_does(traces: Path) -> None:
    places = read_places(traces)
    assert [len(places), places[0].lines[0], places[40].lines[0]] == [100, 1, 40 * 31 + 1]
    assert places[0].episode == places[40].episode == places[60].episode == 0
    assert len(importer.read(traces)) == 100 * len(importer.TEAMS)
    lines = traces.read_text().splitlines()
    for place in places:
        start = json.loads(lines[place.lines[0] - 1])
        assert start["oracle_to_follow_start"] == place.guide + 1
        assert json.loads(lines[place.lines[-1] - 1])["it"] == start["iterations"]


def altered(tmp_path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    lines = [json.loads(line) for line in SAMPLE_2016.read_text().splitlines()]
    change(lines)
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_an_episode_that_does_not_say_where_the_guide_starts_is_refused(tmp_path: Path) -> None:
    path = altered(tmp_path, lambda lines: lines[26].pop("oracle_to_follow_start"))
    with pytest.raises(DamagedData, match=":27: expected oracle_to_follow_start from 1 to 36"):
        read([path])


def test_the_command_prints_what_it_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE_2016)]) == 0
    printed = capsys.readouterr().out
    assert f"{9 * 3 * 25 * 3} moves of 3 episodes: 0 impossible" in printed
    rows = {line.split()[0]: line for line in printed.splitlines() if line}
    assert all(b.name in rows for b in BEHAVIOURS)
    assert "stigmergy, marks=lasting" in rows["stigmergy"]
    assert rows["1"].endswith("  section 3.1 first sight (main:299-301)")
    assert rows["3"].endswith("  section 7 binary tree (main:376)")
    assert rows["binary-tree"].endswith("  1, 3") and rows["oracle"].split()[-2:] == ["none", "-"]
    assert max(map(len, printed.splitlines())) <= 100


def test_the_legend_has_the_header_s_words(capsys: pytest.CaptureFixture[str]) -> None:
    some = ["--agent", "local-search", "--agent", "oracle", "--agent", "random"]
    assert main([str(TRACES), *some]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    for word in header.split()[4:]:
        assert any(line.startswith(f"{word}: ") for line in lines), word
    assert "none: too few choices to test" in "".join(lines)
    assert "of 2 p values one or more fall below .05 by chance alone in 10%" in "".join(lines)


def test_one_p_value_alone_has_no_word_on_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE_2016), "--agent", "local-search"]) == 0
    assert "p values" not in capsys.readouterr().out


def test_all_names_every_behaviour_that_does_not_learn(capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(SAMPLE_2016), "--json"]
    assert main(words) == 0
    plain = capsys.readouterr().out
    assert main([*words, "--agent", "all", "--agent", "oracle"]) == 0
    assert capsys.readouterr().out == plain


def test_a_packed_file_is_what_is_in_it(tmp_path: Path, recordings: Recordings) -> None:
    packed = read([TRACES])
    for team, several in recordings.items():
        for ours, theirs in zip(several, packed[team], strict=True):
            assert ours.starts == theirs.starts and np.array_equal(ours.moves, theirs.moves)


def test_the_command_names_the_first_impossible_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Good's own cell is in the participant's sight; it is made to walk off it at last."""

    def change(lines: list[dict[str, Any]]) -> None:
        last, before = lines[25]["oracle"], lines[24]
        row, column = divmod(before["oracle"]["pos"][1] - 1, 6)
        ahead = lines[25]["good"] - 1
        wrong = next(
            cell
            for cell in (row * 6 + (column + 1) % 6, row * 6 + (column - 1) % 6)
            if cell + 1 != last["pos"][1]
        )
        last["pos"][1] = wrong + 1
        last["r"][1] = kernels.reward(wrong, ahead, lines[25]["evil"] - 1, 6, 6) / 2

    path = altered(tmp_path, change)
    words = [str(path), "--agent", "oracle", "--agent", "random"]
    assert main(words) == 1
    printed = capsys.readouterr().out
    assert "oracle: 1 impossible; the first is altered.jsonl:26, episode 0, step 25:" in printed
    assert "participant 1 moved" in printed and "local-search" not in printed
    assert main([*words, "--json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert [b["behaviour"] for b in value["behaviours"]] == ["oracle", "random"]
    first = value["behaviours"][0]["first"]
    assert (first["line"], first["step"], first["participant"]) == (26, 25, 1)
    assert first["move"] not in first["expected"]
    assert value["behaviours"][1]["first"] is None and value["quirks"] is True


def test_the_command_can_leave_the_quirks_out(capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(SAMPLE_2016), "--agent", "local-search"]
    assert main([*words, "--no-quirks"]) == 1
    printed = capsys.readouterr().out
    assert "local-search: " in printed and "step 1:" in printed
    assert "3.1 first sight" in printed


@pytest.mark.parametrize(
    ("words", "code", "found"),
    [
        (["--agent", "q-learning"], 2, "q-learning learns, and is checked by its score instead"),
        (
            ["--agent", "q-lrning"],
            2,
            "unknown behaviour that does not learn 'q-lrning'; known: all",
        ),
        (["none.jsonl"], 1, "none.jsonl: no such file"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], code: int, found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(SAMPLE_2016), *words]) == code
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and found in error
