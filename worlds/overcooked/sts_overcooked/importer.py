"""Importer `overcooked-2019`: the installed trials of two people as trajectories.

Each trial becomes one trajectory in an environment instance of its own. Its split in the source is
kept, and workers' numbers are hashed. Rewards are the game's: 20 to the cook who delivers a soup;
the recording has 5 and does not say for whom.
"""

import hashlib
from pathlib import Path

import numpy as np

from sts.plugin import (
    Episode,
    Player,
    ReplayMismatch,
    Trajectory,
    add_envelope,
    collect_provenance,
    make_trajectory,
)
from sts_overcooked import trials as source
from sts_overcooked.constants import HATS
from sts_overcooked.environment import Overcooked, digest_state
from sts_overcooked.trials import RECORDED_DELIVERY_REWARD, SOURCE_NAME, RecordedEpisode


def read(path: Path | None = None) -> list[Trajectory]:
    """Return a trajectory for each trial in a file, or of all installed ones, as recorded.

    Raises:
      ReplayMismatch: the game does not replay a trial; names the trial and the step.
      DamagedData: the file does not contain trials.
      ArgumentError: the file's name does not contain its split.
    """
    paths = source.installed_files() if path is None else (path,)
    return [item for file in paths for item in _read_file(file)]


def list_caveats(path: Path) -> list[str]:
    """Return the caveats that a report must state about trials from this file."""
    split = source.parse_split(path)
    both = tuple(path.with_name(path.name.replace(split, name)) for name in source.SPLITS)
    if not all(file.is_file() for file in both):
        return []
    workers, shared = source.count_workers(both)
    return [
        f"the sides of {SOURCE_NAME} share no trial, but {shared} of the {workers} workers who led "
        "the trials are on both: an agent trained on one side has seen the same people"
    ]


def _read_file(path: Path) -> list[Trajectory]:
    trials = source.read_trials(path)
    origin = collect_provenance() | {
        "file": path.name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "rules": "2019",
        "recorded_reward": RECORDED_DELIVERY_REWARD,
        "notes": list_caveats(path),
    }
    return [_make_trajectory(trial, origin) for trial in trials]


def _make_trajectory(trial: RecordedEpisode, origin: dict[str, object]) -> Trajectory:
    place = f"{SOURCE_NAME} {trial.name} ({trial.layout})"
    replayed = source.replay_trial(trial)
    if replayed.first_difference is not None:
        raise ReplayMismatch(
            f"{place}: {replayed.first_difference.description}; nothing was imported",
            step=replayed.first_difference.step,
        )
    if len(trial.workers) == 1:  # the other person is not recorded
        names = [f"pair-{trial.workers[0]}-{hat}" for hat in HATS]
        worker: dict[str, object] = {"worker": trial.workers[0]}
    else:
        names = [f"worker-{hashed}" for hashed in trial.workers]
        worker = {"workers": list(trial.workers)}
    digests = b"".join(digest_state(facts) for facts in trial.states)
    return make_trajectory(
        Episode(
            Overcooked.name,
            add_envelope(Overcooked.name, Overcooked.version, source.start_trial(trial).state()),
            trial.actions,
            np.zeros_like(trial.actions),
            replayed.rewards,
            np.frombuffer(digests, "<u2").reshape(trial.steps + 1, -1).astype(np.uint16),
        ),
        tuple(map(Player, trial.kinds, names)),
        source=place,
        provenance=origin | {"layout": trial.layout, **worker, "split": trial.split},
    )
