"""The intelligence score, from the definitions and from the command line."""

from __future__ import annotations

import csv
import errno
import json
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

import sts.storage.files
from sts import agents
from sts.agents.identity import fingerprint
from sts.cli.main import main
from sts.engine.lockstep import play_episodes
from sts.engine.session import Team
from sts.errors import ArgumentError, UnknownName
from sts.numerics.streams import stream
from sts_analysis.inputs.scores import read_scores
from sts_lambda_star.domain import LambdaStar
from sts_lambda_star.generation import environments, patterns
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence import experiments
from sts_lambda_star.intelligence.factors import plan_runs
from sts_lambda_star.intelligence.files import metric_name
from sts_lambda_star.intelligence.reward_sums import add_sums, estimate_mean, sum_rewards
from sts_lambda_star.intelligence.score import PUBLISHED_AGENTS, score_agents, team_access
from tests.worlds.lambda_star.examples import batch_of, generate_world

SMALL = Settings(height=6, width=5, n_players=2, horizon=20)


def measure_reward(team, index, *, seed=9):
    """Return the mean reward of a team in one environment, by the general path."""
    worlds = batch_of([generate_world(SMALL, seed=seed, index=index)])
    called = ",".join(team)
    teams = []
    for i, name in enumerate(team):
        member = [i] if len(team) > 1 else []
        streams = [stream("lambda-star score", called, *member, seed, index)]
        players = tuple(range(i, SMALL.n_players, len(team)))
        teams.append(Team(agents.load(name), players, np.array(streams, np.uint64)))
    rewards = play_episodes(LambdaStar(), worlds, teams, steps=SMALL.horizon).rewards[0] / 2
    return sum(float(r) for r in rewards.ravel()) / (SMALL.n_players * SMALL.horizon)


def test_means_errors_and_differences_are_those_worked_by_hand():
    # Two agents in four environments; rewards of 1, 2, 3, 6 and of 1, 0, 2, 1 units.
    sums = sum_rewards(np.array([[1, 1], [2, 0], [3, 2], [6, 1]], np.int64))
    for weights, units, mean, variance in (
        ([1, 0], 1, 3, 14 / 3 / 4),
        ([0, 1], 1, 1, 2 / 3 / 4),
        ([1, -1], 1, 2, 14 / 3 / 4),
        ([1, 0], 10, 0.3, 14 / 3 / 4 / 100),
    ):
        found = estimate_mean(sums, np.array(weights), units)
        assert (found.mean, found.standard_error) == pytest.approx((mean, variance**0.5))


def test_tallies_are_exact_however_they_are_joined():
    received = np.random.default_rng(0).integers(-(10**7), 10**7, (60, 3))
    whole = sum_rewards(received)
    parts = [sum_rewards(part) for part in np.split(received, [7, 8, 40])]
    for joined in (
        add_sums(parts),
        add_sums(parts[::-1]),
        add_sums([add_sums(parts[:2]), add_sums(parts[2:])]),
    ):
        assert joined.episodes == 60
        assert (joined.total == whole.total).all() and (joined.products == whole.products).all()
    vast = sum_rewards(np.full((200, 1), 2 * 1000 * 100_000 + 10**8))
    assert vast.products[0, 0] == 200 * (3 * 10**8) ** 2 > 2**63
    many = add_sums([whole] * 10**4)
    assert many.products[0, 0] == 10**4 * whole.products[0, 0] > 2**64


def test_score_equals_definitions_2_and_3_by_hand():
    means = {
        name: np.array([measure_reward([name], index) for index in range(6)])
        for name in ("local-search", "stigmergy")
    }
    found = score_agents(["local-search", "stigmergy"], SMALL, episodes=6, seed=9)
    for mean in found.agents:
        values = means[mean.agent]
        assert mean.mean == pytest.approx(values.mean(), abs=1e-12)
        assert mean.standard_error == pytest.approx(values.std(ddof=1) / 6**0.5, abs=1e-12)
    (difference,) = found.differences
    apart = means["local-search"] - means["stigmergy"]
    assert difference.difference == pytest.approx(apart.mean(), abs=1e-12)
    assert difference.standard_error == pytest.approx(apart.std(ddof=1) / 6**0.5, abs=1e-12)


