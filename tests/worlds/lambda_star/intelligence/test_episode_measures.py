"""Coverage and fitness landscapes: what is measured, balance, and that a test can be resumed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts import agents
from sts.cli.main import main
from sts.errors import ArgumentError
from sts.storage.scores import read_score_rows
from sts.storage.workspace import Workspace
from sts_analysis.measures import spans
from sts_analysis.measures.measurement import Measurement
from sts_lambda_star.generation.environments import generate_environments
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence import episode_measures, landscapes
from sts_lambda_star.intelligence.episode_measures import (
    measure_coverage,
    measure_landscape,
    play_coverage,
)
from sts_lambda_star.intelligence.score import PUBLISHED_AGENTS
from sts_lambda_star.play.teams import play_episodes
from tests.worlds.lambda_star.test_kernels import plain_distance

STAY = 4


def measured(metric: Any, tmp_path: Any, names: list[str], **given: Any) -> Measurement:
    found: Measurement = metric(
        names, suite=None, workspace=Workspace.open(tmp_path), **({"seed": 0} | given)
    )
    return found


def means(found: Measurement) -> dict[tuple[str, str], tuple[float, float]]:
    """Return mean and standard error by agent and metric."""
    return {(r["agent"], r["metric"]): (r["value"], r["standard_error"]) for r in found.rows}


def test_coverage_of_random_and_crowding_teams_is_the_simulated_one(tmp_path):
    names = ["random", "wisdom-of-the-crowd"]
    found = measured(measure_coverage, tmp_path, names, runs=300, team=5)
    expected = {"random": 0.3760, "wisdom-of-the-crowd": 0.109}
    for name, value in expected.items():
        mean, error = means(found)[name, "coverage team=5"]
        assert abs(mean - value) < 4 * error
        assert error < 0.002
    assert "0.3760" in found.notes[0], "independent members"


def test_coverage_counts_the_cells_within_sight_of_a_member():
    used = Settings(height=5, width=7, n_players=2, horizon=4, radius=2)
    worlds, agent = generate_environments(used, seed=1, start=0, stop=3), agents.load("random")
    found = play_coverage(agent, worlds, {"seed": 1})
    cells = play_episodes((agent,), worlds, seed=1).scene[:, 1:, 2:].astype(int)
    for e in range(3):
        seen = [
            {c for c in range(35) if any(plain_distance(c, me, 5, 7) <= 2 for me in team)}
            for team in cells[e].tolist()
        ]
        step, episode = sum(map(len, seen)) / 4 / 35, len(set().union(*seen)) / 35
        assert found[e].tolist() == pytest.approx([step, episode])


@pytest.mark.parametrize(
    "metric", [measure_coverage, pytest.param(measure_landscape, marks=pytest.mark.slow)]
)
def test_scores_do_not_depend_on_workers_or_interruptions(tmp_path, metric, monkeypatch):
    monkeypatch.setattr(episode_measures, "EPISODES_PER_SPAN", 8)
    names = ["random", "local-search"]
    whole = measured(metric, tmp_path / "one", names, runs=20)
    measured(metric, tmp_path / "two", names[:1], runs=16, workers=2)
    read: list[str] = []
    decode = spans._decode

    def decode_and_count(name: str, data: bytes) -> Any:
        read.append(name)
        return decode(name, data)

    monkeypatch.setattr(spans, "_decode", decode_and_count)
    assert measured(metric, tmp_path / "two", names, runs=20, workers=2).rows == whole.rows
    assert len(read) == 2, "what was finished is not played again"
    assert measured(metric, tmp_path / "two", names, runs=20, seed=1).rows != whole.rows


@pytest.fixture
def little_practice(monkeypatch):
    """Let learners practise twice."""
    monkeypatch.setattr(episode_measures, "DEFAULT_PRACTICE_EPISODES", 2)


def test_learners_are_marked_as_rehearsed_and_settings_name_the_metric(tmp_path, little_practice):
    found = measured(measure_landscape, tmp_path, ["sarsa"], runs=1, team=2, drift=3, bumps=10)
    assert [row["metric"] for row in found.rows] == [
        f"landscape{peak} team=2 drift=3" for peak in ("", " peak")
    ]
    assert {row["sees"] for row in found.rows} == {"rehearsal"}
    assert {row["standard_error"] for row in found.rows} == {None}


sizes = st.tuples(st.integers(3, 9), st.integers(3, 9))


@given(sizes, st.integers(1, 5), st.data())
@settings(max_examples=settings().max_examples, deadline=None)
def test_heights_are_balanced_bounded_and_highest_in_one_cell(size, width, data):
    cells = st.lists(
        st.integers(0, size[0] * size[1] - 1),
        min_size=1,
        max_size=size[0] * size[1] // 2,
        unique=True,
    )
    heights = landscapes.make_heights(np.array([data.draw(cells)]), width, size).astype(int)
    assert heights.sum() == 0
    assert abs(heights).max() == 100
    assert (heights == heights.max()).sum() == 1
    row = heights[0].tolist()
    plain = sum(
        all(row[c] > row[o] for o in range(len(row)) if plain_distance(c, o, *size) == 1)
        for c in range(len(row))
    )
    assert landscapes.count_optima(heights.astype(np.int8), size).tolist() == [plain]


def test_single_bump_is_its_formula():
    heights = landscapes.make_heights(np.array([[40]]), 3, (9, 9)).reshape(9, 9)
    bump = np.array(
        [[max(0, 9 - (r - 4) ** 2 - (c - 4) ** 2) for c in range(9)] for r in range(9)], float
    )
    expected = bump - bump.mean()
    np.testing.assert_allclose(heights, expected / abs(expected).max() * 100, atol=1.5)
    assert heights.argmax() == 40 and landscapes.count_optima(heights.reshape(1, 81), (9, 9)) == 1


def started(drift: int, *, start: int = 0, stop: int = 20) -> landscapes.Landscapes:
    worlds = generate_environments(Settings(n_players=3), seed=5, start=start, stop=stop)
    given = {"seed": 5, "bumps": 12, "width": 2, "drift": drift}
    worlds, heights = landscapes.make_landscapes(worlds, given)
    return landscapes.Landscapes(worlds.copy_arrays(), heights)


@pytest.mark.parametrize("drift", [0, 1, 3])
def test_agents_see_and_get_the_heights_which_drift_as_a_whole(drift):
    batch = started(drift)
    begun, first = batch._heights.reshape(-1, 10, 10), batch.arrays.objects.copy()
    for step in range(1, 8):
        before = batch.observe(range(3), team=range(3), world=False)
        assert not before.good.any() and not before.evil.any()
        actions = np.full((20, 3), (step * 5) % 9, np.int8)
        batch.step(actions, np.zeros_like(actions))
        moved = np.divmod(batch.arrays.objects[:, 0], 10)
        turns = np.stack(moved, 1) - np.stack(np.divmod(first[:, 0], 10), 1)
        if drift == 0 or step < drift:
            assert not turns.any()
        elif step == drift:
            assert (abs(turns) % 8 <= 1).all() and turns.any(1).all()
        now = np.stack([np.roll(h, t, (0, 1)) for h, t in zip(begun, turns, strict=True)])
        flat = now.reshape(20, 100)
        np.testing.assert_array_equal(flat.argmax(1), batch.arrays.objects[:, 0])
        paid = np.take_along_axis(flat, batch.arrays.cells, 1)
        np.testing.assert_array_equal(batch.rewards, paid)
        seen = batch.observe(range(3), team=range(3), world=False)
        around = np.take_along_axis(flat, seen.surroundings.reshape(20, -1), 1)
        np.testing.assert_array_equal(seen.reward.reshape(20, -1), around)
        np.testing.assert_array_equal(seen.last_reward, paid)


def test_landscape_of_an_index_is_the_same_in_every_batch():
    alone, among = started(2, start=7, stop=8), started(2)
    np.testing.assert_array_equal(alone._heights[0], among._heights[7])
    np.testing.assert_array_equal(alone.arrays.objects[0], among.arrays.objects[7])


def test_agents_rank_by_what_they_know_and_local_optima_hold_them_back(tmp_path):
    names = ["random", "local-search", "oracle"]
    found = measured(measure_landscape, tmp_path, names, runs=200)
    score = {name: means(found)[name, "landscape"] for name in names}
    peak = {name: means(found)[name, "landscape peak"][0] for name in names}
    assert abs(score["random"][0]) < 4 * score["random"][1]
    for low, high in itertools.pairwise(names):
        assert score[high][0] - score[low][0] > 5 * (score[high][1] + score[low][1]) / 2
        assert peak[high] > peak[low]
    (local,) = (row for row in found.tables[1].rows if row[0] == "local-search")
    assert local[1] > local[3] + 0.05, "one optimum against three"


def test_every_published_behaviour_plays_a_landscape_unchanged(tmp_path, little_practice):
    found = measured(measure_landscape, tmp_path, list(PUBLISHED_AGENTS), runs=1, team=3)
    assert [row["agent"] for row in found.rows[::2]] == list(PUBLISHED_AGENTS)
    assert all(-1 <= row["value"] <= 1 for row in found.rows)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bumps": 51}, "expected --bumps from 1 to 50, found 51"),
        ({"width": 6}, "expected --width from 1 to 5, found 6"),
        ({"drift": -1}, "expected --drift from 0 to 1000, found -1"),
        ({"runs": 0}, "expected 1 or more runs, found 0"),
        ({"team": 101}, "expected a team of 1 to 100"),
    ],
)
def test_setting_out_of_range_is_refused(tmp_path, given, said):
    with pytest.raises(ArgumentError, match=said):
        measured(measure_landscape, tmp_path, ["random"], **given)


def test_command_prints_and_keeps_the_scores(tmp_path, capsys):
    words = ["--agent", "random", "--runs", "3", "--workspace", str(tmp_path)]
    assert main(["measure", "coverage", *words, "--team", "2"]) == 0
    assert "of an episode" in capsys.readouterr().out
    assert main(["measure", "landscape", *words, "--drift", "2"]) == 0
    assert "local optima" in capsys.readouterr().out
    rows = [
        row for file in sorted(tmp_path.glob("scores/*.parquet")) for row in read_score_rows(file)
    ]
    assert [row["metric"] for row in rows] == [
        *("coverage team=2", "coverage of an episode team=2"),
        *("landscape drift=2", "landscape peak drift=2"),
    ]
    assert main(["measure", "landscape", *words, "--agent", "random"]) != 0
    assert capsys.readouterr().err == "sts: agent 'random' is given twice; give each agent once\n"
