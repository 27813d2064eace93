"""The protocol of a domain: restore, observe, step and serialise batches of worlds.

Axes: B worlds, stepped together, T steps, P players, R players of one agent,
K objects of a scene.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

DIGEST_LENGTH = 4
"""Objects of a scene that is the digest of a frame: uint16 numbers."""


class SceneFormat(NamedTuple):
    """The format of a world's scenes.

    Attributes:
      kind: of the `SceneLayout`.
      n_players: P.
      objects: K, the length of a scene.
      bound: exclusive upper bound of the numbers in a scene.
    """

    kind: str
    n_players: int
    objects: int
    bound: int


def frame_scene_format(n_players: int) -> SceneFormat:
    """Return the format of scenes that are digests of frames."""
    return SceneFormat("frames", n_players, DIGEST_LENGTH, 2**16)


@dataclass(frozen=True)
class SceneLayout:
    """The constant properties of a world that are needed to draw its scenes.

    Attributes:
      kind: "drawn" if a scene holds the cell of each object in a grid of `height` x `width`, and
        the domain's JavaScript draws it; "frames" if the world renders frames of `height` x `width`
        pixels, and a scene is a digest of one.
      names: of the objects; for frames, of the players.
      glyphs: a letter for each name.
      players: the index of each player among the names.
      details: other data that the domain's JavaScript needs, as JSON, such as walls.
    """

    kind: Literal["drawn", "frames"]
    height: int
    width: int
    names: tuple[str, ...]
    glyphs: tuple[str, ...]
    players: tuple[int, ...]
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def format(self) -> SceneFormat:
        """The format of the scenes."""
        if self.kind == "frames":
            return frame_scene_format(len(self.players))
        return SceneFormat(self.kind, len(self.players), len(self.names), self.height * self.width)


class FilmAnnotations(NamedTuple):
    """Annotations to draw on the pictures of an episode.

    Attributes:
      players: the evaluated players.
      takeover: the frame of the takeover, or None.
      text: the instruction, or "".
      cells: cells to mark, as numbered in a scene.
      sight: True to mark the field of view of the evaluated players.
    """

    players: tuple[int, ...] = ()
    takeover: int | None = None
    text: str = ""
    cells: tuple[int, ...] = ()
    sight: bool = False


def index_players(players: ArrayLike, batch: int) -> NDArray[np.int64]:
    """Return int64[B, R], players that are given for each world, int[B, R], or for all, int[R]."""
    given = np.asarray(players, np.int64)
    return np.ascontiguousarray(np.broadcast_to(given, (batch, given.shape[-1])))


class LiveControls(NamedTuple):
    """Keys and pace of a live session.

    Attributes:
      keys: the name of an action by key, as browsers call it; {} for keys chosen by name.
      tick: seconds from step to step; 0 for the pace of the agents.
      repeats: True if a key that is held repeats its action; else each press is one action.
      settings: of the worlds that people record, passed to `generate`.
    """

    keys: Mapping[str, str] = MappingProxyType({})
    tick: float = 0.25
    repeats: bool = False
    settings: Mapping[str, Any] = MappingProxyType({})


class Worlds(Protocol):
    """A batch of B worlds of one domain, stepped together."""

    @property
    def rewards(self) -> NDArray[Any]:
        """The rewards of the last step, [B, P]: int8 in units of `reward_unit`, else float64."""

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, K], the current scenes."""

    def observe(self, players: ArrayLike, *, team: ArrayLike, world: bool) -> Any:
        """Return the observations of `players`, without side effects.

        Args:
          players: the observing players of each world, int[B, R], or int[R] of all worlds; see
            `index_players`.
          team: the players that count as teammates, in the same form.
          world: True to add the privileged information of an agent that sees the `world`.
        """

    def step(self, actions: NDArray[Any], utterances: NDArray[Any]) -> None:
        """Advance every world by one step.

        Args:
          actions: [B, P, ...], actions of the domain; int8[B, P] if they are named moves.
          utterances: [B, P], the utterances: int8 tokens, or texts if the domain has no tokens.
        """

    def states(self) -> list[bytes]:
        """Serialise each world's state."""

    def select(self, rows: NDArray[np.intp]) -> "Worlds":
        """Return the worlds of these `rows` as a batch, in this order; do not use this one then."""


