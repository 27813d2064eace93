"""Metrics are found by name, measured, checked, and kept where a report finds them."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sts import agents as registry
from sts.cli.main import main
from sts.continuations import continuation_store as store
from sts.continuations.run import run
from sts.errors import ArgumentError, DamagedData, StsError, UnknownName
from sts.storage.workspace import Workspace
from sts_analysis.inputs.workspace import workspace_scores
from sts_analysis.metrics.log_prob import log_prob
from sts_analysis.metrics.measure import find, keep, measure
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence import metric as intelligence
from sts_lambda_star.intelligence.score import score_agents
from tests.examples import instead, scenarios

NAMES = ("random", "local-search")


@pytest.fixture(scope="module")
def suite() -> Any:
    return SimpleNamespace(label="small@1", scenarios=scenarios(3))


@pytest.fixture(scope="module")
def played(suite: Any, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace.open(str(tmp_path_factory.mktemp("played")))
    run(
        workspace,
        suite.scenarios,
        NAMES,
        count=2,
        seed=0,
        workers=1,
        progress=lambda done, total: None,
    )
    return workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path / "w"))


def returning(*rows: dict[str, Any]) -> Callable[..., Any]:
    """A metric that says these rows of whomever it is asked."""
    return lambda agents, *, suite, workspace, seed: rows


def test_the_installed_metrics_are_functions() -> None:
    assert callable(find("log_prob")[1]) and find("lambda-star")[1] is intelligence.measure
    with pytest.raises(UnknownName, match="unknown metric 'log-prob'; known: .*mean log_prob"):
        find("log-prob")


def test_log_prob_is_the_mean_over_scenarios_of_what_was_recorded(
    suite: Any, played: Workspace
) -> None:
    rows = log_prob(NAMES, suite=suite, workspace=played, seed=0)
    for row in rows:
        mine = [
            [c.log_probs[:6].astype(float) for c in store.load(played, [one.hash])
             if c.agent == row["agent"]]
            for one in suite.scenarios
        ]  # fmt: skip
        means = [np.mean(each) for each in mine]
        assert row["value"] == pytest.approx(np.mean(means)) and row["n"] == 3
        assert row["standard_error"] == pytest.approx(np.std(means, ddof=1) / np.sqrt(3))
    values = {row["agent"]: row["value"] for row in rows}
    # Nine moves, and words, at random; local search recorded what is asked of here.
    assert values["local-search"] > values["random"] and values["random"] <= np.log(1 / 9)


def test_log_prob_says_what_it_needs(
    suite: Any, played: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ArgumentError, match="expected --suite NAME@VERSION, found none"):
        log_prob(NAMES, suite=None, workspace=played, seed=0)
    with pytest.raises(ArgumentError, match="run `sts run small@1 --agent blind` first"):
        log_prob(["blind"], suite=suite, workspace=played, seed=0)
    with pytest.raises(ArgumentError, match="'random' with seed 1, found none"):
        log_prob(["random"], suite=suite, workspace=played, seed=1)
    every = store.load(played, [one.hash for one in suite.scenarios])
    for one in every:
        object.__setattr__(one, "log_probs", np.full_like(one.log_probs, np.nan))
    monkeypatch.setattr(store, "stream", lambda workspace, hashes: iter([every]))
    with pytest.raises(ArgumentError, match="'random' returns actions without probabilities"):
        log_prob(["random"], suite=suite, workspace=played, seed=0)


def test_the_continuations_of_edited_code_are_not_the_agents(
    suite: Any, played: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "fingerprint", lambda agent: "0" * 16)
    with pytest.raises(ArgumentError, match="found none"):
        log_prob(["random"], suite=suite, workspace=played, seed=0)


def test_the_intelligence_test_is_a_metric(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intelligence, "EPISODES", 4)
    agents = ("random", "q-learning")
    scores = measure("lambda-star", agents, suite=None, workspace=workspace, seed=3)
    same = score_agents(agents, Settings(), episodes=4, seed=3)
    assert scores["value"].tolist() == [mean.mean for mean in same.agents]
    assert scores["sees"].tolist() == ["observation", "rehearsal"]
    assert set(scores["metric"]) == {"lambda-star"} and set(scores["n"]) == {4}


def test_missing_value_of_a_metric_is_taken_from_the_agent(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"agent": "oracle", "value": 1.0, "metric": "mine at 3", "sees": "observation"}
    rows = ({"agent": "oracle", "value": np.float32(0.5)}, own)
    instead(monkeypatch, "sts.metrics", returning(*rows))
    scores = measure("mine", ["oracle"], suite=None, workspace=workspace, seed=0)
    assert scores["metric"].tolist() == ["mine", "mine at 3"]
    assert scores["sees"].tolist() == ["world", "observation"]
    assert set(scores["fingerprint"]) == {registry.fingerprint(registry.load("oracle"))}


BAD = [
    (returning(), DamagedData, "metric 'mine': expected at least one row"),
    (returning({"agent": "random"}), DamagedData, "metric 'mine': missing column 'value'"),
    (
        returning({"agent": "random", "value": float("inf")}),
        DamagedData,
        "metric 'mine', row 1: value: expected a finite number",
    ),
    (
        returning({"agent": "random", "value": 1}, {"agent": "random", "value": 2}),
        DamagedData,
        "metric 'mine', row 2: metric: expected one value per agent and metric",
    ),
    (lambda agents: 1 / 0, StsError, "metric 'mine' failed: TypeError: "),
    (returning(3), StsError, "metric 'mine' failed: TypeError: "),  # type: ignore[arg-type]
    (3, ArgumentError, "metric 'mine': expected a function, found int"),
]


@pytest.mark.parametrize(("metric", "error", "line"), BAD)
def test_failing_metric_gives_one_line(
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    metric: Any,
    error: type[StsError],
    line: str,
) -> None:
    instead(monkeypatch, "sts.metrics", metric)
    with pytest.raises(error) as failure:
        measure("mine", ["random"], suite=None, workspace=workspace, seed=0)
    assert str(failure.value).startswith(line) and "\n" not in str(failure.value)


def test_measuring_again_takes_the_place_of_the_same_scores(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent, value in (("random", 1), ("oracle", 2), ("random", 3)):
        instead(monkeypatch, "sts.metrics", returning({"agent": agent, "value": value}))
        scores = measure("mine", [agent], suite=None, workspace=workspace, seed=0)
        path = keep("mine", scores, workspace)
        monkeypatch.undo()
    assert path == workspace.path("scores", "mine.parquet")
    kept = workspace_scores(workspace)
    assert dict(zip(kept["agent"], kept["value"], strict=True)) == {"random": 3, "oracle": 2}


@pytest.mark.parametrize("column", ["parameters", "fingerprint"])
def test_second_suite_seed_or_version_of_an_agent_overwrites_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    for value in (1, 2, 3):
        row = {"agent": "random", "value": value, column: ["{}", '{"seed":1}'][value % 2]}
        instead(monkeypatch, "sts.metrics", returning(row))
        keep(
            "mine", measure("mine", ["random"], suite=None, workspace=workspace, seed=0), workspace
        )
        monkeypatch.undo()
    assert sorted(workspace_scores(workspace)["value"]) == [2, 3]


def test_the_command_measures_keeps_and_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "def luck(agents, *, suite, workspace, seed):\n"
    text += "    return [{'agent': a, 'value': seed + len(a)} for a in agents]\n"
    (tmp_path / "my_luck.py").write_text(text)
    words = ["measure", "my_luck:luck", "--agent", "random", "--agent", "oracle", "--seed", "2"]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(row["agent"], row["value"]) for row in said["scores"]] == [
        ("random", 8),
        ("oracle", 8),
    ]
    assert Path(said["path"]).name == "luck.parquet"
    assert main(words) == 0
    assert "standard_error" in capsys.readouterr().out
    assert main(["measure", "away", "--agent", "random"]) == 2
    assert main(["measure", "my_luck:luck", "--agent", "random", "--seed", "-1"]) == 2
    assert main(["measure", "my_luck:luck", "--agent", "random", "--suite", "away@1"]) == 2
