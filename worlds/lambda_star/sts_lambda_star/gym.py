"""Gymnasium environments of Λ*, single and vectorised.

    import gymnasium
    import sts_lambda_star.gym

    world = gymnasium.make("LambdaStar-v0", team=3, partner="local-search")
    worlds = gymnasium.make_vec("LambdaStar-v0", num_envs=1024)

The learner is player 0 and takes moves 0 to 8; `features` describes its observations. After
`reset(seed=s)` each reset starts the next of the worlds that `generate` makes from seed s, from
index 0 on. In a vector of worlds, world i has seed s + i, as in Gymnasium's own. Episodes end only
by their length, so they are always truncated.

Needs the extra `gym`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Actions, ArgumentError, MissingExtra, Session, Team, open_session, streams
from sts_lambda_star import films
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.features import MOVES, feature_bounds, flatten_observation
from sts_lambda_star.generation import patterns as patterns_
from sts_lambda_star.generation.patterns import Settings, unpack_size
from sts_lambda_star.kernels import WorldArrays, copy_arrays
from sts_lambda_star.play.teams import load_team, team_name

try:
    import gymnasium
    from gymnasium.spaces import Box, Discrete, MultiDiscrete
    from gymnasium.vector import AutoresetMode, VectorEnv
except ImportError:
    raise MissingExtra(
        "the Gymnasium environments of Λ* need gymnasium, which is not installed: "
        "pip install 'standardised-test-suite[gym]'"
    ) from None

ID = "LambdaStar-v0"
Features: TypeAlias = NDArray[np.float32]
Frame: TypeAlias = str | NDArray[np.uint8]
_RENDER = ("ansi", "rgb_array")
_SEED_LIMIT = 2**31
_LEARNER = (0,)
_JUDGED = (2,)
"""The learner's object in a scene."""


