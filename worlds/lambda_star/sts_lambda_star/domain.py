"""Λ* as a domain of the suite: batches of worlds that are stepped together."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sts.plugin import (
    ArgumentError,
    DamagedState,
    Episode,
    FilmAnnotations,
    LiveControls,
    SceneFormat,
    SceneLayout,
    Sketch,
    Worlds,
    canonical_json,
    content_hash,
    index_players,
)
from sts_lambda_star import films, kernels, sketches, step_table
from sts_lambda_star import state as states_
from sts_lambda_star.generation import patterns
from sts_lambda_star.torus import neighbour, side_length

AURAS = ((0, 1), (1, -1))
"""(Scene index, sign) of the objects that give (+) or take (-) reward in the cells around them."""
_GLYPHS = "ABCDFHIJKLMNOPQRSTUVWXYZ"
_GUIDE = """
**The board** is a grid that wraps around: a player that leaves on the right re-enters on the
left. **G** is Good and **E** is Evil. The cells around Good give reward (+, rising lines), those
around Evil take reward (−, falling lines); where both overlap, the lines cross. A grey plate marks
a cell that several share. **A, B, C …** are the players. Judge the one with a ring; after the
takeover a dashed frame marks the cell in which it was at the takeover. *Near* or *close* means in
the same cell or one of the eight around it, also across the edges.
"""


@dataclass(frozen=True)
class Observation:
    """Observations of R roles in B worlds; M = (2k+1)^2 cells, row by row around the role's own.

    Attributes:
      height: int64[B], the grid's rows.
      width: int64[B], the grid's columns.
      step: int64[B], the number of steps taken.
      cell: int64[B, R], the role's own cell, row * width + column.
      good: bool[B, R, M], True where Good is.
      evil: bool[B, R, M], True where Evil is.
      team: uint16[B, R, M], the number of teammates, the role itself excluded.
      others: uint16[B, R, M], the number of other players.
      reward: int8[B, R, M], the rewards in halves.
      heard: uint16[B, R, 22], the number in sight that said each token in the last step.
      last_move: int8[B, R], the role's last executed move; -1 before the first step.
      last_said: int8[B, R], the role's last token.
      last_reward: int8[B, R], the role's last reward, in halves.
      good_next: int64[B], the cell Good intends next; None unless the agent sees the `world`.
      evil_next: int64[B], the cell Evil intends next; None as for `good_next`.
      good_heading: int64[B], the single move that Good's pattern repeats, or -1; None as for
        `good_next`.
    """

    height: NDArray[np.int64]
    width: NDArray[np.int64]
    step: NDArray[np.int64]
    cell: NDArray[np.int64]
    good: NDArray[np.bool_]
    evil: NDArray[np.bool_]
    team: NDArray[np.uint16]
    others: NDArray[np.uint16]
    reward: NDArray[np.int8]
    heard: NDArray[np.uint16]
    last_move: NDArray[np.int8]
    last_said: NDArray[np.int8]
    last_reward: NDArray[np.int8]
    good_next: NDArray[np.int64] | None = None
    evil_next: NDArray[np.int64] | None = None
    good_heading: NDArray[np.int64] | None = None

    @property
    def surroundings(self) -> NDArray[np.int64]:
        """int64[B, R, M], the cells in sight."""
        cells, size = self.good.shape[-1], (self.height[:, None, None], self.width[:, None, None])
        entries = np.arange(cells)
        out: NDArray[np.int64] = neighbour(self.cell[..., None], entries, side_length(cells), *size)
        return out


class Batch:
    """B worlds of one number of players, stepped together by the compiled kernels."""

    def __init__(self, arrays: kernels.WorldArrays, radius: int) -> None:
        """Take the worlds' arrays, which are stepped in place and observed within `radius`."""
        self.arrays, self.radius = arrays, radius

    @property
    def rewards(self) -> NDArray[np.int8]:
        """int8[B, P], rewards of the last step, in halves."""
        return self.arrays.rewards

    @property
    def scene(self) -> NDArray[np.uint16]:
        """uint16[B, 2 + P], the cells of Good, Evil and the players."""
        return np.concatenate((self.arrays.objects, self.arrays.cells), 1).astype(np.uint16)

    @functools.cached_property
    def _good_heading(self) -> NDArray[np.int64]:
        return kernels.constant_headings(self.arrays, 0)

    @functools.cached_property
    def _needs_several(self) -> bool:
        return bool((self.arrays.needs > 1).any())

    def observe(self, players: ArrayLike, *, team: ArrayLike, world: bool) -> Observation:
        """Return the current observations of `players`, without side effects."""
        a = self.arrays
        batch, n_players = a.cells.shape
        indices = index_players(players, batch)
        shape = (*indices.shape, (2 * self.radius + 1) ** 2)
        sight = kernels.Sight(
            good=np.empty(shape, np.bool_),
            evil=np.empty(shape, np.bool_),
            team=np.zeros(shape, np.uint16),
            others=np.zeros(shape, np.uint16),
            reward=np.empty(shape, np.int8),
            heard=np.zeros((*shape[:2], len(states_.TOKENS)), np.uint16),
            cell=np.empty(shape[:2], np.int64),
            last_move=np.empty(shape[:2], np.int8),
            last_said=np.empty(shape[:2], np.int8),
            last_reward=np.empty(shape[:2], np.int8),
        )
        in_team = np.zeros((batch, n_players), np.bool_)
        in_team[np.arange(batch)[:, None], index_players(team, batch)] = True
        kernels.observe_worlds(a, indices, in_team, self.radius, sight)
        seen = Observation(
            height=a.size[:, 0].copy(),
            width=a.size[:, 1].copy(),
            step=a.step.copy(),
            **sight._asdict(),
            good_next=kernels.intended_cells(a, 0) if world else None,
            evil_next=kernels.intended_cells(a, 1) if world else None,
            good_heading=self._good_heading if world else None,
        )
        if self._needs_several:
            seen.reward[:] = kernels.joint_rewards(a, indices, seen.surroundings)
        return seen

    def step(self, actions: NDArray[np.int8], utterances: NDArray[np.int8]) -> None:
        """Advance every world by one step."""
        kernels.step_worlds(self.arrays, actions, utterances)
        if self._needs_several:
            a, everyone = self.arrays, np.indices(self.arrays.cells.shape)[1]
            a.rewards[:] = kernels.joint_rewards(a, everyone, a.cells[..., None])[..., 0]

    def states(self) -> list[bytes]:
        """Return the serialised state of each world; equal worlds are serialised once."""
        rows, inverse = states_.find_distinct(self.arrays)
        distinct = states_.arrays_to_states(states_.select_rows(self.arrays, rows), self.radius)
        encoded = [states_.encode(state) for state in distinct]
        return [encoded[i] for i in inverse]

    def select(self, rows: NDArray[np.intp]) -> Batch:
        """Return the worlds of these `rows` as a batch."""
        return Batch(states_.select_rows(self.arrays, rows), self.radius)


