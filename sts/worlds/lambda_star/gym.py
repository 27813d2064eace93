"""Λ* as Gymnasium environments, one world or many at once, for learners that others wrote.

    import gymnasium
    import sts.worlds.lambda_star.gym

    world = gymnasium.make("LambdaStar-v0", team=3, partner="local-search")
    worlds = gymnasium.make_vec("LambdaStar-v0", num_envs=1024)

The learner is participant 0 and takes moves 0 to 8; `features` says what it sees. A seed names
environments: after `reset(seed=s)` come the worlds that `generate` makes of seed s, from index 0
on, one at each reset. In a vector of worlds, world i has seed s + i, as in Gymnasium's own. Nothing
ends an episode but its length, so it is always truncated.

Needs the extra `gym`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sts.engine import session
from sts.engine.session import Actions, Session, Team
from sts.errors import ArgumentError, MissingExtra
from sts.numerics.streams import streams
from sts.worlds.lambda_star import films
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.features import MOVES, bounds, flat
from sts.worlds.lambda_star.generation import patterns as patterns_
from sts.worlds.lambda_star.generation.patterns import Settings, sides
from sts.worlds.lambda_star.kernels import Arrays, copied
from sts.worlds.lambda_star.play.teams import called, team_of

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
_LEARNER = (0,)
_JUDGED = (2,)
"""The learner's object in a scene."""


class _Learning:
    """What one world and many have in common: how they are made, played and drawn.

    Participant 0 of B worlds is played from outside, the others by partners or by nobody. All
    worlds are at the same step, so they begin, step and end together.
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
    ) -> None:
        """Make no world yet: `reset` does.

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
        settings = Settings(*sides(size), team, steps, complexity, patterns, radius)
        patterns_.check(settings)
        if worlds is not None and not (type(worlds) is int and worlds > 0):
            raise ArgumentError(f"expected 1 world or more, or None, found {worlds!r}")
        self._partners = () if partner is None else team_of(partner)
        if len(self._partners) > team - 1:
            raise ArgumentError(
                f"partner {called(self._partners)}: expected a team of "
                f"{len(self._partners) + 1} or more, found {team}"
            )
        if render_mode not in (None, *_RENDER):
            raise ArgumentError(
                f"expected a render_mode of {' or '.join(_RENDER)}, found {render_mode!r}"
            )
        self._settings, self._worlds = settings, worlds
        self._seeds: tuple[int, ...] = ()
        self._kept: dict[int, Arrays] = {}
        self._episode = 0
        self._session: Session | None = None
        self.observation_space, self.action_space = self._box(), Discrete(MOVES)
        self.render_mode = render_mode

    def _box(self, *worlds: int) -> Box[np.float32]:
        """Return the space of what one world shows, or that many."""
        ends = bounds(self._settings)
        low, high = (np.broadcast_to(end, (*worlds, end.size)) for end in ends)
        return Box(low, high, dtype=np.float32)

    def _begin(self, seeds: tuple[int, ...], *, anew: bool) -> Seen:
        """Start the next world of each of B seeds; return what the learners see.

        Seeds other than before begin with their first worlds; with `anew`, all seeds do.
        """
        if seeds != self._seeds:
            self._kept = {}
        self._episode = 0 if anew or seeds != self._seeds else self._episode + 1
        self._seeds = seeds
        batch = Batch.of(self._made(), self._settings.radius)
        others, name = range(1, self._settings.participants), called(self._partners)
        own = [(seed, self._episode) for seed in seeds]
        teams = [
            Team(
                partner,
                tuple(others[i :: len(self._partners)]),
                streams(("lambda-star gym", name, i), own),
            )
            for i, partner in enumerate(self._partners)
        ]
        self._session = session.open(LambdaStar(), batch, teams)
        return self._look(self._session)

    def _made(self) -> Arrays:
        """Return each seed's world of this episode, to be played; keeps those that come again."""
        index = self._episode % self._worlds if self._worlds else self._episode
        if index not in self._kept:
            names = [(seed, index) for seed in self._seeds]
            made = patterns_.worlds(self._settings, names)
            self._kept = (self._kept if self._worlds else {}) | {index: made}
        return copied(self._kept[index])

    def _look(self, begun: Session) -> Seen:
        """Return float32[B, N]: what the learners see now."""
        return flat(begun.observe(_LEARNER), self._settings.horizon)[:, 0]

    @property
    def _over(self) -> bool:
        """Whether there is no step left: none has begun, or the horizon is reached."""
        return self._session is None or self._session.steps == self._settings.horizon

    def _act(self, moves: NDArray[np.int8]) -> tuple[Seen, NDArray[np.float64]]:
        """Take a step with the learners' moves, int8[B]; return what they see and receive."""
        begun = self._session
        if begun is None or self._over:
            raise gymnasium.error.ResetNeeded("no episode is under way: call reset before step")
        given = moves[:, None]
        begun.step(Actions(given, np.zeros_like(given)), _LEARNER)
        rewards = begun.worlds.rewards[:, 0] * np.float64(LambdaStar.reward_unit)
        return self._look(begun), rewards

    def _frames(self) -> Iterator[Frame]:
        """Yield each world as text or pixels."""
        if self._session is None:
            raise gymnasium.error.ResetNeeded("there is no world yet: call reset before render")
        world, worlds = LambdaStar(), self._session.worlds
        picture = world.picture(worlds.states()[0])
        for scene in worlds.scene:
            if self.render_mode == "ansi":
                yield "\n".join(world.draw(picture, scene, _JUDGED))
            else:
                yield films.still(picture, scene, _JUDGED)


