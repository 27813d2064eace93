"""The anytime test: its definitions, what it must rank, and that it can be stopped and resumed."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from sts import agents, registry
from sts.agents import fingerprint
from sts.cli.main import main
from sts.engine import lockstep
from sts.engine.session import Team
from sts.errors import ArgumentError, DamagedData
from sts.numerics.streams import streams
from sts.storage.scores import read_score_rows
from sts.storage.workspace import Workspace
from sts_analysis.measures import anytime, anytime_scores, universal
from sts_analysis.measures.anytime import Settings, average_reward, choose_next, count_interactions
from sts_analysis.measures.classes import Chosen, EnvironmentClass, load_class
from sts_analysis.measures.spans import Span, check
from sts_lambda_star.domain import LambdaStar
from sts_lambda_star.intelligence.environment_class import LambdaStarClass

SETTINGS = Settings("lambda-star", 12, 1, 0)


def play(name: str, runs: int, settings: Settings = SETTINGS) -> anytime.Runs:
    return anytime.play_runs(name, fingerprint(agents.load(name)), settings, 0, runs)


class Endless:
    """A class with an environment of every complexity."""

    name, domain, highest = "endless", LambdaStar(), None

    def choose(self, low: float, high: float, **_: Any) -> Chosen:
        return Chosen(b"", high)


class Finite(LambdaStarClass):
    """A class with a single environment in each range of complexities."""

    name, highest = "finite", 3.0

    def choose(self, low: float, high: float, **given: Any) -> Chosen | None:
        chosen = super().choose(low, high, **(given | {"key": (0,), "used": set()}))
        return None if chosen is None or chosen.state in given["used"] else chosen


def test_interactions_grow_by_half_and_round_up() -> None:
    assert count_interactions(13) == [1, 2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 140, 210]
    assert count_interactions(28)[-1] == 92_169


@pytest.mark.parametrize(
    ("rewards", "times", "expected"),
    [
        ([], [], 0.0),  # no action was completed
        ([1, 1, 1, 1], [1, 2, 3, 4], 1.0),  # all of the time was used
        ([1, 0], [1, 2], 1.0),  # half of it: one action of two counts
        ([1, 1], [0.1, 0.2], 0.0),  # stopped so early that none counts
        ([-1, 1, 1], [1, 2, 3], 0.0),  # two of three
    ],
)
def test_average_reward_counts_as_large_a_part_of_the_actions_as_of_the_time(
    rewards: list[float], times: list[float], expected: float
) -> None:
    assert average_reward(rewards, times, 4) == expected


@pytest.mark.parametrize(("reward", "factor"), [(1.0, 1.5), (-1.0, 0.5)])
def test_level_follows_the_reward(reward: float, factor: float) -> None:
    level = 1.0
    for m in range(1, 9):
        level, _ = choose_next(
            cast(EnvironmentClass, Endless()), level, n_players=1, key=(0,), used=set()
        )
        level *= 1 + reward / 2
        assert level == factor**m


def test_agent_that_stops_when_it_is_ahead_gains_nothing() -> None:
    """It gains by a plain mean, so the rule is needed."""
    count, runs = 27, 2000
    classes = LambdaStarClass()
    given: dict[str, Any] = {"n_players": 1, "used": set()}
    chosen = [classes.choose(1, 5, key=(0, run), **given) for run in range(runs)]
    states = [one.state for one in chosen if one is not None]
    team = Team(agents.load("random"), (0,), streams(("stopper",), [(r,) for r in range(runs)]))
    domain = LambdaStar()
    played = lockstep.play_episodes(domain, domain.restore(states), [team], steps=count)
    plain, ruled = [], []
    for rewards in (played.rewards[:, :, 0] * domain.reward_unit).tolist():
        ahead = np.flatnonzero(np.cumsum(rewards) > 0)
        done = rewards[: int(ahead[0]) + 1] if ahead.size else rewards
        plain.append(sum(done) / len(done))
        ruled.append(average_reward(done, range(1, len(done) + 1), count))
    assert np.mean(plain) == pytest.approx(0.053, abs=0.015)
    assert np.mean(ruled) == pytest.approx(-0.028, abs=0.015)


def test_random_scores_0_and_stays_at_a_low_level() -> None:
    runs = play("random", 200)
    score = runs.scores[:, -1]
    assert abs(score.mean()) < 4 * score.std(ddof=1) / len(score) ** 0.5
    assert np.median(runs.level[:, -1]) < 4


def test_oracle_scores_more_than_local_search_and_that_more_than_random() -> None:
    found = {name: play(name, 30).scores[:, -1] for name in ("random", "local-search", "oracle")}
    for less, more in (("random", "local-search"), ("local-search", "oracle")):
        gap = found[more] - found[less]
        assert gap.mean() > 5 * gap.std(ddof=1) / len(gap) ** 0.5


@pytest.mark.parametrize(
    ("runs", "early", "late"),
    [(40, 0.09, 0.04), pytest.param(100, 0.07, 0.03, marks=pytest.mark.slow)],
)
def test_scores_are_those_of_the_specification(runs: int, early: float, late: float) -> None:
    """Its table, of other draws; local search starts better here (.27 for .21, error .006)."""
    settings = Settings("lambda-star", 16, 1, 0)
    found = {name: play(name, runs, settings).scores for name in ("local-search", "oracle")}
    for name, after_8, after_16 in (("local-search", 0.213, 0.347), ("oracle", 0.545, 0.735)):
        means = found[name].mean(0)
        assert means[7] == pytest.approx(after_8, abs=early)
        assert means[15] == pytest.approx(after_16, abs=late)


@pytest.mark.parametrize(
    ("name", "agent"), [("lambda-star", "local-search"), ("automata", "random")]
)
def test_start_of_a_run_is_the_run_that_was_stopped_there(name: str, agent: str) -> None:
    settings = SETTINGS._replace(class_name=name)
    short, long = (play(agent, 5, settings._replace(environments=count)) for count in (6, 12))
    for few, many in zip(short, long, strict=True):
        np.testing.assert_array_equal(few, many[:, : few.shape[1]])


class Odd(LambdaStarClass):
    """A class whose offset makes rewards something else."""

    offset = 0.0

    def choose(self, low: float, high: float, **given: Any) -> Chosen | None:
        chosen = super().choose(low, high, **given)
        return None if chosen is None else chosen._replace(offset=self.offset)


@pytest.mark.parametrize(
    ("measure", "offset"),
    [
        *(("anytime", float("nan")), ("universal --environments 4", 1e6), ("check", 1e6)),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                *(("anytime", 1e6), ("universal --environments 4", float("nan"))),
                ("check", float("nan")),
            )
        ),
    ],
)
def test_rewards_outside_their_range_are_named(
    measure: str,
    offset: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Odd, "offset", offset)
    monkeypatch.setattr("sts_analysis.measures.class_checks.MAX_LEVELS", 3)
    monkeypatch.setattr(registry, "load_entry_point", entry_points({"odd": Odd}))
    flags = "--environments 2" if measure == "check" else "--agent random --runs 1"
    load_class.cache_clear()
    universal.choose_environments.cache_clear()
    code = main(["measure", *measure.split(), "--class", "odd", *flags.split()])
    out, error = capsys.readouterr()
    lines = [line for line in (out + error).splitlines() if "rewards" in line]
    assert code in (1, 2) and "from" in lines[0] and "Traceback" not in out + error


def test_offset_is_not_charged_where_no_action_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odd, "offset", 0.25)
    monkeypatch.setattr(anytime, "load_class", lambda name: Odd())
    test = SETTINGS._replace(seconds=1.9, seconds_per_action=1.0, first_timeout=1.5)
    runs = play("random", 50, test)
    assert runs.interactions.tolist() == [[1]] * 50  # two thirds of the time, so none counts
    assert not runs.reward.any()


def test_class_that_has_changed_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"suite": None, "class_": "odd", "seed": 0, "runs": 2}
    monkeypatch.setattr(registry, "load_entry_point", entry_points({"odd": Odd}))
    load_class.cache_clear()
    workspace = Workspace.open(tmp_path)
    for mark in ("before", "after"):
        monkeypatch.setattr(anytime_scores, "mark_class", lambda name, mark=mark: mark)
        anytime_scores.measure(["random"], workspace=workspace, environments=2, **given)
    assert len([*tmp_path.rglob("measures/anytime/*")]) == 2
    load_class.cache_clear()


def entry_points(classes: dict[str, Any]) -> Any:
    """Return `registry.load_entry_point` with further classes."""
    load = registry.load_entry_point
    return lambda group, kind, name: classes[name] if name in classes else load(group, kind, name)


def test_runs_do_not_depend_on_each_other() -> None:
    alone = anytime.play_runs("stigmergy", fingerprint(agents.load("stigmergy")), SETTINGS, 3, 4)
    for one, many in zip(alone, play("stigmergy", 5), strict=True):
        np.testing.assert_array_equal(one[0], many[3])


@pytest.mark.parametrize(
    ("runs", "error"), [(12, 0.03), pytest.param(40, 0.02, marks=pytest.mark.slow)]
)
def test_slow_agents_score_less_and_rise_with_the_time(runs: int, error: float) -> None:
    """Figures are those of the specification, of other draws."""

    def score(seconds: float, each: float) -> float:
        test = SETTINGS._replace(seconds=seconds, seconds_per_action=each)
        return float(play("local-search", runs, test).scores[:, -1].mean())

    assert score(0.01, 1e-2) == score(1, 1.0) == 0
    for seconds, each, expected in ((1, 1e-4, 0.224), (1, 1e-2, 0.056), (60, 1e-2, 0.156)):
        assert score(seconds, each) == pytest.approx(expected, abs=error)


@pytest.mark.parametrize(
    ("runs", "error"), [(50, 0.024), pytest.param(200, 0.012, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("is_kept", "expected"), [(False, 0.036), (True, 0.040)])
def test_learner_scores_as_in_the_specification(
    is_kept: bool, expected: float, runs: int, error: float
) -> None:
    settings = Settings("lambda-star", 16, 1, 0, is_kept)
    score = play("tests.analysis.measures.seen_table:SeenTable", runs, settings).scores[:, -1]
    assert score.mean() == pytest.approx(expected, abs=error)  # four standard errors


def test_measured_time_is_used_up_to_the_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = 2.0**-10
    clock = map(float, itertools.count(step=unit))  # an action takes two units
    monkeypatch.setattr(anytime, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    test = SETTINGS._replace(seconds=50 * unit, first_timeout=10 * unit)
    runs = play("local-search", 1, test)
    assert runs.interactions.tolist() == [[5, 7, 11]]  # of 10, 15 and 22.5 units


def test_runs_of_measured_time_are_kept_one_by_one(tmp_path: Path) -> None:
    given: dict[str, Any] = {"suite": None, "class_": "lambda-star", "seed": 0, "runs": 3}
    anytime_scores.measure(["random"], workspace=Workspace.open(tmp_path), seconds=0.01, **given)
    assert len([*tmp_path.rglob("measures/**/*-*.json")]) == 3


def test_bad_luck_is_not_called_losing_on_purpose() -> None:
    draws = np.random.default_rng(0)
    ones = np.ones((100, 1))
    for mean, found in ((-0.15, False), (-0.9, True)):
        reward = (draws.normal(mean, 1.0, (100, 1)) / 2).clip(-1, 1)
        runs = anytime.Runs(np.ones((100, 2)), ones, reward, ones.astype(np.int64))
        assert bool(anytime_scores.find_losses(runs)) == found


KILLED_AT_EVERY_WRITE = """
import pathlib, sys
from sts_analysis.measures import anytime_scores
from sts.storage.workspace import Workspace
from tests.faults.writes import kill_at_each_write