def test_score_does_not_depend_on_workers_or_spans(monkeypatch):
    names = ["random", "rule", "random,rule"]
    base, further = plan_runs([(6, 5)], [2, 3], [20])
    once = score_agents(names, base, further, episodes=12, seed=1)
    for span, workers in ((5, 1), (1, 2)):
        monkeypatch.setattr(experiments, "EPISODES_PER_JOB", span)
        assert score_agents(names, base, further, episodes=12, seed=1, workers=workers) == once


def test_levels_of_sight_differ_in_what_agents_see_alone():
    base, further = plan_runs([(7, 7)], [5], [30], [1, 3])
    found = score_agents(["random", "wisdom-of-the-crowd"], base, further, episodes=30, seed=0)
    by_sight = [part for part in found.breakdown if part.factor == "sight"]
    means = {(part.agent, part.label): part.mean for part in by_sight}
    assert means["random", "1"] == means["random", "3"], "the same environments"
    assert means["wisdom-of-the-crowd", "1"] != means["wisdom-of-the-crowd", "3"]


def test_agent_scores_the_same_whichever_others_are_scored():
    alone = score_agents(["rule"], SMALL, episodes=8, seed=2).agents[0]
    assert score_agents(["oracle", "rule"], SMALL, episodes=8, seed=2).agents[1] == alone
    assert score_agents(["rule"], SMALL, episodes=8, seed=3).agents[0].mean != alone.mean


def test_scores_rank_the_agents_as_the_paper_expects():
    names = ["random", "local-search", "oracle"]
    random, local, oracle = score_agents(names, Settings(), episodes=300, seed=0).agents
    assert random.standard_error is not None
    assert abs(random.mean) < 4 * random.standard_error
    assert random.mean < local.mean < oracle.mean
    assert oracle.sees == "world" and local.sees == "observation"


def test_score_is_marked_by_what_its_members_are_shown():
    for rehearsals, sees in ((3, "rehearsal"), (0, "observation")):
        found = score_agents(
            ["q-learning", "oracle"], SMALL, episodes=2, seed=0, rehearsals=rehearsals
        )
        assert [mean.sees for mean in found.agents] == [sees, "world"]
    recording, oracle, learner = map(agents.load, ("recorded", "oracle", "sarsa"))
    assert team_access([recording], 1) == team_access([learner, recording], 1) == "recording"
    assert team_access([oracle, recording], 1) == "world"
    assert team_access([learner], 1) == "rehearsal"


def test_agent_that_changed_since_the_run_was_planned_is_refused():
    def play(mark):
        trial = experiments.Experiment(("random",), (mark,), 2, 0, 0)
        return experiments.play_experiment(trial, [SMALL], 1, lambda done, total: None)

    play(agents.fingerprint(agents.load("random")))
    with pytest.raises(ArgumentError, match="has changed since the run was planned"):
        play("0" * 16)


def test_single_episode_has_no_standard_error():
    found = score_agents(["random", "rule"], SMALL, episodes=1, seed=0)
    assert found.agents[0].standard_error is None
    assert found.differences[0].standard_error is None
    assert {part.standard_error for part in found.breakdown} == {None}


@pytest.mark.parametrize("made", ["paper", "lambdastar-2016"])
def test_breakdown_by_complexity_sums_up_to_the_whole(made):
    settings = SMALL._replace(width=6, patterns=made)
    found = score_agents(["random", "local-search"], settings, episodes=40, seed=3)
    for mean in found.agents:
        parts = [part for part in found.breakdown if part.agent == mean.agent]
        assert {part.factor for part in parts} == {"complexity"} and len(parts) > 2
        assert sum(part.episodes for part in parts) == 40
        joined = sum(part.mean * part.episodes for part in parts) / 40
        assert joined == pytest.approx(mean.mean, abs=1e-12)


