"""The intelligence score, from the definitions and from the command line."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from sts import agents, cli
from sts.draws import stream
from sts.errors import ArgumentError, UnknownName
from sts.lambda_star import score as scoring
from sts.lambda_star.domain import Batch, LambdaStar
from sts.lambda_star.patterns import Settings, generate
from sts.lambda_star.score import score
from sts.lockstep import Team, play

SMALL = Settings(height=6, width=5, participants=2, horizon=20)


def test_the_score_is_definitions_2_and_3_by_hand():
    means = {}
    for name in ("local-search", "stigmergy"):
        per_episode = []
        for index in range(6):
            worlds = Batch([generate(SMALL, seed=9, index=index)])
            streams = np.array([stream("lambda-star score", name, 9, index)], np.uint64)
            team = Team(agents.load(name), (0, 1), streams)
            rewards = play(LambdaStar(), worlds, [team], steps=20).rewards[0] / 2
            per_episode.append(sum(float(r) for r in rewards.ravel()) / (2 * 20))
        means[name] = np.array(per_episode)
    found = score(["local-search", "stigmergy"], SMALL, episodes=6, seed=9)
    for mean in found.agents:
        values = means[mean.agent]
        assert mean.mean == pytest.approx(values.mean(), abs=1e-12)
        assert mean.standard_error == pytest.approx(values.std(ddof=1) / 6**0.5, abs=1e-12)
    (difference,) = found.differences
    apart = means["local-search"] - means["stigmergy"]
    assert difference.difference == pytest.approx(apart.mean(), abs=1e-12)
    assert difference.standard_error == pytest.approx(apart.std(ddof=1) / 6**0.5, abs=1e-12)


def test_the_score_does_not_depend_on_workers_or_batches(monkeypatch):
    names = ["random", "rule"]
    once = score(names, SMALL, episodes=12, seed=1)
    monkeypatch.setattr(scoring, "BATCH", 5)
    assert score(names, SMALL, episodes=12, seed=1) == once
    assert score(names, SMALL, episodes=12, seed=1, workers=2) == once


def test_other_seeds_give_other_scores():
    first, second = (score(["random"], SMALL, episodes=12, seed=s).agents[0] for s in (1, 2))
    assert first.mean != second.mean


def test_an_agent_scores_the_same_whoever_is_scored_beside_it():
    alone = score(["rule"], SMALL, episodes=8, seed=2).agents[0]
    assert score(["oracle", "rule"], SMALL, episodes=8, seed=2).agents[1] == alone


def test_scores_order_the_agents_as_the_paper_expects():
    names = ["random", "local-search", "oracle"]
    random, local, oracle = score(names, Settings(), episodes=300, seed=0).agents
    assert abs(random.mean) < 4 * random.standard_error
    assert random.mean < local.mean < oracle.mean
    assert oracle.sees == "world" and local.sees == "observation"


def test_stigmergy_makes_a_team_of_local_searchers_better():
    scores = score(
        ["local-search", "stigmergy"], Settings(participants=6), episodes=400, seed=0
    ).differences[0]
    assert scores.difference < -3 * scores.standard_error


def test_a_single_episode_has_no_standard_error():
    found = score(["random", "rule"], SMALL, episodes=1, seed=0)
    assert found.agents[0].standard_error is None
    assert found.differences[0].standard_error is None


def test_progress_runs_from_nothing_to_all(monkeypatch):
    monkeypatch.setattr(scoring, "BATCH", 4)
    seen: list[tuple[int, int]] = []
    score(["random"], SMALL, episodes=10, seed=0, progress=lambda *now: seen.append(now))
    assert seen == [(0, 10), (4, 10), (8, 10), (10, 10)]


@pytest.mark.parametrize(
    ("names", "changes", "said"),
    [
        (["random"], {"episodes": 0}, "found 0 episodes"),
        (["random"], {"workers": 0}, "0 workers"),
        (["random", "random"], {}, "named twice"),
    ],
)
def test_nothing_to_score_is_refused(names, changes, said):
    with pytest.raises(ArgumentError, match=said):
        score(names, SMALL, **({"episodes": 2, "seed": 0} | changes))


def test_an_unknown_agent_is_refused_before_anything_is_played():
    with pytest.raises(UnknownName, match="local-search"):
        score(["clairvoyant"], SMALL, episodes=10**7, seed=0)


COMMAND = ["lambda-star", "score", "--agent", "random", "--agent", "oracle", "--size", "5x6"]


def test_the_command_prints_json_with_agents_differences_and_settings(capsys):
    assert cli.main([*COMMAND, "--episodes", "10", "--team", "2", "--steps", "12", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [row["agent"] for row in value["agents"]] == ["random", "oracle"]
    assert {"agent", "mean", "standard_error", "episodes"} <= set(value["agents"][0])
    assert value["differences"][0]["a"] == "random" and value["differences"][0]["b"] == "oracle"
    expected = {"height": 5, "width": 6, "participants": 2, "horizon": 12, "episodes": 10}
    assert expected.items() <= value["settings"].items()


def test_the_command_prints_a_table_best_first_and_is_quiet_off_a_terminal(capsys):
    assert cli.main([*COMMAND, "--episodes", "1"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split()[0] == "agent"
    assert [line.split()[0] for line in lines[1:3]] == ["oracle", "random"]
    assert err == ""


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--episodes", "0"], "found 0 episodes"),
        (["--size", "2x9"], "sides from 3 to 255"),
        (["--size", "10"], "a size like 10x10"),
        (["--team", "0"], "a team of 1"),
        (["--team", "31"], "a team of 1 to 30"),
        (["--steps", "1"], "2 to 100000 steps"),
        (["--workers", "0"], "0 workers"),
        (["--agent", "q-learner"], "unknown agent 'q-learner'"),
        (["--patterns", "spiral"], "invalid choice"),
        (["--patterns", "lambdastar-2016"], "square"),
    ],
)
def test_the_command_refuses_what_cannot_be_scored_with_one_line(flags, said, capsys):
    assert cli.main([*COMMAND, *flags]) == 2
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and out == ""


def test_the_command_says_what_is_missing(capsys):
    assert cli.main(["lambda-star", "score"]) == 2
    assert "--agent" in capsys.readouterr().err
    assert cli.main(["lambda-star"]) == 2


def test_saved_scores_are_a_scores_table_and_replace_what_was_saved(tmp_path, capsys):
    for episodes in ("5", "7"):
        flags = ["--episodes", episodes, "--save", "--json", "--workspace", str(tmp_path)]
        assert cli.main([*COMMAND, *flags]) == 0
    printed = json.loads(capsys.readouterr().out.split("\n}\n")[1] + "}")
    (file,) = (tmp_path / "scores").iterdir()
    rows = pq.read_table(file).to_pylist()
    assert [(r["agent"], r["metric"], r["n"]) for r in rows] == [
        ("random", "lambda-star", 7),
        ("oracle", "lambda-star", 7),
    ]
    assert [r["value"] for r in rows] == [m["mean"] for m in printed["agents"]]
    assert json.loads(rows[0]["parameters"]) == printed["settings"]
