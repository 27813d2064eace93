"""The protocol of an environment, which is all that a new domain has to implement.

An environment class is used by its entry point in the group `sts.domains` or as `module:Class`.
`sts domain check module:Class` tests whether it conforms.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

REQUIRED_ATTRIBUTES = (
    *("name", "version", "action_names", "noop", "players"),
    *("reset", "step", "state", "restore", "digest", "observe", "render"),
)
"""Attributes and methods that every `Environment` has."""


class Environment(Protocol):
    """One environment instance with P players, constructed without arguments.

    It is deterministic: its state and the actions that follow determine everything. Its randomness
    comes from the seed passed to `reset`, and is part of its state. Instances are independent.

    Optional attributes:

    - `action_space`, a `sts.domains.ActionSpace`: if an action is not one of several named moves.
    - `reward_unit`, a number: the value of a reward of 1, by default 1. With None, rewards are any
      finite numbers.
    - `tokens`: what players can say, the first being silence; () allows any text. Utterances do not
      affect the environment; all players observe them in the next step. By default, players cannot
      say anything.
    - `instruction()`: the environment's own instruction; "" for none.
    - `guide`, Markdown: a few sentences that explain its pictures to annotators.
    - `draws_actions`, True if pictures show actions of the last step that the digest does not, so
      that continuations share a clip only if their actions are the same.
    - `live_controls`, an `sts.domains.LiveControls`: keys and tick of live sessions.
    - `render_player_view(player)`: a picture of only what that player may see, uint8[H, W, 3] of
      one size. Human players are then shown this picture, and ranked among the agents. Without it
      they are shown what annotators see, and are baselines outside the ranking.
    - `position(player)`: where a player is in the picture of `render`, (x, y) in pixels, so that
      reports can draw its path.
    - `ended`, a bool: True if the episode is over, for any reason. Exports include it, and
      `sts domain check` tests it.
    - `truncated`, a bool: True if the episode is over only because of a time limit.
    - `step_columns(episode, role)` and an int `step_columns_version`: properties of each step of a
      recording, arrays [T] by name, for selecting steps. It cannot use the environment's state.
    """

    @property
    def name(self) -> str:
        """The name in recordings; this and the next four are class attributes."""

    @property
    def version(self) -> str:
        """The version of its rules and dependencies; states of another version are rejected."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of the actions, at most 127; () if it has an `action_space`."""

    @property
    def noop(self) -> Any:
        """The index of the move that does nothing, or an action that does nothing."""

    @property
    def players(self) -> tuple[str, ...]:
        """The names of the players."""

    def reset(self, seed: int, *args: Any, **settings: Any) -> None:
        """Generate the instance of a seed below 2**31, always the same for the same settings.

        Settings are keyword arguments.

        Raises:
          ValueError: a setting is unknown or invalid.
        """

    def step(self, actions: Sequence[Any]) -> Sequence[float]:
        """Advance by one step and return each player's reward, -128 to 127 whole units.

        Each of `actions` is the index of an action, or an array of the `action_space`. With a
        `reward_unit` of None, a reward is any finite number.

        After the end of the episode, steps have no effect and rewards are 0.
        """

    def state(self) -> bytes:
        """Serialise the complete state, but not as a pickle, which could run code on loading."""

    def restore(self, state: bytes) -> None:
        """Restore a state that this or another process serialised.

        Raises:
          ValueError: the bytes are not a valid state.
        """

    def digest(self) -> bytes:
        """Return a digest of the current state, with which a replay is verified.

        It is called at every step, so it must be fast. A hash of everything visible is enough. 8
        bytes are stored unchanged; other lengths are hashed.
        """

    def observe(self, player: int) -> Mapping[str, Any]:
        """Return a player's observation, arrays or numbers by name, without side effects.

        Names, shapes and types are fixed and the same for every player.
        """

    def render(self) -> NDArray[np.uint8]:
        """Render what annotators see, uint8[H, W, 3] of constant size, without side effects."""
