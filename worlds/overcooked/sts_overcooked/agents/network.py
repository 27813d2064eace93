"""Neural network in NumPy with one hidden layer and a distribution over actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
"""float32 for training; a trained network also accepts float64 and computes in it."""
_BETAS, _TINY = (0.9, 0.999), 1e-8


class Network(NamedTuple):
    """Weights and biases of both layers."""

    input_weights: Floats
    hidden_bias: Floats
    output_weights: Floats
    output_bias: Floats

    def __call__(self, inputs: Floats) -> Floats:
        """Return the probability of each action, [N, actions]."""
        return self._softmax(self._hidden_units(inputs))

    def gradient(self, inputs: Floats, wanted: NDArray[np.int64]) -> tuple[float, Network]:
        """Return the mean cross-entropy of the actions `wanted`, and its gradient."""
        active = self._hidden_units(inputs)
        probabilities = self._softmax(active)
        rows = np.arange(len(wanted))
        loss = -float(np.log(np.maximum(probabilities[rows, wanted], _TINY)).mean())
        probabilities[rows, wanted] -= 1
        probabilities /= np.float32(len(wanted))
        back = (probabilities @ self.output_weights.T) * (active > 0)
        return loss, Network(
            inputs.T @ back, back.sum(0), active.T @ probabilities, probabilities.sum(0)
        )

    def _hidden_units(self, inputs: Floats) -> Floats:
        active: Floats = np.maximum(inputs @ self.input_weights + self.hidden_bias, np.float32(0))
        return active

    def _softmax(self, active: Floats) -> Floats:
        scores = active @ self.output_weights + self.output_bias
        scores = np.exp(scores - scores.max(1, keepdims=True))
        shares: Floats = scores / scores.sum(1, keepdims=True)
        return shares


def init_network(inputs: int, hidden: int, actions: int, rng: np.random.Generator) -> Network:
    """Return an untrained network."""
    return Network(
        rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden)).astype(np.float32),
        np.zeros(hidden, np.float32),
        rng.normal(0, np.sqrt(1 / hidden), (hidden, actions)).astype(np.float32),
        np.zeros(actions, np.float32),
    )


def train_epochs(
    network: Network,
    inputs: Callable[[NDArray[np.int64]], Floats],
    wanted: NDArray[np.int64],
    *,
    epochs: int,
    batch: int,
    rate: float,
    rng: np.random.Generator,
) -> Iterator[tuple[float, Network]]:
    """Yield the mean loss and the network after each epoch of Adam, with a linearly falling rate.

    `inputs` returns the examples with these indices, and `wanted`, int64[N], holds their actions.
    Every example is seen `epochs` times, in batches of `batch`, in an order drawn from `rng`.
    """
    mean = Network(*(np.zeros_like(w) for w in network))
    square = Network(*(np.zeros_like(w) for w in network))
    count, total = 0, epochs * -(-len(wanted) // batch)
    for _ in range(epochs):
        losses = []
        order = rng.permutation(len(wanted))
        for start in range(0, len(order), batch):
            indices = order[start : start + batch]
            loss, slope = network.gradient(inputs(indices), wanted[indices])
            losses.append(loss)
            count += 1
            now = rate * (1 - (count - 1) / total)
            mean = _blend(mean, slope, _BETAS[0])
            square = _blend(square, Network(*(g * g for g in slope)), _BETAS[1])
            scale = now * np.sqrt(1 - _BETAS[1] ** count) / (1 - _BETAS[0] ** count)
            network = _apply_adam(network, mean, square, np.float32(scale))
        yield float(np.mean(losses)), network


def _blend(old: Network, new: Network, share: float) -> Network:
    old_share, new_share = np.float32(share), np.float32(1 - share)
    return Network(*(old_share * a + new_share * b for a, b in zip(old, new, strict=True)))


def _apply_adam(network: Network, mean: Network, square: Network, scale: np.float32) -> Network:
    parts = zip(network, mean, square, strict=True)
    moved = (w - scale * m / (np.sqrt(s) + np.float32(_TINY)) for w, m, s in parts)
    return Network(*(w.astype(np.float32) for w in moved))
