"""Λ* as Gymnasium environments, one world or many at once, for learners that others wrote.

    import gymnasium
    import sts.worlds.lambda_star.gym

    world = gymnasium.make("LambdaStar-v0", team=3, partner="local-search")
    worlds = gymnasium.make_vec("LambdaStar-v0", num_envs=1024)

The learner is participant 0 and takes moves 0 to 8; `session` says what it sees. A seed names
environments: after `reset(seed=s)` come the worlds that `generate` makes of seed s, from index 0
on, one at each reset. In a vector of worlds, world i has seed s + i, as in Gymnasium's own. Nothing
ends an episode but its length, so it is always truncated.

Needs the extra `gym`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError, MissingExtra
from sts.worlds.lambda_star.domain import LambdaStar
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.rendering import frame
from sts.worlds.lambda_star.session import MOVES, Seat, bounds, picture

try:
    import gymnasium
    from gymnasium.spaces import Box, Discrete, MultiDiscrete
    from gymnasium.vector import AutoresetMode, VectorEnv
except ImportError:
    raise MissingExtra(
        "Λ* as a Gymnasium environment needs gymnasium, which is not installed: "
        "pip install 'standardised-test-suite[gym]'"
    ) from None

ID = "LambdaStar-v0"
Seen: TypeAlias = NDArray[np.float32]
Frame: TypeAlias = str | NDArray[np.uint8]
_RENDER = ("ansi", "rgb_array")
_SEEDS = 2**31


class LambdaStarEnv(gymnasium.Env[Seen, np.int64]):
    """One world.

    Observations are float32[N] (`session.layout` names the parts), actions 0 to 8: up-left,
    up, up-right, left, stay, right, down-left, down, down-right.
    """

    metadata: dict[str, Any] = {"render_modes": list(_RENDER), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        *,
        size: tuple[int, int] = (10, 10),
        team: int = 1,
        steps: int = 50,
        patterns: str = "paper",
        complexity: tuple[int, int] | None = None,
        radius: int = 1,
        partner: Any = None,
        worlds: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Makes no world yet: `reset` does.

        Args:
          size: rows and columns.
          team: how many participants there are.
          steps: how long an episode is.
          patterns: "paper" or "lambdastar-2016".
          complexity: the range that K is drawn from; None is as much of 2 to 23 as can be drawn.
          radius: how far the learner sees.
          partner: who plays participants 1, 2, ...: an agent's name, `module:Class`, an agent, or
            several; None leaves them standing.
          worlds: how many worlds a seed has before the first comes round again, which saves making
            them anew; None for ever new ones.
          render_mode: None, "ansi" or "rgb_array".

        Raises:
          ArgumentError: there are no such worlds; says which there are.
          UnknownName: no agent of that name is installed.
        """
        self._settings = _settings(size, team, steps, patterns, complexity, radius)
        self._seat = Seat(self._settings, partner, worlds)
        self.observation_space = _box(self._settings)
        self.action_space = Discrete(MOVES)
        self.render_mode = _checked_mode(render_mode)
        self._seed: int | None = None
        self._episode = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Starts the next world of the seed, or the first of a new one."""
        super().reset(seed=seed)
        if seed is not None or self._seed is None:
            self._seed = int(self.np_random.integers(_SEEDS)) if seed is None else int(seed)
            self._episode = -1
        self._episode += 1
        self._seat.begin((self._seed,), self._episode)
        return self._seat.look()[0], {}

    def step(self, action: np.int64 | int) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Takes a step."""
        _unless_over(self._seat)
        rewards = self._seat.act(_moves(action, ()).reshape(1))
        return self._seat.look()[0], float(rewards[0]), False, self._seat.over, {}

    def render(self) -> Any:
        """Returns the world as text or pixels; None without a `render_mode`."""
        return _frames(self._seat, self.render_mode)[0] if self.render_mode else None


