"""Datasets that others recorded of Gymnasium environments, replayed by seed and actions."""

import json
from pathlib import Path

import gymnasium
import h5py
import minari
import numpy as np
import pandas as pd
import pytest

from sts.agents import load
from sts.cli.main import main
from sts.domains import load_domain
from sts.engine.replay import verify
from sts.errors import ArgumentError, DamagedData, ReplayMismatch
from sts.formats import rlds
from sts.formats.minari import exporter, importer
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from tests.access.attempts import attempt
from tests.formats.minari.conftest import DATA
from tests.recording import record

POLES = "tests.formats.minari.poles"
CART, CRANE = "CartPole-v1", "tests.domains.spaces:sts-tests/Crane-v0"


def test_minari_episodes_are_imported_and_replayed(collect):
    folder = collect()
    found = importer.read(folder)
    assert len(found) == 3
    with h5py.File(folder / DATA) as file:
        for i, one in enumerate(found):
            recorded = file[f"episode_{i}"]
            assert one.episode.actions[:, 0].tolist() == recorded["actions"][:].tolist()
            assert one.episode.rewards[:, 0].tolist() == recorded["rewards"][:].tolist()
            assert one.episode.domain == "gymnasium:CartPole-v1"
            assert one.source == f"minari others-v0 episode {i}"
            assert one.provenance["seed"] == i
    assert verify([t.episode for t in found]) == [None] * 3


def test_commands_import_and_export_minari_datasets(collect, tmp_path, capsys):
    folder = collect()
    flags = ["--format", "minari", "--workspace", str(tmp_path / "w")]
    assert main(["trajectories", "import", str(folder), *flags]) == 0
    assert "3 trajectories, every step replayed exactly" in capsys.readouterr().out
    kept = store.load(Workspace.open(str(tmp_path / "w")))
    assert main(["trajectories", "export", str(tmp_path / "ours-v0"), *flags]) == 0
    again = importer.read(tmp_path / "ours-v0")
    assert [t.id for t in again] == [t.id for t in kept]
    with h5py.File(folder / DATA) as a, h5py.File(tmp_path / "ours-v0" / DATA) as b:
        for i in range(3):
            seen = b[f"episode_{i}/observations/observation"][:]
            np.testing.assert_array_equal(a[f"episode_{i}/observations"][:], seen)
    take = ["trajectories", "import", str(folder), *flags, "--domain", "gymnasium:MountainCar-v0"]
    assert main(take) == 1
    assert "MountainCar-v0 observes Box[2] of float32, the recording " in capsys.readouterr().err
    ids = ("CartPole-v1", "Pendulum-v1", "MountainCar-v0")
    folders = [
        str(collect(id, name=f"{id[:4].lower()}-v0", episodes=1, seeded=id != ids[1])) for id in ids
    ]
    flags[-1] = str(tmp_path / "several")
    assert main(["trajectories", "import", *folders, *flags]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"sts: {folders[1]}: episode 0 was recorded without a seed")
    assert error.count("\n") == 1
    found = store.load(Workspace.open(str(tmp_path / "several")))
    assert {t.episode.domain for t in found} == {f"gymnasium:{ids[i]}" for i in (0, 2)}


def test_time_limit_truncates_and_does_not_terminate_an_episode(collect, tmp_path):
    short = importer.read(collect(max_episode_steps=5, name="short-v0"))
    assert [t.episode.steps for t in short] == [5, 5, 5]
    exporter.write(tmp_path / "ours-v0", short)
    rlds.write(tmp_path / "ours.parquet", short)
    for episode in minari.MinariDataset(tmp_path / "ours-v0" / "data"):
        assert episode.truncations.tolist() == [False, False, False, False, True]
        assert not episode.terminations.any()
    table = pd.read_parquet(tmp_path / "ours.parquet")
    assert not table.is_terminal.any() and (table.discount.dropna() == 1).all()
    assert table.is_last.sum() == len(short)


def test_custom_environment_class_may_replay_a_dataset(collect):
    name = f"{POLES}:Pole"
    found = importer.read(collect(), domain=name)
    assert {t.episode.domain for t in found} == {name}
    assert load_domain(name).action_names == ("left", "right")
    assert found[0].episode.rewards[0, 0] == 2
    assert len(importer.read(collect(format="arrow", name="arrow-v0"))) == 3
    halves = collect(f"{POLES}:Halves-v0", name="halves-v0")
    wrong = r"episode 0: .*: a reward of 0.5 is not a whole number .* --domain module:Class"
    with pytest.raises(ArgumentError, match=wrong):
        importer.read(halves)
    (one, *_) = importer.read(halves, domain=f"{POLES}:Half")
    assert one.episode.rewards[0, 0] == 1