class LambdaStarEnv(_Learning, gymnasium.Env[Seen, np.int64]):
    """One world.

    Observations are float32[N] (`session.layout` names the parts), actions 0 to 8: up-left,
    up, up-right, left, stay, right, down-left, down, down-right.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Start the next world of the seed, or the first of a new one."""
        super().reset(seed=seed)
        seeds = self._seeds
        if seed is not None or not seeds:
            seeds = (int(self.np_random.integers(_SEEDS)) if seed is None else int(seed),)
        return self._begin(seeds, anew=seed is not None)[0], {}

    def step(self, action: np.int64 | int) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Take a step."""
        seen, rewards = self._act(_moves(action, ()).reshape(1))
        return seen[0], float(rewards[0]), False, self._over, {}

    def render(self) -> Any:
        """Return the world as text or pixels; None without a `render_mode`."""
        return next(self._frames()) if self.render_mode else None


class LambdaStarVectorEnv(_Learning, VectorEnv[Seen, NDArray[np.int64], NDArray[Any]]):
    """Many worlds, stepped together by the compiled kernels.

    World i gives the episodes that a `LambdaStarEnv` reset with seed + i gives. All worlds begin
    and end together, so a reset of some of them alone is refused.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **settings: Any,
    ) -> None:
        """Make no worlds yet: `reset` does.

        Args:
          num_envs: how many worlds.
          autoreset_mode: what comes after an episode's last step. NEXT_STEP: the next step begins
            new worlds, whatever the moves, and its rewards are 0. SAME_STEP: new worlds begin at
            once, and what was seen last stands in `info["final_obs"]`. DISABLED: call `reset`.
          settings: of each world, as `LambdaStarEnv` takes them.

        Raises:
          ArgumentError: there are no such worlds; says which there are.
          UnknownName: no agent of that name is installed.
        """
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ArgumentError(f"expected 1 environment or more, found {num_envs!r}")
        super().__init__(**settings)
        self._mode = _autoreset(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self._mode}
        self.num_envs = num_envs
        self.single_observation_space = self.observation_space
        self.single_action_space = self.action_space
        self.observation_space = self._box(num_envs)
        self.action_space = MultiDiscrete(np.full(num_envs, MOVES))

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Seen, dict[str, Any]]:
        """Start the next worlds of the seeds, or the first of new ones.

        Args:
          seed: world i gets seed + i; or a sequence with a seed for each world.
          options: `reset_mask`, bool[num_envs], must be all True where it is given.

        Raises:
          ArgumentError: there are not as many seeds as worlds, or some worlds alone are to start.
        """
        if options and not np.all(options.get("reset_mask", True)):
            raise ArgumentError("these worlds begin together: expected a reset_mask all True")
        return self._begin(self._named(seed), anew=seed is not None), {}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Seen, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take a step in every world, or begins new ones as `autoreset_mode` says."""
        moves, count = _moves(actions, (self.num_envs,)), self.num_envs
        rewards, over = np.zeros(count), False
        info: dict[str, Any] = {}
        if self._mode is AutoresetMode.NEXT_STEP and self._seeds and self._over:
            seen = self.reset()[0]
        else:
            seen, rewards = self._act(moves)
            over = self._over
            if over and self._mode is AutoresetMode.SAME_STEP:
                info, seen = _final(seen), self.reset()[0]
        return seen, rewards, np.zeros(count, np.bool_), np.full(count, over), info

    def render(self) -> Any:
        """Return each world as text or pixels; None without a `render_mode`."""
        return tuple(self._frames()) if self.render_mode else None

    def _named(self, seed: int | Sequence[int] | None) -> tuple[int, ...]:
        """Return each world's seed."""
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


def _autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        modes = ", ".join(one.value for one in AutoresetMode)
        raise ArgumentError(f"expected an autoreset_mode of {modes}, found {mode!r}") from None


def _moves(actions: Any, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """Return actions as the kernels, which check nothing, can take them."""
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
    """Return what is wrong with moves, in a few words: one value, or their type and shape."""
    if moves.ndim and (moves.shape != shape or moves.dtype.kind not in "iu"):
        return f"{moves.dtype}{list(moves.shape)}"
    wrong = moves if moves.ndim == 0 else moves[(moves < 0) | (moves >= MOVES)][0]
    return f"{wrong.item()!r:.60}"


def _final(seen: Seen) -> dict[str, Any]:
    """Return what Gymnasium wants told of the last step where the next episode has begun."""
    last = np.empty(len(seen), object)
    last[:] = list(seen)
    everyone = np.ones(len(seen), np.bool_)
    return {
        "final_obs": last,
        "_final_obs": everyone,
        "final_info": {},
        "_final_info": everyone.copy(),
    }


gymnasium.register(
    ID,
    entry_point="sts.worlds.lambda_star.gym:LambdaStarEnv",
    vector_entry_point="sts.worlds.lambda_star.gym:LambdaStarVectorEnv",
)
