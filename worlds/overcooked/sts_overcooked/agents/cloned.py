"""Cook trained by behaviour cloning on the training split of the recordings.

`sts overcooked train` trains it once, from the recordings that the user has installed. Its weights
are stored in the user's cache and never shipped.
"""

import functools
import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.plugin import (
    Agent,
    ArgumentError,
    DamagedData,
    Draws,
    Instructions,
    Memory,
    Observation,
    PolicyOutput,
    write_atomically,
)
from sts_overcooked.agents import network
from sts_overcooked.agents.features import SIZE, extract_features
from sts_overcooked.agents.network import Network
from sts_overcooked.constants import MOVES

VERSION = 1
HIDDEN, BATCH, RATE = 64, 256, 1e-3
EPOCHS = 5
DECIMALS = 4
"""Rounding hides the last bits, which depend on the number of episodes in a batch."""


class TrainedNetwork(NamedTuple):
    """Trained network with its origin."""

    network: Network  # the weights
    trained_on: str  # description of the recordings
    digest: str  # digest of the file of weights, 16 hex digits


class Cloned(Agent):
    """Cook that takes each action as often as people did in similar states."""

    name = "overcooked-cloned"
    version = "1"
    domain = "overcooked"

    def __init__(self) -> None:
        """Read the weights; an ArgumentError explains how to train them if they are missing."""
        trained = load_weights(weights_path())
        self._network = trained.network
        self.weights_digest, self.trained_on = trained.digest, trained.trained_on

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the probability of each action."""
        batch, players = observation.last_move.shape
        flat = {
            name: values.reshape(batch * players, *values.shape[2:])
            for name, values in observation.values.items()
        }
        shares = self._network(extract_features(flat).astype(np.float64)).round(DECIMALS)
        return PolicyOutput(shares.reshape(batch, players, len(MOVES))), memory


def weights_path() -> Path:
    """Return where the weights are stored, in the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "standardised-test-suite" / f"overcooked-cloned-{VERSION}.npz"


def train(
    *, seed: int = 0, epochs: int = EPOCHS, show: Callable[[int, int], None] | None = None
) -> tuple[Path, float]:
    """Train on the installed training split and save the weights; return their path and the loss.

    The seed determines the initial weights and the order of the examples, each of which is seen
    `epochs` times. `show` is called with the number of epochs done and in all.
    """
    if epochs < 1:
        raise ArgumentError(f"expected at least 1 epoch, found {epochs}")
    values, targets, description = _load_examples()
    rng = np.random.default_rng(seed)
    trained, loss = network.init_network(SIZE, HIDDEN, len(MOVES), rng), np.nan

    def inputs(indices: NDArray[np.int64]) -> NDArray[np.float32]:
        return extract_features({name: column[indices] for name, column in values.items()})

    epochs_of = network.train_epochs(
        trained, inputs, targets, epochs=epochs, batch=BATCH, rate=RATE, rng=rng
    )
    for done, (loss, trained) in enumerate(epochs_of, 1):  # noqa: B007
        if show is not None:
            show(done, epochs)
    sink = io.BytesIO()
    np.savez(sink, *trained, trained_on=f"{description} ({epochs} epochs, seed {seed})")
    write_atomically(weights_path(), sink.getvalue())
    return weights_path(), loss


def load_weights(file: Path) -> TrainedNetwork:
    """Return the weights in a file.

    Raises:
      ArgumentError: the file does not exist.
      DamagedData: the file does not hold weights of this network.
    """
    if not file.is_file():
        raise ArgumentError(
            "agent 'overcooked-cloned' is not trained yet; run sts overcooked train"
        )
    raw = file.read_bytes()
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
            weights = Network(*(arrays[f"arr_{i}"] for i in range(len(Network._fields))))
            description = str(arrays["trained_on"])
    except Exception as error:  # a file can be damaged in any way
        raise DamagedData(f"{file}: invalid weights: {error}; run sts overcooked train") from None
    shapes = ((SIZE, HIDDEN), (HIDDEN,), (HIDDEN, len(MOVES)), (len(MOVES),))
    if tuple(w.shape for w in weights) != shapes:
        raise DamagedData(f"{file}: weights of another network size; run sts overcooked train")
    return TrainedNetwork(weights, description, hashlib.sha256(raw).hexdigest()[:16])


@functools.cache
def _load_examples() -> tuple[Memory, NDArray[np.int64], str]:
    """Return the observations of the training split, the actions taken, and a description."""
    from sts_overcooked import trials

    file = trials.installed_files()[0]
    observations: list[Any] = []
    targets: list[int] = []
    recorded = trials.read_trials(file)
    for trial in recorded:
        world = trials.start_trial(trial)
        for actions in trial.actions.tolist():
            observations += [world.observe(player) for player in range(len(actions))]
            targets += actions
            world.step(actions)
    values = {
        name: np.stack([observation[name] for observation in observations])
        for name in observations[0]
    }
    workers, shared = trials.count_workers(trials.installed_files())
    description = (
        f"the train side of {trials.SOURCE_NAME}: {len(recorded)} trials, {len(targets)} moves; "
        f"{shared} of the {workers} workers who led trials are on the test side too"
    )
    return values, np.array(targets), description
