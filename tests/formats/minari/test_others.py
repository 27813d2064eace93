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
from sts.domains import domain
from sts.engine.replay import verify
from sts.errors import ArgumentError, DamagedData, ReplayMismatch
from sts.formats import rlds
from sts.formats.minari import exporter, importer
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.record import record
from tests.access.attempts import attempt
from tests.formats.minari.conftest import Collect


def changed(folder: Path, name: str, index: object, value: object) -> None:
    with h5py.File(folder / "data" / "main_data.hdf5", "a") as file:
        file[name][index] = value


def test_every_episode_is_replayed(collect: Collect) -> None:
    folder = collect()
    found = importer.read(folder)
    assert len(found) == 3
    with h5py.File(folder / "data" / "main_data.hdf5") as file:
        for i, one in enumerate(found):
            recorded = file[f"episode_{i}"]
            assert one.episode.moves[:, 0].tolist() == recorded["actions"][:].tolist()
            assert one.episode.rewards[:, 0].tolist() == recorded["rewards"][:].tolist()
            assert one.episode.domain == "gymnasium:CartPole-v1"
            assert one.source == f"minari others-v0 episode {i}"
            assert one.provenance["seed"] == i
    world = domain("gymnasium:CartPole-v1")
    assert verify(world, [t.episode for t in found]) == [None] * 3