class _LearnerEnv:
    """Base class of the single and the vectorised environment: settings, episodes and rendering.

    Player 0 of B worlds is the learner; the others are partners or stand still. All worlds are
    at the same step, so they start, step and end together.
    """

    metadata: dict[str, Any] = {"render_modes": list(_RENDER), "render_fps": 4}  # noqa: RUF012
    observation_space: Any
    action_space: Any

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
        curriculum: Any = None,
    ) -> None:
        """Validate the settings; `reset` makes the first world.

        Settings of the worlds are those of `rollouts.generate`. `partner` is the policy of
        players 1, 2, ...: an agent's name, `module:Class`, an agent, or several; None lets
        them stand still. After `worlds` worlds per seed these repeat, which is faster; None gives
        an endless sequence. `render_mode` is "ansi", "rgb_array" or None. The worlds of a
        `curriculum`, a `sts_analysis.measures.skill.Curriculum`, replace those of the seeds.

        Raises:
          ArgumentError: a setting is out of range; the message states the range.
          UnknownName: no agent of that name is installed.
        """
        steps = steps if curriculum is None else curriculum.steps
        settings = Settings(*unpack_size(size), team, steps, complexity, patterns, radius)
        patterns_.check_settings(settings)
        if worlds is not None and not (type(worlds) is int and worlds > 0):
            raise ArgumentError(f"expected 1 world or more, or None, found {worlds!r}")
        self._partners = () if partner is None else load_team(partner)
        if len(self._partners) > team - 1:
            raise ArgumentError(
                f"partner {team_name(self._partners)}: expected a team of "
                f"{len(self._partners) + 1} or more, found {team}"
            )
        if render_mode not in (None, *_RENDER):
            raise ArgumentError(
                f"expected a render_mode of {' or '.join(_RENDER)}, found {render_mode!r}"
            )
        self._settings, self._worlds, self._curriculum = settings, worlds, curriculum
        self._seeds: tuple[int, ...] = ()
        self._cache: dict[int, WorldArrays] = {}
        self._episode = 0
        self._session: Session | None = None
        self.observation_space, self.action_space = self._observation_box(), Discrete(MOVES)
        self.render_mode = render_mode

    def _observation_box(self, *worlds: int) -> Box[np.float32]:
        """Return the observation space of one world, or of `worlds` stacked ones."""
        ends = feature_bounds(self._settings)
        low, high = (np.broadcast_to(end, (*worlds, end.size)) for end in ends)
        return Box(low, high, dtype=np.float32)

    def _start_episode(self, seeds: tuple[int, ...], *, restart: bool) -> Features:
        """Start the next world of each of B seeds; return the learners' observations.

        With new seeds or `restart`, the seeds' first worlds are started.
        """
        if self._curriculum is not None:
            self._seeds, self._session = seeds, self._curriculum.start(len(seeds))
            return self._observe(self._session)
        if seeds != self._seeds:
            self._cache = {}
        self._episode = 0 if restart or seeds != self._seeds else self._episode + 1
        self._seeds = seeds
        batch = Batch(self._initial_arrays(), self._settings.radius)
        partner_roles, name = range(1, self._settings.n_players), team_name(self._partners)
        keys = [(seed, self._episode) for seed in seeds]
        teams = [
            Team(
                partner,
                tuple(partner_roles[i :: len(self._partners)]),
                streams(("lambda-star gym", name, i), keys),
            )
            for i, partner in enumerate(self._partners)
        ]
        self._session = open_session(LambdaStar(), batch, teams)
        return self._observe(self._session)

    def _initial_arrays(self) -> WorldArrays:
        """Return a fresh copy of each seed's world for this episode; cache worlds that repeat."""
        index = self._episode % self._worlds if self._worlds else self._episode
        if index not in self._cache:
            names = [(seed, index) for seed in self._seeds]
            arrays = patterns_.generate_worlds(self._settings, names)
            self._cache = (self._cache if self._worlds else {}) | {index: arrays}
        return copy_arrays(self._cache[index])

    def _observe(self, current: Session) -> Features:
        """Return float32[B, N], the learners' current observations."""
        return flatten_observation(current.observe(_LEARNER), self._settings.horizon)[:, 0]

    @property
    def _is_over(self) -> bool:
        """True if no step is left: no episode was started, or the horizon is reached."""
        return self._session is None or self._session.steps == self._settings.horizon

    def _take_step(self, actions: NDArray[np.int8]) -> tuple[Features, NDArray[np.float64]]:
        """Take a step with the learners' moves, int8[B]; return observations and rewards."""
        current = self._session
        if current is None or self._is_over:
            raise gymnasium.error.ResetNeeded("no episode is running: call reset before step")
        column = actions[:, None]
        current.step(Actions(column, np.zeros_like(column)), _LEARNER)
        rewards = current.worlds.rewards[:, 0] * np.float64(LambdaStar.reward_unit)
        return self._observe(current), rewards

    def _render_worlds(self) -> Iterator[Frame]:
        """Yield a rendering of each world, as text or pixels."""
        if self._session is None:
            raise gymnasium.error.ResetNeeded("no episode was started: call reset before render")
        world, worlds = LambdaStar(), self._session.worlds
        picture = world.scene_layout(worlds.states()[0])
        for scene in worlds.scene:
            if self.render_mode == "ansi":
                yield "\n".join(world.draw_text(picture, scene, _JUDGED))
            else:
                yield films.render_still(picture, scene, _JUDGED)


class LambdaStarEnv(_LearnerEnv, gymnasium.Env[Features, np.int64]):
    """Environment of one world.

    Observations are float32[N] (`features.feature_slices` names the parts), actions 0 to 8:
    up-left, up, up-right, left, stay, right, down-left, down, down-right.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Start the next world of the seed, or the first of a new one."""
        super().reset(seed=seed)
        seeds = self._seeds
        if seed is not None or not seeds:
            seeds = (int(self.np_random.integers(_SEED_LIMIT)) if seed is None else int(seed),)
        return self._start_episode(seeds, restart=seed is not None)[0], {}

    def step(self, action: np.int64 | int) -> tuple[Features, float, bool, bool, dict[str, Any]]:
        """Take a step."""
        observations, rewards = self._take_step(_validate_actions(action, ()).reshape(1))
        return observations[0], float(rewards[0]), False, self._is_over, {}

    def render(self) -> Any:
        """Render the world as text or pixels; return None without a `render_mode`."""
        return next(self._render_worlds()) if self.render_mode else None