class RenderableWorlds(Worlds, Protocol):
    """Worlds that render frames."""

    def frames(self, player: int | None = None) -> list[NDArray[np.uint8]]:
        """Render each world as uint8[H, W, 3], as player `player` or, for None, annotators see it.

        The two are the same if the domain's `sees` is "world".
        """


class Domain(Protocol):
    """An environment whose exact state can be saved and restored.

    Attributes:
      name: in recordings and suites.
      action_names: the names of the actions; () if actions have no names.
      tokens: what players can say, index 0 being silence; () if they can say any text, "" being
        silence.
      guide: Markdown, a few sentences that explain its pictures to annotators, or "".
      sees: what human players are shown: "observation", the same information as agents, or
        "world", privileged information.

    Optional attributes:

    - `action_space`, an `ActionSpace`: if actions have no names.
    - `draws_actions`: True if pictures show actions that the scenes do not contain.
    - `live_controls`, a `LiveControls`: for live sessions, if its defaults do not fit.
    - `drawing`: the name of the ES module that draws its scenes in a browser, a file in the folder
      of its Python module; see `sts.domains.drawing`.
    - `frames(episode, focus)`: pictures of an episode for films, uint8[H, W, 3] each, if its scenes
      are drawn; `focus` is a `FilmAnnotations`.
    - `sketch(episode, players, start, stop)`: the `sts.domains.sketch.Sketch` of an episode's
      frames `start` to `stop`, with the paths of the evaluated `players`.
    - `step_columns(episode, role)` and an int `step_columns_version`: properties of each step in
      addition to those of `sts.trajectories.steps`, arrays [T] by name.

    Examples:
      >>> import sts
      >>> from sts.domains import load_domain
      >>> domain: sts.Domain = load_domain("lambda-star")
      >>> states = domain.generate(2, seed=1)
      >>> domain.world_id(states[0]) == domain.world_id(states[1])
      False
    """

    name: str
    action_names: tuple[str, ...]
    tokens: tuple[str, ...]
    guide: str
    sees: Literal["observation", "world"]

    @property
    def noop(self) -> int | NDArray[Any]:
        """The action that does nothing: the index of a move, or an array of the `action_space`."""

    @property
    def reward_unit(self) -> float | None:
        """The value of a recorded reward of 1; None if rewards are float64."""

    def restore(self, states: Sequence[bytes]) -> Worlds:
        """Restore a batch of worlds from `states`.

        Raises:
          DamagedState: one is truncated, altered or not a state of this domain.
          NewerFormat: one was written by a later version.
        """

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Generate the serialised states of `count` new worlds, always the same for a seed."""

    def world_id(self, state: bytes) -> str:
        """Return a hash that identifies the generated world, independent of its players."""

    def describe_state(self, state: bytes) -> dict[str, Any]:
        """Return the state as human-readable JSON."""

    def scene_format(self, state: bytes) -> SceneFormat:
        """Return the format of this world's scenes. It must be fast, as every reader calls it.

        Raises:
          DamagedState: as for `restore`.
        """

    def scene_layout(self, state: bytes) -> SceneLayout:
        """Return the properties of this world that are needed to draw its scenes."""

    def observation_shapes(self, state: bytes) -> Hashable:
        """Return the shapes of observations; worlds with equal ones can share a batch."""

    def player_view(self, worlds: Worlds, player: int) -> dict[str, Any]:
        """Return what player `player` of the first world may see, as JSON for a page."""

    def draw_text(
        self, picture: SceneLayout, scene: NDArray[np.uint16], judged: Sequence[int]
    ) -> list[str]:
        """Draw a scene, uint16[K], as lines of text of equal width for a terminal."""