def test_commands_import_it_and_export_it_again(
    collect: Collect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = collect()
    flags = ["--format", "minari", "--workspace", str(tmp_path / "w")]
    assert main(["trajectories", "import", str(folder), *flags]) == 0
    assert "3 trajectories, every step replayed exactly" in capsys.readouterr().out
    kept = store.load(Workspace.open(str(tmp_path / "w")))
    assert main(["trajectories", "export", str(tmp_path / "ours-v0"), *flags]) == 0
    again = importer.read(tmp_path / "ours-v0")
    assert [t.id for t in again] == [t.id for t in kept]
    with h5py.File(folder / "data" / "main_data.hdf5") as a:
        with h5py.File(tmp_path / "ours-v0" / "data" / "main_data.hdf5") as b:
            for i in range(3):
                seen = a[f"episode_{i}"]["observations"][:]
                shown = b[f"episode_{i}"]["observations"]["observation"][:]
                np.testing.assert_array_equal(seen, shown)


def test_settings_of_the_environment_are_kept(collect: Collect) -> None:
    short = importer.read(collect(max_episode_steps=5, name="short-v0"))
    assert [t.episode.steps for t in short] == [5, 5, 5]
    dry = importer.read(collect("FrozenLake-v1", is_slippery=False, name="dry-v0"))
    assert {t.episode.domain for t in dry} == {"gymnasium:FrozenLake-v1"}


def test_an_episode_whose_time_ran_out_is_truncated_and_not_terminated(
    collect: Collect, tmp_path: Path
) -> None:
    short = importer.read(collect(max_episode_steps=5, name="short-v0"))
    exporter.write(tmp_path / "ours-v0", short)
    rlds.write(tmp_path / "ours.parquet", short)
    for episode in minari.MinariDataset(tmp_path / "ours-v0" / "data"):
        assert episode.truncations.tolist() == [False, False, False, False, True]
        assert not episode.terminations.any()
    table = pd.read_parquet(tmp_path / "ours.parquet")
    assert not table.is_terminal.any() and (table.discount.dropna() == 1).all()
    assert table.is_last.sum() == len(short)


def test_tuples_and_minaris_other_formats_are_read(collect: Collect) -> None:
    assert len(importer.read(collect("Blackjack-v1", name="cards-v0"))) == 3
    assert len(importer.read(collect(format="arrow", name="arrow-v0"))) == 3


def test_an_environment_of_ones_own_class_may_replay_it(collect: Collect) -> None:
    name = "tests.formats.minari.poles:Pole"
    found = importer.read(collect(), domain=name)
    assert {t.episode.domain for t in found} == {name}
    assert domain(name).moves == ("left", "right")
    assert found[0].episode.rewards[0, 0] == 2


def test_a_domain_of_a_family_may_replay_it(
    collect: Collect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--format", "minari", "--workspace", str(tmp_path / "w")]
    take = ["trajectories", "import", str(collect()), *flags, "--domain"]
    assert main([*take, "gymnasium:CartPole-v1"]) == 0
    (name,) = {t.episode.domain for t in store.load(Workspace.open(str(tmp_path / "w")))}
    assert name == "gymnasium:CartPole-v1"
    assert main([*take, "gymnasium:MountainCar-v0"]) == 1
    assert "MountainCar-v0 observes Box[2] of float32, the recording " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lambda-star", "babyai", "tests.trajectories.bell:Bell"])
def test_a_domain_that_is_made_of_something_else_is_refused(collect: Collect, name: str) -> None:
    with pytest.raises(ArgumentError, match=f"--domain {name}: expected a GymnasiumEnvironment$"):
        importer.read(collect(), domain=name)


def test_one_dataset_that_cannot_be_replayed_does_not_keep_the_others_out(
    collect: Collect, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = ("CartPole-v1", "Pendulum-v1", "MountainCar-v0")
    folders = [
        str(collect(id, name=f"{id[:4].lower()}-v0", episodes=1, seeded=id != ids[1])) for id in ids
    ]
    flags = ["--format", "minari", "--workspace", str(tmp_path / "w")]
    assert main(["trajectories", "import", *folders, *flags]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"sts: {folders[1]}: episode 0 was recorded without a seed")
    assert error.count("\n") == 1
    found = store.load(Workspace.open(str(tmp_path / "w")))
    assert {t.episode.domain for t in found} == {f"gymnasium:{ids[i]}" for i in (0, 2)}


def shown(folder: Path) -> minari.MinariDataset:
    """Return a dataset of ours when all that it holds is in its spaces."""
    dataset = minari.MinariDataset(folder / "data")
    space = dataset.observation_space
    for episode in dataset:
        for t in range(len(episode) + 1):
            seen = {name: np.asarray(array[t]) for name, array in episode.observations.items()}
            assert space.contains(seen)
    return dataset


CRANE = "tests.domains.spaces:sts-tests/Crane-v0"


@pytest.mark.parametrize("id", ["CartPole-v1", "FrozenLake-v1", "Pendulum-v1", CRANE])
def test_an_export_has_the_environments_own_space_and_recovers_it(
    collect: Collect, tmp_path: Path, id: str
) -> None:
    settings = {"is_slippery": False} if id == "FrozenLake-v1" else {"max_episode_steps": 7}
    found = importer.read(collect(id, **settings))
    assert found[0].episode.domain == f"gymnasium:{id.rpartition(':')[2]}"
    exporter.write(tmp_path / "ours-v0", found)
    dataset = shown(tmp_path / "ours-v0")
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


def test_the_parts_of_an_observation_have_their_own_spaces(
    collect: Collect, tmp_path: Path
) -> None:
    exporter.write(tmp_path / "ours-v0", importer.read(collect("Blackjack-v1")))
    space = shown(tmp_path / "ours-v0").observation_space
    assert [space[name].n for name in "012"] == [32, 11, 2]


def test_environments_that_differ_are_not_told_of_as_one(collect: Collect, tmp_path: Path) -> None:
    maps = [collect("FrozenLake-v1", name=f"{m}-v0", map_name=m) for m in ("4x4", "8x8")]
    exporter.write(tmp_path / "ours-v0", [t for one in maps for t in importer.read(one)])
    dataset = shown(tmp_path / "ours-v0")
    assert dataset.env_spec is None
    assert dataset.observation_space["observation"].dtype == np.int64


def test_a_class_that_shows_something_else_has_no_space_of_gymnasiums(
    collect: Collect, tmp_path: Path
) -> None:
    trajectories = record(
        load("tests.formats.minari.poles:Pusher"),
        domain="tests.formats.minari.poles:Signs",
        count=1,
        steps=3,
        seed=1,
        settings={},
    )
    exporter.write(tmp_path / "ours-v0", trajectories)
    dataset = shown(tmp_path / "ours-v0")
    assert dataset.env_spec is None
    assert np.isinf(dataset.observation_space["observation"].high).all()


def test_a_step_that_does_not_replay_is_named(collect: Collect) -> None:
    folder = collect()
    changed(folder, "episode_1/observations", (5, 2), 0.25)
    with pytest.raises(
        ReplayMismatch, match="episode 1 does not replay identically: step 4: observation differs"
    ):
        importer.read(folder)
    changed(folder, "episode_0/rewards", 3, 2.0)
    with pytest.raises(ReplayMismatch, match="step 3: the reward is 1, recorded 2"):
        importer.read(folder)
    changed(folder, "episode_0/observations", 0, 0.0)
    with pytest.raises(ReplayMismatch, match="episode 0 .*: before step 0: observation differs"):
        importer.read(folder)


def test_an_end_that_does_not_replay_is_named(collect: Collect) -> None:
    folder = collect()
    changed(folder, "episode_2/terminations", 2, True)
    with pytest.raises(ReplayMismatch, match="episode 2 .* step 2: the episode has not ended"):
        importer.read(folder)
    changed(folder, "episode_2/terminations", 2, False)
    changed(folder, "episode_2/truncations", 2, True)
    with pytest.raises(
        ReplayMismatch, match="step 2: the recording continues after the episode has ended"
    ):
        importer.read(folder)


def test_another_seed_than_the_recordings_is_found_out(collect: Collect) -> None:
    folder = collect()
    with h5py.File(folder / "data" / "main_data.hdf5", "a") as file:
        file["episode_0"].attrs["seed"] = 99
    with pytest.raises(
        ReplayMismatch, match="before step 0: observation differs from the recording"
    ):
        importer.read(folder)


def test_wrappers_that_change_what_is_given_are_named(collect: Collect) -> None:
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
    ("made", "line"),
    [
        ({"seeded": False}, "episode 0 was recorded without a seed, so it cannot be replayed"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_one_line(
    collect: Collect, made: dict[str, object], line: str
) -> None:
    with pytest.raises(DamagedData, match=line):
        importer.read(collect(**made))


@pytest.mark.parametrize(
    ("id", "value"), [("Pendulum-v1", 2.5), ("Pendulum-v1", np.nan), (CRANE, 2)]
)
def test_an_action_outside_its_space_is_refused(collect: Collect, id: str, value: float) -> None:
    folder = collect(id)
    changed(folder, "episode_1/actions", (3, 0), value)
    with pytest.raises(
        DamagedData, match=r"episode 1: expected actions (float32|int64)\[.\], found"
    ):
        importer.read(folder)


def test_a_real_reward_that_does_not_replay_is_named(collect: Collect) -> None:
    folder = collect("Pendulum-v1")
    changed(folder, "episode_2/rewards", 3, -1.5)
    with pytest.raises(
        ReplayMismatch, match=r"episode 2 .* step 3: the reward is .* recorded -1.5"
    ):
        importer.read(folder)


def test_a_world_of_other_actions_than_the_datasets_is_refused(collect: Collect) -> None:
    with pytest.raises(DamagedData, match=r"expected actions of gymnasium:.*, int8 0 to 1"):
        importer.read(collect("Pendulum-v1"), domain="gymnasium:CartPole-v1")


def test_a_dataset_without_an_environment_is_refused(collect: Collect) -> None:
    folder = collect()
    file = folder / "data" / "metadata.json"
    file.write_text(file.read_text().replace('"env_spec"', '"no_spec"'))
    with pytest.raises(DamagedData, match="has no environment spec, so it cannot be replayed"):
        importer.read(folder)


def test_an_environment_that_is_not_installed_is_refused(collect: Collect) -> None:
    folder = collect()
    file = folder / "data" / "metadata.json"
    file.write_text(file.read_text().replace("CartPole-v1", "Unheard-v1"))
    with pytest.raises(ArgumentError, match="Unheard"):
        importer.read(folder)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(("env_spec", spec) for spec in ("null", "[]", "{}", "", 1)),
        *(("env_spec.kwargs", kwargs) for kwargs in (None, 1, [1], "x")),
        *(("action_space.n", n) for n in (10**30, -1, "two", None)),
        *(("observation_space", space) for space in ("{}", "null", '{"type": "Boxes"}')),
    ],
)
def test_metadata_that_make_no_sense_are_one_line(
    collect: Collect, place: str, value: object
) -> None:
    folder = collect(episodes=1)
    file = folder / "data" / "metadata.json"
    metadata = json.loads(file.read_text())
    name, _, part = place.partition(".")
    metadata[name] = json.dumps({**json.loads(metadata[name]), part: value}) if part else value
    file.write_text(json.dumps(metadata))
    with pytest.raises(DamagedData) as refused:
        importer.read(folder)
    assert "\n" not in str(refused.value)


def test_more_episodes_than_there_are_is_one_line(collect: Collect) -> None:
    folder = collect()
    file = folder / "data" / "metadata.json"
    for count in (4, 10**12, -1, 2.0, None, "3"):
        told = {**json.loads(file.read_text()), "total_episodes": count}
        file.write_text(json.dumps(told))
        with pytest.raises(
            DamagedData, match=f"expected at most 3 episodes, as stored, found {count!r}"
        ):
            importer.read(folder)


@attempt(
    "Files from elsewhere", "an HDF5 file that says it holds terabytes", "refused before it is read"
)
def test_an_array_that_is_said_to_be_of_terabytes_is_never_read(collect: Collect) -> None:
    folder = collect()
    with h5py.File(folder / "data" / "main_data.hdf5", "a") as file:
        file["episode_1/rewards"].resize((10**12,))
    with pytest.raises(DamagedData, match="episode_1/rewards declares more bytes than are stored"):
        importer.read(folder)


def test_arrays_that_somebody_compressed_are_read(collect: Collect) -> None:
    folder = collect()
    with h5py.File(folder / "data" / "main_data.hdf5", "a") as file:
        for name in ("episode_0/observations", "episode_0/terminations"):
            kept = file[name][()]
            del file[name]
            file.create_dataset(name, data=kept, compression="gzip", shuffle=True)
    assert len(importer.read(folder)) == 3


def test_rewards_between_two_units_are_refused_with_what_can_be_done(collect: Collect) -> None:
    halves = collect("tests.formats.minari.poles:Halves-v0", name="halves-v0")
    wrong = r"episode 0: .*: a reward of 0.5 is not a whole number .* --domain module:Class"
    with pytest.raises(ArgumentError, match=wrong):
        importer.read(halves)
    (one, *_) = importer.read(halves, domain="tests.formats.minari.poles:Half")
    assert one.episode.rewards[0, 0] == 1


def test_options_of_a_reset_are_refused(collect: Collect) -> None:
    folder = collect()
    with h5py.File(folder / "data" / "main_data.hdf5", "a") as file:
        file["episode_1"].attrs["options/low"] = 0.1
    with pytest.raises(DamagedData, match="episode 1 was reset with options"):
        importer.read(folder)