class LambdaStarVectorEnv(_LearnerEnv, VectorEnv[Features, NDArray[np.int64], NDArray[Any]]):
    """Environment of many worlds, stepped together by the compiled kernels.

    World i has the episodes of a `LambdaStarEnv` that was reset with seed + i. All worlds start and
    end together, so resetting only some of them raises an error.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **settings: Any,
    ) -> None:
        """Validate the settings; `reset` makes the first worlds.

        `autoreset_mode` is the reset after an episode's last step. NEXT_STEP: the next step starts
        new worlds, whatever the moves, with rewards of 0. SAME_STEP: new worlds start at once, and
        the last observations are in `info["final_obs"]`. DISABLED: call `reset`.

        Raises:
          ArgumentError: a setting is out of range; the message states the range.
          UnknownName: no agent of that name is installed.
        """
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ArgumentError(f"expected 1 environment or more, found {num_envs!r}")
        super().__init__(**settings)
        self._mode = _parse_autoreset_mode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self._mode}
        self.num_envs = num_envs
        self.single_observation_space = self.observation_space
        self.single_action_space = self.action_space
        self.observation_space = self._observation_box(num_envs)
        self.action_space = MultiDiscrete(np.full(num_envs, MOVES))

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Start the next worlds of the seeds, or the first of new ones.

        `seed` is a number, to which world i adds i, or a sequence with a seed for each world.

        Raises:
          ArgumentError: the number of seeds differs from that of worlds, or `options` has a
            `reset_mask` with a False.
        """
        if options and not np.all(options.get("reset_mask", True)):
            raise ArgumentError("all worlds start together: expected a reset_mask that is all True")
        return self._start_episode(self._resolve_seeds(seed), restart=seed is not None), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Features, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take a step in every world, or start new ones according to `autoreset_mode`."""
        valid, count = _validate_actions(actions, (self.num_envs,)), self.num_envs
        rewards, over = np.zeros(count), False
        info: dict[str, Any] = {}
        if self._mode is AutoresetMode.NEXT_STEP and self._seeds and self._is_over:
            observations = self.reset()[0]
        else:
            observations, rewards = self._take_step(valid)
            over = self._is_over
            if over and self._mode is AutoresetMode.SAME_STEP:
                info, observations = _final_info(observations), self.reset()[0]
        return observations, rewards, np.zeros(count, np.bool_), np.full(count, over), info

    def render(self) -> Any:
        """Render each world as text or pixels; return None without a `render_mode`."""
        return tuple(self._render_worlds()) if self.render_mode else None

    def _resolve_seeds(self, seed: int | Sequence[int] | None) -> tuple[int, ...]:
        """Return each world's seed."""
        if seed is None and self._seeds:
            return self._seeds
        if seed is None or isinstance(seed, int | np.integer):
            super().reset(seed=None if seed is None else int(seed))
            first = int(self.np_random.integers(_SEED_LIMIT)) if seed is None else int(seed)
            return tuple(range(first, first + self.num_envs))
        seeds = tuple(int(value) for value in seed)
        if len(seeds) != self.num_envs:
            raise ArgumentError(f"expected {self.num_envs} seeds, found {len(seeds)}")
        super().reset(seed=seeds[0])
        return seeds


def _parse_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        modes = ", ".join(member.value for member in AutoresetMode)
        raise ArgumentError(f"expected an autoreset_mode of {modes}, found {mode!r}") from None


def _validate_actions(actions: Any, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Validate and convert actions for the kernels, which do not check them."""
    try:
        values = np.asarray(actions)
    except ValueError:  # rows of unequal length
        values = np.array(actions, object)
    is_integer = values.shape == shape and values.dtype.kind in "iu"
    if not (is_integer and ((0 <= values) & (values < MOVES)).all()):
        raise ArgumentError(
            f"expected actions 0 to {MOVES - 1}, integers of shape {shape}, "
            f"found {_describe_invalid_actions(values, shape)}"
        )
    return values.astype(np.int8)


def _describe_invalid_actions(actions: NDArray[Any], shape: tuple[int, ...]) -> str:
    """Describe invalid actions for an error: the first wrong value, or their type and shape."""
    if actions.ndim and (actions.shape != shape or actions.dtype.kind not in "iu"):
        return f"{actions.dtype}{list(actions.shape)}"
    wrong = actions if actions.ndim == 0 else actions[(actions < 0) | (actions >= MOVES)][0]
    return f"{wrong.item()!r:.60}"


def _final_info(observations: Features) -> dict[str, Any]:
    """Return Gymnasium's info on the last step of an episode after an automatic reset."""
    last = np.empty(len(observations), object)
    last[:] = list(observations)
    all_worlds = np.ones(len(observations), np.bool_)
    return {
        "final_obs": last,
        "_final_obs": all_worlds,
        "final_info": {},
        "_final_info": all_worlds.copy(),
    }


gymnasium.register(
    ID,
    entry_point="sts_lambda_star.gym:LambdaStarEnv",
    vector_entry_point="sts_lambda_star.gym:LambdaStarVectorEnv",
)