def open_dataset(folder: Path) -> minari.MinariDataset:
    """Return an exported dataset, all observations of which are in its spaces."""
    dataset = minari.MinariDataset(folder / "data")
    for episode in dataset:
        for t in range(len(episode) + 1):
            seen = {name: np.asarray(array[t]) for name, array in episode.observations.items()}
            assert dataset.observation_space.contains(seen)
    return dataset


@pytest.mark.parametrize("id", ["CartPole-v1", "FrozenLake-v1", "Pendulum-v1", CRANE])
def test_export_keeps_spaces_and_recovers_the_environment(collect, tmp_path, id):
    settings = {"is_slippery": False} if id == "FrozenLake-v1" else {"max_episode_steps": 7}
    found = importer.read(collect(id, **settings))
    assert found[0].episode.domain == f"gymnasium:{id.rpartition(':')[2]}"
    exporter.write(tmp_path / "ours-v0", found)
    dataset = open_dataset(tmp_path / "ours-v0")
    with dataset.recover_environment() as env:
        assert dataset.observation_space["observation"] == env.observation_space
        assert dataset.action_space == env.action_space
        assert env.render_mode is None
        seen, _ = env.reset(seed=0)
        first = next(iter(dataset))
        for t, action in enumerate(first.actions):
            assert np.array_equal(seen, first.observations["observation"][t])
            seen, reward, *_ = env.step(action)
            assert reward == first.rewards[t]
        assert np.array_equal(seen, first.observations["observation"][-1])
    assert [t.id for t in importer.read(tmp_path / "ours-v0")] == [t.id for t in found]


def test_export_of_changed_observations_has_fitting_spaces(collect, tmp_path):
    exporter.write(tmp_path / "cards-v0", importer.read(collect("Blackjack-v1")))
    space = open_dataset(tmp_path / "cards-v0").observation_space
    assert [space[name].n for name in "012"] == [32, 11, 2]
    maps = [collect("FrozenLake-v1", name=f"{m}-v0", map_name=m) for m in ("4x4", "8x8")]
    exporter.write(tmp_path / "maps-v0", [t for one in maps for t in importer.read(one)])
    dataset = open_dataset(tmp_path / "maps-v0")
    assert dataset.env_spec is None
    assert dataset.observation_space["observation"].dtype == np.int64
    pusher, signs = load(f"{POLES}:Pusher"), f"{POLES}:Signs"
    pushes = record(pusher, domain=signs, count=1, steps=3, seed=1, settings={})
    exporter.write(tmp_path / "signs-v0", pushes)
    dataset = open_dataset(tmp_path / "signs-v0")
    assert dataset.env_spec is None
    assert np.isinf(dataset.observation_space["observation"].high).all()


ACTIONS = r"episode 1: expected actions (float32|int64)\[.\], found"


@pytest.mark.parametrize(
    ("id", "array", "index", "value", "error", "message"),
    [
        (
            CART,
            "1/observations",
            (5, 2),
            0.25,
            ReplayMismatch,
            "episode 1 .* step 4: observation d",
        ),
        (CART, "0/rewards", 3, 2.0, ReplayMismatch, "step 3: the reward is 1, recorded 2"),
        (
            CART,
            "0/observations",
            0,
            0.0,
            ReplayMismatch,
            "episode 0 .*: before step 0: observation",
        ),
        (CART, "2/terminations", 2, True, ReplayMismatch, "step 2: the episode has not ended"),
        (CART, "2/truncations", 2, True, ReplayMismatch, "step 2: the recording continues after"),
        (CART, "0", "seed", 99, ReplayMismatch, "before step 0: observation differs from the rec"),
        (CART, "1", "options/low", 0.1, DamagedData, "episode 1 was reset with options"),
        ("Pendulum-v1", "2/rewards", 3, -1.5, ReplayMismatch, "step 3: .* is .* recorded -1.5"),
        ("Pendulum-v1", "1/actions", (3, 0), 2.5, DamagedData, ACTIONS),
        ("Pendulum-v1", "1/actions", (3, 0), np.nan, DamagedData, ACTIONS),
        (CRANE, "1/actions", (3, 0), 2, DamagedData, ACTIONS),
    ],
)
def test_replay_mismatch_of_a_dataset_names_the_step(
    collect, id, array, index, value, error, message
):
    folder = collect(id)
    with h5py.File(folder / DATA, "a") as file:
        changed = file[f"episode_{array}"]
        (changed.attrs if isinstance(index, str) else changed)[index] = value
    with pytest.raises(error, match=message):
        importer.read(folder)