def test_breakdown_goes_by_the_complexity_of_each_environment():
    settings = SMALL._replace(complexity=(4, 6))
    found = score_agents(["local-search"], settings, episodes=30, seed=5)
    k = environments.generate_environments(settings, seed=5, start=0, stop=30).complexity
    counts = [(str(value), int((k == value).sum())) for value in (4, 5, 6)]
    assert [(part.label, part.episodes) for part in found.breakdown] == counts


def test_varied_factor_has_the_scores_of_separate_runs():
    base, further = plan_runs([(6, 5)], [2, 1], [20, 8])
    names = ["random", "local-search"]
    found = score_agents(names, base, further, episodes=9, seed=4)
    for factor, values in (("team", (1, 2)), ("steps", (8, 20))):
        parts = [part for part in found.breakdown if part.factor == factor]
        assert [part.value for part in parts] == [v for v in values for _ in names]
        for part in parts:
            field = {"team": "n_players", "steps": "horizon"}[factor]
            change: dict[str, Any] = {field: int(part.value)}
            alone = score_agents([part.agent], base._replace(**change), episodes=9, seed=4).agents[
                0
            ]
            assert (part.mean, part.standard_error) == (alone.mean, alone.standard_error)


def test_progress_runs_from_nothing_to_all_settings(monkeypatch):
    monkeypatch.setattr(experiments, "EPISODES_PER_JOB", 4)
    seen: list[tuple[int, int]] = []
    base, further = plan_runs([(6, 5)], [2, 1], [20])
    score_agents(
        ["random"], base, further, episodes=6, seed=0, progress=lambda *now: seen.append(now)
    )
    assert seen == [(0, 12), (4, 12), (6, 12), (10, 12), (12, 12)]


def test_unknown_agent_is_refused_before_anything_is_played():
    with pytest.raises(UnknownName, match="local-search"):
        score_agents(["clairvoyant"], SMALL, episodes=10**7, seed=0)


SCORE = ["lambda-star", "score"]
COMMAND = [*SCORE, "--agent", "random", "--agent", "oracle", "--size", "5x6"]