anytime_scores.RUNS_PER_SPAN = 2
root = pathlib.Path(sys.argv[1])

def do(name):
    given = {"suite": None, "class_": "lambda-star", "seed": 0, "runs": 3, "environments": 4}
    workspace = Workspace.open(str(root / name))
    return anytime_scores.measure(["random", "local-search"], workspace=workspace, **given)[:3]

whole, kept = do("whole"), []
for name, killed in kill_at_each_write(do):
    if killed:
        kept.append(len([*(root / name).rglob("measures/**/*-*.json")]))
        assert do(name) == whole, name
print(*sorted(set(kept)))
"""


@pytest.mark.slow
def test_a_test_killed_at_any_write_is_resumed_to_the_same_scores(tmp_path: Path) -> None:
    words = [sys.executable, "-c", KILLED_AT_EVERY_WRITE, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0", "1", "2", "3"]


CLASS = "--class lambda-star"
SEEKER = """
from sts.agents import Agent, PolicyOutput


class Seeker(Agent):
    name = "seeker"

    def act(self, observation, instructions, memory, draws):
        worst = observation.reward == observation.reward.min(-1, keepdims=True)
        return PolicyOutput(worst.astype(float)), memory
"""


def test_agent_that_seeks_evil_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evil_seeker.py").write_text(SEEKER)
    words = f"measure anytime {CLASS} --agent evil_seeker:Seeker --agent local-search --runs 12"
    assert main([*words.split(), "--figure", "curves.svg"]) == 0
    out = capsys.readouterr().out
    assert "seeker has a mean reward of -0." in out and "local-search has" not in out
    assert Path("curves.svg").read_text().startswith("<svg")
    rows = read_score_rows(Path("sts-workspace/scores/anytime.parquet"))
    assert {row["metric"] for row in rows} == {"anytime lambda-star", "anytime level lambda-star"}
    assert {row["sees"] for row in rows} == {"observation"}


def test_interrupted_test_prints_the_scores_of_finished_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    played: list[object] = []
    play_all = anytime_scores.play_span

    def play_once(settings: Settings, span: Span) -> dict[str, Any]:
        if played:
            raise KeyboardInterrupt
        played.append(span)
        return play_all(settings, span)

    words = f"measure anytime {CLASS} --agent random --agent oracle --runs 3 --environments 4"
    monkeypatch.setattr(anytime_scores, "play_span", play_once)
    assert main(words.split()) == 130
    out = capsys.readouterr().out
    assert "oracle has finished 0 of 3 runs" in out and "random  observation" in out
    played.append("nothing new")
    assert main(words.replace("--agent random ", "").split()) == 130  # nothing to show
    assert "score" not in capsys.readouterr().out


def test_class_of_a_user_is_loaded_by_module_and_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = "--agent random --runs 2 --environments 3"
    name = "tests.analysis.measures.test_anytime:Odd"
    assert main(f"measure anytime --class {name} {given}".split()) == 0
    assert f"anytime {name}" in str(read_score_rows(Path("sts-workspace/scores/anytime.parquet")))
    assert main(f"measure anytime --class pathlib:Path {given}".split()) == 2
    assert "it has no domain" in capsys.readouterr().err


def test_figure_is_refused_at_once_by_a_metric_that_draws_none(refuse) -> None:
    error = refuse("landscape --agent random --runs 100000 --figure x.svg")
    assert error == "sts: metric 'landscape' draws no figure: leave out --figure"


def test_class_that_runs_out_of_environments_says_so() -> None:
    with pytest.raises(ArgumentError, match="class finite has no further environment after 1"):
        used: set[bytes] = set()
        for _ in range(2):
            _, chosen = choose_next(
                cast(EnvironmentClass, Finite()), 9.0, n_players=1, key=(0,), used=used
            )
            used.add(chosen.state)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (f"{CLASS} --environments 0", "expected 1 environment or more"),
        (f"{CLASS} --seconds 0", "expected 1e-06 seconds or more"),
        (f"{CLASS} --seconds 60 --seconds-per-action 1e-6", "at most 1000000 interactions"),
        (f"{CLASS} --seconds-per-action 1", "need a time"),
        (f"{CLASS} --seconds 1 --environments 3", "or the seconds, found both"),
        (f"{CLASS} --seconds 1e6", "at most 86400 seconds"),
        (f"{CLASS} --environments 1000000000", "at most 1000000 interactions"),
        (f"{CLASS} --runs 1000000000", "at most 100000 runs"),
        (f"{CLASS} --agent random", "agent 'random' is given twice"),
        ("--class nope", "unknown class"),
        ("--class=", "give --class, one of "),
        (f"{CLASS} --agent babyai-seeker", "plays only in babyai"),
    ],
)
def test_bad_setting_gets_one_line(flags: str, message: str, refuse: Callable[[str], str]) -> None:
    assert message in refuse(f"anytime --agent random {flags}")


def test_damaged_result_is_named_and_measured_again_once_removed(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "suite": None,
        "class_": "lambda-star",
        "seed": 0,
        "runs": 2,
        "environments": 4,
    }
    workspace = Workspace.open(tmp_path / "w")
    first = anytime_scores.measure(["random"], workspace=workspace, **given)
    (file,) = (tmp_path / "w/measures").rglob("*.json")
    assert not check(workspace).findings
    whole = file.read_bytes()
    for damaged in (whole[:-9], whole.replace(b"[[1", b"[[2")):
        file.write_bytes(damaged)
        with pytest.raises(DamagedData, match="is damaged: remove the file"):
            anytime_scores.measure(["random"], workspace=workspace, **given)
        (found,) = check(workspace).findings
        assert str(file.relative_to(workspace.root)) in found
    file.unlink()
    assert anytime_scores.measure(["random"], workspace=workspace, **given)[:3] == first[:3]
