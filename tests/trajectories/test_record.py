"""Recording: by seed, replayable, and split by world."""

import re
from typing import Any

import pytest

from sts import agents
from sts.agents.info import load_info
from sts.cli.main import main
from sts.engine.replay import verify
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.trajectories import record
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import get_split
from tests.examples import recorded
from tests.recording import record as record_here


def test_recordings_depend_on_the_seed_and_not_on_their_number():
    first, again, other = (
        recorded(count=count, seed=seed) for count, seed in ((5, 3), (9, 3), (5, 4))
    )
    assert [t.id for t in first] == [t.id for t in again[:5]]
    assert not {t.id for t in first} & {t.id for t in other}
    assert verify([t.episode for t in first]) == [None] * 5


def test_one_environment_in_five_is_in_the_test_split():
    first, other = recorded(count=400, steps=4), recorded("random", count=400, steps=4)
    assert [t.world for t in first] == [t.world for t in other]
    share = sum(t.split == "test" for t in first) / 400
    assert 0.12 < share < 0.28
    assert all(get_split(t.world) == t.split for t in first)


@pytest.mark.parametrize(
    "settings",
    [{"count": 0}, {"steps": 0}, {"height": 2}, {"width": 256}, {"team": 0}, {"team": 43}],
)
def test_invalid_recording_settings_are_rejected(settings):
    with pytest.raises(ArgumentError, match="expected"):
        recorded(**settings)


@pytest.mark.parametrize("workers", [1, 2])
def test_recordings_do_not_depend_on_batches_and_processes(workers, monkeypatch):
    monkeypatch.setattr(record, "EPISODES_PER_TASK", 4)
    names = ("random", "rule")
    asked: dict[str, Any] = {"domain": "lambda-star", "count": 10, "steps": 12, "seed": 5}
    asked["settings"] = {"height": 6, "width": 6, "n_players": 2, "horizon": 12}
    known = {name: load_info(name) for name in names}
    recording = record.record_all(known, workers=workers, **asked)
    batches = {
        (batch.agent, batch.first): batch.trajectories
        for batch in recording
        if isinstance(batch, record.Batch)
    }
    assert sorted(batches) == [(name, first) for name in names for first in (0, 4, 8)]
    found = [one for place in sorted(batches) for one in batches[place]]
    together = [one for name in names for one in record_here(agents.load(name), **asked)]
    assert [t.id for t in found] == [t.id for t in together]
    assert [t.provenance for t in found] == [t.provenance for t in together]


@pytest.mark.parametrize(
    ("workers", "deadly"),
    [("2", "false"), ("2", "true"), pytest.param("1", "true", marks=pytest.mark.landing)],
)
def test_failing_episode_is_named_and_costs_no_other(tmp_path, workers, deadly, capfd):
    words = ["record", "--agent", "tests.domains.keepers:Keeper", "--workspace", str(tmp_path)]
    thorny = ["--domain", "tests.continuations.garden:Thorny", "--seed", "5", "--episodes", "6"]
    more = ["--steps", "5", "--workers", workers, "--env-option", f"deadly={deadly}"]
    assert main([*words, *thorny, *more]) == 1
    kept, error = capfd.readouterr().err.splitlines()
    found = store.load(Workspace.open(str(tmp_path)))
    good = sorted(one.provenance["index"] for one in found)
    assert len(good) == 4 and kept.startswith("sts: 4 of 6 episodes are saved in ")
    first = min(set(range(6)) - set(good))
    why = "its process ended with exit code 9" if deadly == "true" else "RuntimeError: the thorns"
    assert error.startswith(f"sts: tests.domains.keepers:Keeper, episode {first}: ")
    assert why in error and error.endswith("(1 more failed)")
    bottomless = ["--domain", "tests.continuations.garden:Bottomless", "--episodes", "1"]
    assert main([*words, *bottomless]) == 1
    out, error = capfd.readouterr()
    assert out == "" and error.startswith("sts: ") and error.count("\n") == 1
    assert "its process ended with exit code" in error


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.landing)])
def test_agent_of_another_domain_costs_no_other_its_episodes(tmp_path, capsys, workers):
    words = ["record", "--domain", "lambda-star", "--episodes", "4", "--steps", "5"]
    words += ["--agent", "random", "--agent", "tests.domains.keepers:LanternKeeper"]
    assert main([*words, "--workers", workers, "--workspace", str(tmp_path)]) == 2
    *kept, error = capsys.readouterr().err.splitlines()
    assert error.startswith("sts: agent 'lantern-keeper' plays only in ")
    assert workers == "2" or kept[0].startswith("sts: 4 of 8 episodes are saved in ")


def test_environment_that_does_not_replay_is_not_recorded(tmp_path, capsys):
    world = "tests.domains.worlds:GlobalNumpyWind"
    for workers, agents_ in (("1", ["Keeper"]), ("2", ["Keeper", "Resting"])):
        words = ["record", "--domain", world, "--episodes", "3", "--steps", "20"]
        words += [w for name in agents_ for w in ("--agent", f"tests.domains.keepers:{name}")]
        assert main([*words, "--workers", workers, "--workspace", str(tmp_path)]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"sts: domain '{world}' does not replay its own recording: ")
        assert re.search(rf"step \d+: .*; run sts domain check {world}\n$", error)
        assert error.count("\n") == 1
    assert not list(tmp_path.rglob("*.parquet"))