class LambdaStarVectorEnv(VectorEnv[Seen, NDArray[np.int64], NDArray[Any]]):
    """Many worlds, stepped together by the compiled kernels.

    World i gives the episodes that a `LambdaStarEnv` reset with seed + i gives. All worlds begin
    and end together, so a reset of some of them alone is refused.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        size: tuple[int, int] = (10, 10),
        team: int = 1,
        steps: int = 50,
        patterns: str = "paper",
        complexity: tuple[int, int] | None = None,
        radius: int = 1,
        partner: Any = None,
        worlds: int | None = None,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        """Makes no worlds yet: `reset` does.

        Args:
          num_envs: how many worlds.
          size: as all that follow but the last, as for `LambdaStarEnv`.
          team: how many participants each has.
          steps: how long an episode is.
          patterns: "paper" or "lambdastar-2016".
          complexity: the range that K is drawn from.
          radius: how far the learners see.
          partner: who plays the participants from 1 on.
          worlds: how many worlds each seed has before the first comes round again.
          render_mode: None, "ansi" or "rgb_array".
          autoreset_mode: what comes after an episode's last step. NEXT_STEP: the next step begins
            new worlds, whatever the moves, and its rewards are 0. SAME_STEP: new worlds begin at
            once, and what was seen last stands in `info["final_obs"]`. DISABLED: call `reset`.

        Raises:
          ArgumentError: there are no such worlds; says which there are.
          UnknownName: no agent of that name is installed.
        """
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ArgumentError(f"expected 1 environment or more, found {num_envs!r}")
        self._settings = _settings(size, team, steps, patterns, complexity, radius)
        self._seat = Seat(self._settings, partner, worlds)
        self._mode = _autoreset(autoreset_mode)
        self.metadata = LambdaStarEnv.metadata | {"autoreset_mode": self._mode}
        self.num_envs = num_envs
        self.single_observation_space = _box(self._settings)
        self.single_action_space = Discrete(MOVES)
        self.observation_space = _box(self._settings, num_envs)
        self.action_space = MultiDiscrete(np.full(num_envs, MOVES))
        self.render_mode = _checked_mode(render_mode)
        self._seeds: tuple[int, ...] = ()
        self._episode = 0

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Seen, dict[str, Any]]:
        """Starts the next worlds of the seeds, or the first of new ones.

        Args:
          seed: world i gets seed + i; or a sequence with a seed for each world.
          options: `reset_mask`, bool[num_envs], must be all True where it is given.

        Raises:
          ArgumentError: there are not as many seeds as worlds, or some worlds alone are to start.
        """
        if options and not np.all(options.get("reset_mask", True)):
            raise ArgumentError("these worlds begin together: expected a reset_mask all True")
        seeds = self._named(seed)
        if seeds != self._seeds or seed is not None:
            self._seeds, self._episode = seeds, -1
        self._episode += 1
        self._seat.begin(self._seeds, self._episode)
        return self._seat.look(), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Seen, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Takes a step in every world, or begins new ones as `autoreset_mode` says."""
        moves, count = _moves(actions, (self.num_envs,)), self.num_envs
        rewards, over = np.zeros(count), False
        info: dict[str, Any] = {}
        if self._mode is AutoresetMode.NEXT_STEP and self._seeds and self._seat.over:
            seen = self.reset()[0]
        else:
            _unless_over(self._seat)
            rewards, over = self._seat.act(moves), self._seat.over
            seen = self._seat.look()
            if over and self._mode is AutoresetMode.SAME_STEP:
                info, seen = _final(seen), self.reset()[0]
        return seen, rewards, np.zeros(count, np.bool_), np.full(count, over), info

    def render(self) -> Any:
        """Returns each world as text or pixels; None without a `render_mode`."""
        return tuple(_frames(self._seat, self.render_mode)) if self.render_mode else None

    def _named(self, seed: int | Sequence[int] | None) -> tuple[int, ...]:
        """Returns each world's seed."""
        if seed is None and self._seeds:
            return self._seeds
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
            first = int(self.np_random.integers(_SEEDS)) if seed is None else int(seed)
            return tuple(range(first, first + self.num_envs))
        given = tuple(int(one) for one in seed)
        if len(given) != self.num_envs:
            raise ArgumentError(f"expected {self.num_envs} seeds, found {len(given)}")
        super().reset(seed=given[0])
        return given


def _settings(
    size: Sequence[int],
    team: int,
    steps: int,
    patterns: str,
    complexity: tuple[int, int] | None,
    radius: int,
) -> Settings:
    try:
        height, width = size
    except (TypeError, ValueError):
        raise ArgumentError(f"expected a size of two numbers, found {size!r}") from None
    return Settings(height, width, team, steps, complexity, patterns, radius)


def _box(settings: Settings, *worlds: int) -> Box[np.float32]:
    """Returns the space of what one world shows, or that many."""
    low, high = (np.broadcast_to(end, (*worlds, end.size)) for end in bounds(settings))
    return Box(low, high, dtype=np.float32)


def _checked_mode(render_mode: str | None) -> str | None:
    if render_mode not in (None, *_RENDER):
        raise ArgumentError(
            f"expected a render_mode of {' or '.join(_RENDER)}, found {render_mode!r}"
        )
    return render_mode


def _autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        modes = ", ".join(one.value for one in AutoresetMode)
        raise ArgumentError(f"expected an autoreset_mode of {modes}, found {mode!r}") from None


def _moves(actions: Any, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Returns actions as the kernels, which check nothing, can take them."""
    try:
        moves = np.asarray(actions)
    except ValueError:  # rows of unequal length
        moves = np.array(actions, object)
    if (
        moves.shape != shape
        or moves.dtype.kind not in "iu"
        or not ((0 <= moves) & (moves < MOVES)).all()
    ):
        raise ArgumentError(
            f"expected moves 0 to {MOVES - 1}, integers of shape {shape}, "
            f"found {_found(moves, shape)}"
        )
    return moves.astype(np.int8)


def _found(moves: NDArray[Any], shape: tuple[int, ...]) -> str:
    """Returns what is wrong with moves, in a few words: one value, or their type and shape."""
    if moves.ndim and (moves.shape != shape or moves.dtype.kind not in "iu"):
        return f"{moves.dtype}{list(moves.shape)}"
    wrong = moves if moves.ndim == 0 else moves[(moves < 0) | (moves >= MOVES)][0]
    return f"{wrong.item()!r:.60}"


def _unless_over(seat: Seat) -> None:
    if seat.over:
        raise gymnasium.error.ResetNeeded("no episode is under way: call reset before step")


def _final(seen: Seen) -> dict[str, Any]:
    """Returns what Gymnasium wants told of the last step where the next episode has begun."""
    last = np.empty(len(seen), object)
    last[:] = list(seen)
    everyone = np.ones(len(seen), np.bool_)
    return {
        "final_obs": last,
        "_final_obs": everyone,
        "final_info": {},
        "_final_info": everyone.copy(),
    }


def _frames(seat: Seat, mode: str | None) -> list[Frame]:
    if seat.step == 0 and seat.over:
        raise gymnasium.error.ResetNeeded("there is no world yet: call reset before render")
    settings, scenes = seat.settings, seat.worlds.scene
    if mode == "ansi":
        drawn = picture(settings)
        return ["\n".join(LambdaStar().draw(drawn, scene, (2,))) for scene in scenes]
    return [frame(scene, settings.height, settings.width) for scene in scenes]


gymnasium.register(
    ID,
    entry_point="sts.worlds.lambda_star.gym:LambdaStarEnv",
    vector_entry_point="sts.worlds.lambda_star.gym:LambdaStarVectorEnv",
)