class LambdaStar:
    """The domain `lambda-star`."""

    name = "lambda-star"
    action_names: tuple[str, ...] = states_.MOVES
    tokens: tuple[str, ...] = states_.TOKENS
    noop = states_.MOVES.index("stay")
    reward_unit = 0.5
    guide = _GUIDE
    drawing = "board.mjs"
    sees: Literal["observation", "world"] = "observation"
    live_controls = LiveControls(settings={"n_players": 2})
    step_columns_version = step_table.VERSION
    step_columns = staticmethod(step_table.step_columns)

    def restore(self, states: Sequence[bytes]) -> Batch:
        """Return a batch of the worlds in `states`, which agree in radius and number of players."""
        number = {raw: i for i, raw in enumerate(dict.fromkeys(states))}
        distinct = [states_.decode(raw) for raw in number]
        if len({(len(s.cells), s.radius) for s in distinct}) > 1:
            raise DamagedState("worlds of one batch must agree in radius and number of players")
        rows = np.array([number[raw] for raw in states])
        arrays = states_.select_rows(states_.states_to_arrays(distinct), rows)
        return Batch(arrays, distinct[0].radius)

    def generate(self, count: int, *, seed: int, **settings: Any) -> list[bytes]:
        """Return `count` new worlds; `settings` are fields of `patterns.Settings`."""
        setting_names = patterns.Settings._fields
        for name in sorted(settings.keys() - set(setting_names)):
            raise ArgumentError(
                f"domain {self.name!r} has no setting {name!r}; it has {', '.join(setting_names)}"
            )
        pattern_settings = patterns.Settings(**settings)
        arrays = patterns.generate_worlds(
            pattern_settings, [(seed, index) for index in range(count)]
        )
        return Batch(arrays, pattern_settings.radius).states()

    def world_id(self, state: bytes) -> str:
        """Return the hash of the grid, the two patterns and the current positions in them."""
        s = states_.decode(state)
        fields = (s.height, s.width, s.kind, s.good, s.evil, s.good_cursor, s.evil_cursor)
        return content_hash(canonical_json([*fields, s.good_pattern, s.evil_pattern]))

    def describe_state(self, state: bytes) -> dict[str, Any]:
        """Return the state as JSON values."""
        return states_.to_json(states_.decode(state))

    def scene_format(self, state: bytes) -> SceneFormat:
        """Return the form of its scenes: drawn, with the cell of each object."""
        return self.scene_layout(state).format

    def scene_layout(self, state: bytes) -> SceneLayout:
        """Return the picture of a torus with Good, Evil and the players A, B, C, D, F, ..."""
        s = states_.decode(state)
        count = len(s.cells)
        letters = [_GLYPHS[i] if count <= len(_GLYPHS) else str(i + 1) for i in range(count)]
        return SceneLayout(
            kind="drawn",
            height=s.height,
            width=s.width,
            names=("Good", "Evil", *letters),
            glyphs=("G", "E", *letters),
            players=tuple(range(2, 2 + count)),
            details={"auras": AURAS},
        )

    def frames(self, episode: Episode, focus: FilmAnnotations) -> list[NDArray[np.uint8]]:
        """Render an episode as the browser draws it; see `films.render_frames`."""
        return films.render_frames(self.scene_layout(episode.state), episode, focus, self.tokens)

    def sketch(self, episode: Episode, players: Sequence[int], start: int, stop: int) -> Sketch:
        """Return the sketch of frames `start` to `stop`; see `sketches.draw_sketch`."""
        scenes = episode.scene[start : stop + 1]
        return sketches.draw_sketch(self.scene_layout(episode.state), scenes, players)

    def observation_shapes(self, state: bytes) -> int:
        """Return the radius, which alone determines the shapes of observations."""
        return states_.decode(state).radius

    def player_view(self, worlds: Worlds, player: int) -> dict[str, Any]:
        """Return the view of a human player: the neighbourhood and counts that an agent gets."""
        o = worlds.observe((player,), team=(player,), world=False)
        cells = [
            {
                "good": bool(o.good[0, 0, m]),
                "evil": bool(o.evil[0, 0, m]),
                "others": int(o.team[0, 0, m]) + int(o.others[0, 0, m]),
                "reward": int(o.reward[0, 0, m]) * self.reward_unit,
            }
            for m in range(o.good.shape[-1])
        ]
        heard = {self.tokens[v]: int(n) for v, n in enumerate(o.heard[0, 0]) if n}
        return {
            "kind": "moore",
            "side": int(np.sqrt(len(cells))),
            "cells": cells,
            "heard": heard,
            "height": int(o.height[0]),
            "width": int(o.width[0]),
            "row": int(o.cell[0, 0]) // int(o.width[0]),
            "column": int(o.cell[0, 0]) % int(o.width[0]),
            "last_move": self.action_names[o.last_move[0, 0]] if o.last_move[0, 0] >= 0 else None,
            "last_reward": int(o.last_reward[0, 0]) * self.reward_unit,
        }

    def draw_text(
        self, picture: SceneLayout, scene: NDArray[np.uint16], judged: Sequence[int]
    ) -> list[str]:
        """Return the grid as text: two letters if two share a cell, a letter and + for more.

        Judged players come first, then Good and Evil, then the others.
        """
        order = [*judged, 0, 1, *(p for p in picture.players if p not in judged)]
        cells: dict[int, str] = {}
        for index in order:
            cell = int(scene[index])
            cells[cell] = cells.get(cell, "") + picture.glyphs[index]
        texts = [
            text if len(text) < 3 else f"{text[0]}+"
            for text in (cells.get(c, "·") for c in range(picture.height * picture.width))
        ]
        rows = np.array(texts).reshape(picture.height, picture.width)
        return ["".join(text.ljust(2) for text in row) for row in rows]