@pytest.mark.parametrize(
    ("dataset", "domain", "error", "message"),
    [
        ({"seeded": False}, None, DamagedData, "episode 0 was recorded without a seed, so it cann"),
        *(
            ({}, name, ArgumentError, f"--domain {name}: expected a GymnasiumEnvironment$")
            for name in ("lambda-star", "babyai", "tests.trajectories.bell:Bell")
        ),
        (
            {"id": "Pendulum-v1"},
            f"gymnasium:{CART}",
            *(DamagedData, r"expected actions of gymnasium:.*, int8 0 to 1"),
        ),
    ],
)
def test_dataset_that_cannot_be_replayed_is_rejected(collect, dataset, domain, error, message):
    with pytest.raises(error, match=message):
        importer.read(collect(**dataset), domain=domain)


def test_wrapper_that_changes_values_is_named(collect):
    clipped = collect(wrapped=lambda env: gymnasium.wrappers.ClipReward(env, 0.0, 0.5))
    with pytest.raises(ReplayMismatch, match=r"recorded 0.5 \(recorded through ClipReward, which"):
        importer.read(clipped)
    with pytest.raises(ReplayMismatch, match=r"observes Box\[4\] .* recording Box\[2, 4\] of"):
        importer.read(
            collect(wrapped=lambda e: gymnasium.wrappers.FrameStackObservation(e, 2), name="two-v0")
        )
    harmless = collect(wrapped=gymnasium.wrappers.FlattenObservation, name="flat-v0")
    assert len(importer.read(harmless)) == 3


@pytest.mark.parametrize(
    ("place", "value", "error", "message"),
    [
        ("env_spec", None, DamagedData, "has no environment spec, so it cannot be replayed"),
        *(("env_spec", spec, DamagedData, "") for spec in ("null", "[]", "{}", "", 1)),
        *(("env_spec.kwargs", kwargs, DamagedData, "") for kwargs in (None, 1, [1], "x")),
        *(("action_space.n", n, DamagedData, "") for n in (10**30, -1, "two", None)),
        ("observation_space", "{}", DamagedData, ""),
        ("observation_space", "null", DamagedData, ""),
        ("observation_space", '{"type": "Boxes"}', DamagedData, ""),
        ("env_spec.id", "Unheard-v1", ArgumentError, "Unheard"),
        *(
            ("total_episodes", n, DamagedData, f"expected at most 3 .*, as stored, found {n!r}")
            for n in (4, 10**12, -1, 2.0, None, "3")
        ),
    ],
)
def test_invalid_metadata_raises_one_line_error(collect, place, value, error, message):
    folder = collect()
    file = folder / "data" / "metadata.json"
    metadata = json.loads(file.read_text())
    name, _, part = place.partition(".")
    metadata[name] = json.dumps({**json.loads(metadata[name]), part: value}) if part else value
    if (name, value) == ("env_spec", None):
        del metadata[name]
    file.write_text(json.dumps(metadata))
    with pytest.raises(error, match=message or None) as refused:
        importer.read(folder)
    assert "\n" not in str(refused.value)


@attempt(
    "Files from elsewhere", "an HDF5 file that says it holds terabytes", "refused before it is read"
)
def test_array_that_declares_terabytes_is_never_read(collect):
    folder = collect()
    with h5py.File(folder / DATA, "a") as file:
        file["episode_1/rewards"].resize((10**12,))
    with pytest.raises(DamagedData, match="episode_1/rewards declares more bytes than are stored"):
        importer.read(folder)


def test_compressed_arrays_are_read(collect):
    folder = collect()
    with h5py.File(folder / DATA, "a") as file:
        for name in ("episode_0/observations", "episode_0/terminations"):
            kept = file[name][()]
            del file[name]
            file.create_dataset(name, data=kept, compression="gzip", shuffle=True)
    assert len(importer.read(folder)) == 3
