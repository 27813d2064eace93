"""Our behaviours compared with the published program's recorded episodes, move by move.

Each behaviour is led through every recorded episode of its team: it sees what that team saw, its
own answer is compared with the move that was recorded, and the recorded move is made. A move is
possible when the behaviour gives it some chance; the moves among which chance decided are then
tested for the chances that the behaviour gives them.

Some planning draws are random too (which of several best cells to make for). Each episode is then
played for an even grid of such draws: a move is possible if it follows from one of them, and its
chance is the share of those from which it does.

Where the program differs from our behaviour in a way that docs/lambdastar_2016.md explains, the
difference is carried here (a quirk) and cited by that page's section; `quirks=False` leaves it out.

Source: the program of Chmait et al. 2016, github.com/nader-chmait/LambdaStar.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents.protocol import Agent, Instructions, Memory
from sts.domains.random import Random
from sts.engine.replay import verify
from sts.errors import ReplayMismatch
from sts.trajectories.trajectory import Trajectory
from sts_lambda_star import state as states
from sts_lambda_star.agents.bidding import Bidding
from sts_lambda_star.agents.binary_tree import BinaryTree
from sts_lambda_star.agents.dictatorship import Dictatorship
from sts_lambda_star.agents.imitation import Imitation
from sts_lambda_star.agents.local_search import LocalSearch
from sts_lambda_star.agents.oracle import Oracle
from sts_lambda_star.agents.stigmergy import Stigmergy
from sts_lambda_star.agents.wisdom_of_the_crowd import WisdomOfTheCrowd
from sts_lambda_star.domain import LambdaStar, Observation
from sts_lambda_star.published import importer
from sts_lambda_star.published.importer import TEAMS
from tests.reproduction.published_program.places import Place, read_places
from tests.reproduction.published_program.uniformity import Outcome, uniformity

PLANS = 504  # so ties of up to 504 are all met, and their chances are right to 1 in 504
FIRST_SIGHT = "3.1 first sight (main:299-301)"


class Behaviour(NamedTuple):
    """A behaviour of ours and the team of the program that should move as it does."""

    team: str  # the program's name for it
    ours: Agent
    published: Agent  # with the program's quirks
    label: str = ""  # of `published`, with the parameter that carries a quirk, if not `ours`
    cites: tuple[str, ...] = (FIRST_SIGHT,)  # sections of docs/lambdastar_2016.md on the quirks
    joint: bool = False  # the planning draw is one for the whole team, so its moves hang together

    @property
    def name(self) -> str:
        return TEAMS[self.team]


_RANDOM = Random().bind_domain(LambdaStar())
BEHAVIOURS = (
    Behaviour("random", _RANDOM, _RANDOM, cites=()),
    Behaviour("local_search", LocalSearch(), LocalSearch()),
    Behaviour(
        "fr",
        Stigmergy(),
        Stigmergy(marks="lasting"),
        label="stigmergy, marks=lasting",
        cites=(FIRST_SIGHT, "7 FR (FrLocalSearch:16-60)"),
    ),
    Behaviour("woc", WisdomOfTheCrowd(), WisdomOfTheCrowd()),
    Behaviour("bidding", Bidding(), Bidding(), joint=True),
    Behaviour("dictator", Dictatorship(), Dictatorship(), joint=True),
    Behaviour(
        "binary_tree",
        BinaryTree(),
        LocalSearch(),
        label="local-search",
        cites=(FIRST_SIGHT, "7 binary tree (main:376)"),
    ),
    Behaviour("oracle", Oracle(), Oracle(), cites=()),
    Behaviour(
        "imitative",
        Imitation(),
        Imitation(guide="each-role"),
        label="imitation, guide=each-role",
        cites=(FIRST_SIGHT, "2 guide (main:139)", "7 imitative (main:383-384)"),
    ),
)


class Recording(NamedTuple):
    """B episodes of one team of P players, of T steps each and on grids of one size."""

    places: tuple[Place, ...]
    starts: tuple[states.State, ...]
    actions: NDArray[np.int8]  # [B, T, P]


def read(
    paths: Sequence[Path], *, progress: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, list[Recording]]:
    """Return each team's recordings, by the program's name for it; equal sizes stand together."""
    alike: dict[Any, list[tuple[Place, states.State, NDArray[np.int8]]]] = defaultdict(list)
    for done, path in enumerate(paths, 1):
        trajectories = iter(_replayed(path))
        for place in read_places(path):
            for team, trajectory in zip(TEAMS, trajectories, strict=False):
                start, actions = states.decode(trajectory.episode.state), trajectory.episode.actions
                alike[team, start.height, *actions.shape].append((place, start, actions))
        progress(done, len(paths))
    out: dict[str, list[Recording]] = defaultdict(list)
    for (team, *_), members in alike.items():
        places, starts, every = zip(*members, strict=True)
        out[team].append(Recording(places, starts, np.stack(every)))
    return out


def _replayed(path: Path) -> list[Trajectory]:
    trajectories = importer.read(path)
    found = verify([t.episode for t in trajectories])
    for trajectory, wrong in zip(trajectories, found, strict=True):
        if wrong:
            raise ReplayMismatch(f"{trajectory.source}: {wrong.description}", step=wrong.step)
    return trajectories


class Impossible(NamedTuple):
    """A recorded move to which our behaviour gives no chance; `step` counts from 1."""

    file: str
    line: int
    episode: int
    step: int
    participant: int
    move: str
    expected: tuple[str, ...]


class Checked(NamedTuple):
    """What became of the actions of one behaviour."""

    behaviour: str
    agent: str  # that was asked, with the parameter that carries a quirk
    actions: int
    possible: int  # actions that had a chance
    choices: int  # independent ones among several actions, or targets of a whole team
    p: float | None  # of the recorded choices under the agent's chances; None without any
    explained: tuple[str, ...]  # sections of docs/lambdastar_2016.md on what the program does
    first: Impossible | None  # the first move that had no chance


def check(behaviour: Behaviour, recordings: Sequence[Recording], *, quirks: bool = True) -> Checked:
    """Return what became of the recorded moves of the behaviour's team.

    Without quirks our agent is asked as it is, and shown what stands on the map at every step.
    """
    agent = behaviour.published if quirks else behaviour.ours
    outcomes: list[Outcome] = []
    first, actions, possible = None, 0, 0
    for recording in recordings:
        led = _lead(agent, recording, behaviour, quirks)
        outcomes += led.outcomes
        actions, possible = actions + led.possible.size, possible + int(led.possible.sum())
        first = first or _find_impossible_move(recording, led)
    choices = sum(len(o.chances) > 1 for o in outcomes)
    label = behaviour.label if quirks and behaviour.label else agent.name
    p, cites = uniformity(outcomes), behaviour.cites
    return Checked(behaviour.name, label, actions, possible, choices, p, cites, first)


class _Led(NamedTuple):
    expected: NDArray[np.bool_]  # [B, T, P, 9], the moves that had a chance
    possible: NDArray[np.bool_]  # [B, T, P], whether the recorded one had
    outcomes: list[Outcome]  # what was chosen among several


def _lead(agent: Agent, recording: Recording, behaviour: Behaviour, quirks: bool) -> _Led:
    """Leads the agent through the recorded episodes."""
    batch, steps, people = recording.actions.shape
    worlds = LambdaStar().restore([states.encode(start) for start in recording.starts])
    players, each = range(people), np.arange(batch)
    memory = agent.initial_state(batch, people)
    if quirks and behaviour.name == Imitation.name:
        memory = {"guide": np.array([[place.guide] for place in recording.places])}
    expected = np.empty((*recording.actions.shape, len(states.MOVES)), np.bool_)
    outcomes: list[Outcome] = []
    for t in range(steps):
        actions = recording.actions[:, t]
        seen = worlds.observe(players, team=players, world=agent.sees == "world")
        if quirks and t == 0 and FIRST_SIGHT in behaviour.cites:
            seen = _first_sight(seen)
        chances, after = _answers(agent, seen, memory)
        plan = (_take_values(actions[:, None], chances) > 0).sum(-1).argmax(-1)
        if behaviour.joint:
            expected[:, t] = chances[each, plan] > 0
            outcomes += _joint(chances, actions)
        else:
            expected[:, t] = (chances > 0).any(1)
            outcomes += _single(chances, actions)
        memory = {name: kept[each, plan] for name, kept in after.items()}
        worlds.step(actions, np.zeros_like(actions))
    return _Led(expected, _take_values(recording.actions, expected), outcomes)


def _answers(agent: Agent, seen: Observation, memory: Memory) -> tuple[NDArray[np.float64], Memory]:
    """Return the chances float64[B, N, P, 9] of moves under each of N plans, and the memories.

    A plan is one planning draw for all roles: none of our behaviours joins the draws of two roles
    in one move. An agent without such draws has one plan.
    """
    batch, people = seen.cell.shape
    plans = PLANS if agent.draws else 1
    draws = np.tile((np.arange(plans) + 0.5) / plans, batch)
    silent = Instructions(("",), np.zeros(draws.size, np.int32))
    choice, after = agent.act(
        _repeated(seen, plans),
        silent,
        {name: np.repeat(kept, plans, 0) for name, kept in memory.items()},
        np.broadcast_to(draws[:, None, None], (draws.size, people, agent.draws)),
    )
    weights = choice.actions.reshape(batch, plans, people, len(states.MOVES))
    chances: NDArray[np.float64] = weights / weights.sum(-1, keepdims=True)
    return chances, {k: v.reshape(batch, plans, *v.shape[1:]) for k, v in after.items()}


def _take_values(actions: NDArray[np.int8], values: NDArray[Any]) -> NDArray[Any]:
    """Return what `values` [..., 9] have for `actions` [...], which broadcast."""
    wanted = np.broadcast_to(actions, values.shape[:-1])[..., None]
    return np.take_along_axis(values, wanted.astype(np.int64), -1)[..., 0]


def _first_sight(seen: Observation) -> Observation:
    """Return what the program shows at first: Good and Evil both on cell 0 (section 3.1)."""
    there = seen.surroundings == 0
    return replace(seen, good=there, evil=there, reward=-there.astype(np.int8))


def _repeated(seen: Observation, times: int) -> Observation:
    """Return the observation with each episode `times` in a row."""
    given = {f.name: getattr(seen, f.name) for f in fields(seen)}
    held = {k: np.repeat(v, times, 0) for k, v in given.items() if v is not None}
    return replace(seen, **held)


def _single(chances: NDArray[np.float64], actions: NDArray[np.int8]) -> list[Outcome]:
    """Return each role's choice, in the order of the plans that lead to its moves, then of moves.

    What no plan leads to is no choice, and is left out.
    """
    share = chances.mean(1)
    order = np.where(share > 0, (chances > 0).argmax(1), chances.shape[1]).argsort(-1, stable=True)
    rank = _take_values(actions, order.argsort(-1))
    known = _take_values(actions, share) > 0
    ordered = np.take_along_axis(share, order, -1)
    return [
        Outcome(tuple(row[row > 0].tolist()), int(taken))
        for row, taken in zip(ordered[known], rank[known], strict=True)
    ]


def _joint(chances: NDArray[np.float64], actions: NDArray[np.int8]) -> list[Outcome]:
    """Return each team's choice among the moves that its plans lead to, one a role and plan."""
    planned = chances.argmax(-1).astype(np.int8)
    out = []
    for plans, made in zip(planned, actions, strict=True):
        counts = Counter(plan.tobytes() for plan in plans)
        if made.tobytes() in counts:
            share = tuple(n / len(plans) for n in counts.values())
            out.append(Outcome(share, list(counts).index(made.tobytes())))
    return out


def _find_impossible_move(recording: Recording, led: _Led) -> Impossible | None:
    wrong = np.argwhere(~led.possible)
    if not wrong.size:
        return None
    b, t, p = wrong[0].tolist()
    place, made = recording.places[b], states.MOVES[recording.actions[b, t, p]]
    expected = tuple(states.MOVES[m] for m in np.flatnonzero(led.expected[b, t, p]))
    return Impossible(place.file, place.lines[t + 1], place.episode, t + 1, p, made, expected)