def test_score_command_prints_its_results_as_json(capsys):
    flags = ["--episodes", "10", "--team", "2", "--steps", "12", "--team", "1", "--json"]
    assert main([*COMMAND, *flags]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [row["agent"] for row in value["agents"]] == ["random", "oracle"]
    assert {"agent", "mean", "standard_error", "episodes"} <= set(value["agents"][0])
    assert value["differences"][0]["a"] == "random" and value["differences"][0]["b"] == "oracle"
    wanted = {"factor", "value", "agent", "mean", "standard_error", "episodes"}
    assert all(wanted <= set(row) for row in value["breakdown"])
    assert {row["factor"] for row in value["breakdown"]} == {"complexity", "team"}
    expected = {"height": 5, "width": 6, "n_players": 2, "horizon": 12, "episodes": 10}
    assert expected.items() <= value["settings"].items()


def test_score_command_prints_tables_with_the_best_agent_first(capsys):
    assert main([*COMMAND, "--episodes", "3", "--size", "7x7"]) == 0
    out, err = capsys.readouterr()
    blocks = [block.splitlines() for block in out.split("\n\n")]
    assert [block[0].split()[0] for block in blocks] == ["agent", "a", "K,", "H,", "3"]
    assert [line.split()[0] for line in blocks[0][1:]] == ["oracle", "random"]
    assert blocks[0][1].split()[1] == "world"
    assert blocks[1][1].split()[:2] == ["oracle", "random"]
    assert blocks[3][0].split()[2:] == ["5x6", "(9.8", "bits)", "7x7", "(11.2", "bits)"]
    assert [line.split()[0] for line in blocks[3][1:]] == ["oracle", "random", "episodes"]
    assert blocks[4] == [
        "3 environments of 5x6, K 2 to 23 at every level, 1 in the team, 50 steps each"
    ]
    assert err == ""


def test_all_stands_for_every_published_behaviour(capsys):
    assert len(PUBLISHED_AGENTS) == 13 and set(PUBLISHED_AGENTS) <= set(agents.list_installed())
    flags = ["--episodes", "2", "--size", "5x5", "--team", "2", "--steps", "10", "--json"]
    assert main([*SCORE, "--agent", "all", *flags, "--practice-episodes", "2"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [row["agent"] for row in value["agents"]] == list(PUBLISHED_AGENTS)
    assert len(value["differences"]) == 13 * 12 // 2


def test_printed_differences_are_between_neighbours_by_score(capsys):
    six = [part for name in PUBLISHED_AGENTS[:6] for part in ("--agent", name)]
    flags = ["--episodes", "2", "--size", "5x5", "--steps", "10", "--practice-episodes", "1"]
    assert main([*SCORE, *six, *flags]) == 0
    blocks = [block.splitlines() for block in capsys.readouterr().out.split("\n\n")]
    ranked = [line.split()[0] for line in blocks[0][1:]]
    pairs = [tuple(line.split()[:2]) for line in blocks[1][1:-1]]
    assert pairs == list(zip(ranked, ranked[1:], strict=False))


def test_table_and_figure_hold_the_breakdown(tmp_path, capsys):
    table, drawn = tmp_path / "t.csv", tmp_path / "f.svg"
    flags = ["--episodes", "6", "--size", "6x6", "--team", "1", "--team", "2", "--json"]
    files = ["--table", str(table), "--figure", str(drawn)]
    assert main([*COMMAND, *flags, *files]) == 0
    value = json.loads(capsys.readouterr().out)
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["agent"] for row in rows[:2]] == ["oracle", "random"]
    assert {row["factor"] for row in rows[:2]} == {"all"}
    assert value["files"] == [str(table), str(drawn)]
    low, high = value["settings"]["complexity"]
    assert {(row["complexity_low"], row["complexity_high"]) for row in rows} == {
        (str(low), str(high))
    }
    assert [float(row["mean"]) for row in rows[2:]] == [row["mean"] for row in value["breakdown"]]
    root = ElementTree.parse(drawn).getroot()
    words = " ".join("".join(text.itertext()) for text in root.iter() if text.tag[-4:] == "text")
    for word in ("K, complexity", "H, uncertainty", "players", "oracle (sees the world)"):
        assert word in words
    assert "steps of interaction" not in words
    assert main([*COMMAND, "--episodes", "1", "--figure", str(drawn)]) == 0
    assert "NaN" not in drawn.read_text(), "one episode has no error bars"


VAST = ["--size", "200x200", "--steps", "900", "--episodes", "9999999", "--workers", "99999"]
WRONG = [
    (["--episodes", "0"], "expected 1 or more episodes, found 0\n"),
    (["--size", "10"], "a size like 10x10"),
    (["--size", "5x6"], "a size is given twice"),
    (["--team", "2", "--team", "0"], "a team of 1 to 30"),
    (["--workers", "0"], "expected 1 or more workers, found 0\n"),
    (["--practice-episodes", "-1"], "rehearsals, found -1"),
    (["--agent", "q-learner"], "; did you mean q-learning?\n"),
    (["--agent", "rule,nobody", "--team", "2"], "unknown agent 'nobody'"),
    (["--agent", "rule,blind"], "rule,blind: expected at most as many agents as players"),
    (["--agent", "oracle"], "'oracle' is given twice"),
    (["--agent", "all"], "--agent random: all includes it; leave one of the two out"),
    (["--agent", "all", "--agent", "all"], "--agent all is given twice"),
    (["--patterns", "spiral"], "unknown value of --"),
    (["--complexity", "2-90"], "2 to 90 is out of range for 50 steps on a 5x6 grid; choose "),
    (["--complexity", "9-90", "--steps", "20"], "on a 5x6 grid; choose a range within 2 to 20"),
    (["--complexity", "2"], "--complexity like 2-23"),
    (["--table", "t.txt"], "ends in .csv"),
    (["--figure", "f.png"], "ends in .svg"),
    (["--figure", "file/f.svg"], "is not a folder"),
    (["--table", "folder.csv"], "found the folder"),
    (["--figure", "nowhere/f.svg"], "--figure nowhere/f.svg: the folder nowhere does not exist"),
    (["--table", "nowhere/t.csv"], "--table nowhere/t.csv: the folder nowhere does not exist"),
    (VAST, "random needs "),
]


@pytest.mark.parametrize(("flags", "said"), WRONG)
def test_invalid_flags_print_one_line_before_a_world_is_made(
    flags, said, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.setattr(environments, "generate_environments", None)
    assert main([*COMMAND, *flags]) == 2
    out, err = capsys.readouterr()
    assert said in err and err.count("\n") == 1 and out == ""


def test_missing_agents_or_unsupported_ranges_are_refused(capsys):
    program = ["--agent", "random", "--patterns", "lambdastar-2016", "--complexity", "2-9"]
    for words, said in ((program, "do not support a complexity range"), ([], "--agent")):
        assert main([*SCORE, *words]) == 2
        assert said in capsys.readouterr().err


def test_every_level_draws_k_from_their_common_range(capsys):
    levels = ["--steps", "50", "--steps", "20", "--steps", "500", "--agent", "random"]
    command = [*SCORE, "--episodes", "1", *levels]
    assert main(command) == 0
    *_, last = capsys.readouterr().out.splitlines()
    low, high = (patterns.complexity_range(Settings(horizon=steps)) for steps in (500, 50))
    assert low[1] < high[1]
    assert last.startswith(f"1 environment of 10x10, K 2 to {low[1]} at every level, ")
    assert main([*command, "--complexity", "3-6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["complexity"] == [3, 6]


def test_scores_are_printed_even_if_a_file_cannot_be_written(tmp_path, capsys, monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device", str(path.parent / ".f.part"))

    monkeypatch.chdir(tmp_path)
    files = ["--table", "t.csv", "--figure", "f.svg", "--episodes", "2"]
    monkeypatch.setattr(sts.storage.files, "write_atomically", full)
    assert main([*COMMAND, *files]) == 1
    out, err = capsys.readouterr()
    assert "2 environments of 5x6" in out and "->" not in out
    assert err.startswith("sts: t.csv: ") and err.count("\n") == 1
    assert main([*COMMAND, *files, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["files"] == []


def saved(root, capsys, *flags):
    """Scores with --save-scores; returns what was printed and the rows kept."""
    capsys.readouterr()
    words = [*SCORE, *flags, "--save-scores", "--json", "--workspace", str(root)]
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    (file,) = (root / "scores").iterdir()
    return printed, pq.read_table(file).to_pylist()


def test_saved_scores_replace_those_of_the_same_agent_and_test_alone(tmp_path, capsys):
    random, oracle = ["--agent", "random"], ["--agent", "oracle"]
    saved(tmp_path, capsys, *random, "--episodes", "5", "--team", "3", "--size", "6x6")
    saved(tmp_path, capsys, *random, *oracle, "--episodes", "5")
    printed, rows = saved(tmp_path, capsys, *random, *oracle, "--episodes", "7", "--seed", "1")
    _, again = saved(tmp_path, capsys, *oracle, "--episodes", "5")
    assert sorted(map(str, again)) == sorted(map(str, rows))
    found = {(row["agent"], row["metric"], row["n"]): row for row in rows}
    assert len(rows) == len(found) and found.keys() == {
        ("random", "lambda-star size=6x6 team=3", 5),
        ("random", "lambda-star", 5),
        ("oracle", "lambda-star", 5),
        ("random", "lambda-star", 7),
        ("oracle", "lambda-star", 7),
    }
    kept = found["random", "lambda-star", 7]
    assert kept["value"] == printed["agents"][0]["mean"]
    assert json.loads(kept["parameters"]) == printed["settings"]


def test_saving_names_the_file_and_the_level_that_is_kept(tmp_path, capsys):
    flags = ["--agent", "random", "--episodes", "2", "--team", "3"]
    printed, rows = saved(tmp_path, capsys, *flags, "--team", "1")
    (file,) = printed["files"]
    assert file == str(tmp_path / "scores" / "lambda-star.parquet")
    assert [row["metric"] for row in rows] == ["lambda-star team=3"]
    words = [*SCORE, *flags, "--save-scores", "--workspace", str(tmp_path)]
    assert main([*words, "--team", "1"]) == 0
    assert capsys.readouterr().out.endswith(f"-> {file} (base: team=3)\n")
    assert main(words) == 0
    assert capsys.readouterr().out.endswith(f"-> {file}\n")


def test_saved_scores_are_read_with_a_missing_error(tmp_path, capsys):
    saved(tmp_path, capsys, "--agent", "random", "--episodes", "1")
    saved(tmp_path, capsys, "--agent", "random", "--episodes", "4", "--steps", "12")
    frame: Any = read_scores(tmp_path / "scores" / "lambda-star.parquet").set_index("metric")
    assert np.isnan(frame.loc["lambda-star", "standard_error"])
    assert frame.loc["lambda-star steps=12", "standard_error"] >= 0
    assert frame["n"].to_dict() == {"lambda-star": 1, "lambda-star steps=12": 4}


def test_saved_score_keeps_the_code_and_the_access_of_its_agents(tmp_path, capsys):
    players = ["--agent", "q-learning", "--agent", "random", "--agent", "random,oracle"]
    flags = ["--team", "2", "--episodes", "2", "--practice-episodes"]
    _, rows = saved(tmp_path, capsys, *players, *flags, "1")
    q_learning, random, oracle = (
        fingerprint(agents.load(name)) for name in ("q-learning", "random", "oracle")
    )
    assert {row["agent"]: (row["sees"], row["fingerprint"]) for row in rows} == {
        "q-learning": ("rehearsal", q_learning),
        "random": ("observation", random),
        "random,oracle": ("world", f"{random},{oracle}"),
    }
    _, rows = saved(tmp_path, capsys, *players[:2], *flags, "0")
    kept = {(row["agent"], row["metric"]): row["sees"] for row in rows}
    assert kept["q-learning", "lambda-star team=2 rehearsals=0"] == "observation"
    assert kept["q-learning", "lambda-star team=2 rehearsals=1"] == "rehearsal"


def test_scores_of_an_older_format_are_not_added_to(tmp_path, capsys):
    saved(tmp_path, capsys, "--agent", "random", "--episodes", "1")
    (file,) = (tmp_path / "scores").iterdir()
    old = (
        pq.read_table(file)
        .drop_columns(["sees"])
        .replace_schema_metadata({"sts.format": "scores/1"})
    )
    pq.write_table(old, file)
    before = file.read_bytes()
    words = [*SCORE, "--agent", "random", "--episodes", "1", "--save-scores"]
    assert main([*words, "--workspace", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "scores format 1; this version reads 3" in error and error.count("\n") == 1
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "rehearsals", "called"),
    [
        (Settings(), 100, "lambda-star"),
        (Settings(complexity=(2, 23)), 100, "lambda-star"),
        (Settings(complexity=(3, 9)), 0, "lambda-star complexity=3-9 rehearsals=0"),
        (Settings(horizon=12), 100, "lambda-star steps=12"),
        (Settings(n_players=2, needs=2), 100, "lambda-star team=2 needs=2"),
        (Settings(patterns="lambdastar-2016"), 100, "lambda-star patterns=lambdastar-2016"),
    ],
)
def test_metric_is_named_by_its_changed_settings(settings, rehearsals, called):
    used = score_agents(["random"], settings, episodes=1, seed=0, rehearsals=rehearsals).settings
    assert metric_name(used) == called
