"""Our behaviours against the published program's episodes: each move possible, ties even.

The 100 recorded episodes are of three sizes: 5x5 with 4 players, 6x6 with 3, 7x7 with 6.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts.agents.protocol import Agent, PolicyOutput
from sts_lambda_star import kernels
from sts_lambda_star.agents.binary_tree import BinaryTree
from sts_lambda_star.agents.imitation import Imitation
from sts_lambda_star.agents.local_search import LocalSearch
from sts_lambda_star.agents.stigmergy import Stigmergy
from sts_lambda_star.state import MOVES
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

TRACES = DATA / "lambdastar_2016_traces.jsonl.xz"
MOVES_A_TEAM = 40 * 30 * 4 + 20 * 25 * 3 + 40 * 20 * 6
UNEVEN = 0.05 / (len(BEHAVIOURS) - 1)  # the oracle never chooses
DEAR = ("bidding", "dictatorship", "random", "wisdom-of-the-crowd")
"""Whose 100 episodes take longest to check; a few of theirs are checked quickly."""
Recordings = dict[str, list[Recording]]
BY_TEAM = {behaviour.team: behaviour for behaviour in BEHAVIOURS}
each_behaviour = pytest.mark.parametrize("checked", BEHAVIOURS, ids=lambda b: b.name)


@pytest.fixture(scope="module")
def recordings() -> Recordings:
    return read([TRACES])


def few(recordings: Recordings, team: str) -> list[Recording]:
    """Return four episodes of each size."""
    return [Recording(r.places[:4], r.starts[:4], r.actions[:4]) for r in recordings[team]]


@pytest.mark.parametrize(
    "checked",
    [pytest.param(b, marks=pytest.mark.slow) if b.name in DEAR else b for b in BEHAVIOURS],
    ids=lambda b: b.name,
)
def test_every_recorded_move_is_possible_and_ties_fall_evenly(
    checked: Behaviour, recordings: Recordings
) -> None:
    found = check(checked, recordings[checked.team])
    assert found.first is None
    assert found.possible == found.actions == MOVES_A_TEAM
    if checked.name == "oracle":
        assert found.choices == 0 and found.p is None
    else:
        assert found.choices > 150
        assert found.p is not None and found.p > UNEVEN


@each_behaviour
def test_recorded_moves_are_impossible_without_the_cited_quirks(
    checked: Behaviour, recordings: Recordings
) -> None:
    some = few(recordings, checked.team)
    with_quirks, without = check(checked, some), check(checked, some, quirks=False)
    assert with_quirks.first is None and with_quirks.possible == with_quirks.actions > 1000
    assert (
        (without.first is not None) == (without.possible < without.actions) == bool(checked.cites)
    )
    if checked.cites:
        others = tuple(cite for cite in checked.cites if cite != FIRST_SIGHT)
        late = check(checked._replace(cites=others), some)
        assert late.first is not None and late.first.step == 1


@pytest.mark.parametrize(
    ("team", "agent"),
    [("fr", Stigmergy()), ("imitative", Imitation()), ("binary_tree", BinaryTree())],
)
def test_first_sight_alone_does_not_explain_the_quirks_of_section_7(
    team: str, agent: Agent, recordings: Recordings
) -> None:
    assert check(BY_TEAM[team]._replace(published=agent), few(recordings, team)).first is not None


def test_guide_starts_where_section_2_of_the_page_says(recordings: Recordings) -> None:
    moved = [
        r._replace(places=tuple(p._replace(guide=(p.guide + 2) % 36) for p in r.places))
        for r in few(recordings, "imitative")
    ]
    assert check(BY_TEAM["imitative"], moved).first is not None


class FavouringLocalSearch(LocalSearch):
    """Chooses among its best actions, but the first of them more often."""

    def act(self, observation, instructions, memory, draws):
        choice, memory = super().act(observation, instructions, memory, draws)
        return PolicyOutput(np.asarray(choice.actions) * np.arange(len(MOVES), 0, -1)), memory


def test_favoured_ties_are_uneven_though_every_move_is_possible(recordings: Recordings) -> None:
    favouring = BY_TEAM["local_search"]._replace(published=FavouringLocalSearch())
    found = check(favouring, recordings["local_search"])
    assert found.possible == found.actions
    assert found.p is not None and found.p < 1e-6


def test_command_prints_what_it_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE_2016)]) == 0
    printed = capsys.readouterr().out
    assert f"{9 * 3 * 25 * 3} actions of 3 episodes: 0 impossible" in printed
    rows = {line.split()[0]: line for line in printed.splitlines() if line}
    assert all(b.name in rows for b in BEHAVIOURS)
    assert rows["3"].endswith("  section 7 binary tree (main:376)")
    assert rows["binary-tree"].endswith("  1, 3") and rows["oracle"].split()[-2:] == ["none", "-"]
    assert main([str(SAMPLE_2016), "--agent", "local-search", "--no-quirks"]) == 1
    assert "local-search: " in (printed := capsys.readouterr().out) and "step 1:" in printed


def test_command_names_the_first_impossible_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the last step the oracle stands on Good's cell, and is made to walk off it."""
    lines: list[dict[str, Any]] = list(map(json.loads, SAMPLE_2016.read_text().splitlines()))
    last, before = lines[25]["oracle"], lines[24]
    row, column = divmod(before["oracle"]["pos"][1] - 1, 6)
    beside = (row * 6 + (column + 1) % 6, row * 6 + (column - 1) % 6)
    wrong = next(cell for cell in beside if cell + 1 != last["pos"][1])
    last["pos"][1] = wrong + 1
    last["r"][1] = (
        kernels.reward_at_cell(wrong, lines[25]["good"] - 1, lines[25]["evil"] - 1, 6, 6) / 2
    )
    path = tmp_path / "altered.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    assert main([str(path), "--agent", "oracle", "--agent", "random", "--json"]) == 1
    oracle, random = json.loads(capsys.readouterr().out)["behaviours"]
    first = oracle["first"]
    assert (first["line"], first["step"], first["participant"]) == (26, 25, 1)
    assert first["move"] not in first["expected"] and random["first"] is None
