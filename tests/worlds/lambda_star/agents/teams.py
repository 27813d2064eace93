"""Teams for tests: what a rule decides on a grid of rewards, and games of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.domains import load_domain
from sts.engine.lockstep import Rollouts, play_episodes
from sts.engine.session import Team
from sts_lambda_star.agents import team_sight
from sts_lambda_star.agents.reactive import Reactive
from sts_lambda_star.agents.team_sight import TeamSight
from sts_lambda_star.domain import Batch
from sts_lambda_star.state import MOVES, State
from sts_lambda_star.torus import first_move
from tests.worlds.lambda_star.examples import batch_of, state

STAY = MOVES.index("stay")


def grid(height: int, width: int, rewards: dict[tuple[int, int], int]) -> np.ndarray:
    """Return int64[H, W]: rewards in halves by row and column, 0 elsewhere."""
    out = np.zeros((height, width), np.int64)
    for place, reward in rewards.items():
        out[place] = reward
    return out


Cells = Sequence[int] | NDArray[np.int64]


def view_rewards(rewards: np.ndarray, cells: Cells, radius: int = 1) -> np.ndarray:
    """Return int8[R, M]: what roles on `cells` see of a grid of rewards."""
    ways = np.arange(-radius, radius + 1)
    rows, columns = np.divmod(np.array(cells), rewards.shape[1])
    wrapped = rewards[
        (rows[:, None, None] + ways[:, None]) % rewards.shape[0],
        (columns[:, None, None] + ways) % rewards.shape[1],
    ]
    return wrapped.reshape(len(cells), -1).astype(np.int8)


def decided(
    rule: Any,
    rewards: np.ndarray,
    cells: Cells,
    *given: Any,
    draws: np.ndarray | None = None,
    good_next: int = -1,
    radius: int = 1,
) -> list[set[str]]:
    """Return the moves that an agent or its rule leaves each role of one team.

    The agent takes its memory beside the team, and a rule what it is `given`.
    """
    count, (height, width) = len(cells), rewards.shape
    rows, columns = np.divmod(np.array(cells), width)
    around = view_rewards(rewards, cells, radius)[..., None]
    shorts = np.empty((3, count, 1), np.int16)
    team_sight.find_best(around, *shorts[:2])
    good = np.divmod(np.array([good_next]), width)
    team = TeamSight(
        height=np.array([height], np.int16),
        width=np.array([width], np.int16),
        rows=rows[:, None].astype(np.int16),
        columns=columns[:, None].astype(np.int16),
        around=around,
        best=shorts[0],
        top=shorts[1],
        next_rows=good[0].astype(np.int16),
        next_columns=good[1].astype(np.int16),
        heading=np.array([-1], np.int16),
        draws=(np.zeros(count) if draws is None else draws)[:, None],
        sets=shorts[2],
    )
    (rule.decide if isinstance(rule, Reactive) else rule)(team, *given)
    return [name_actions(actions) for actions in team.sets[:, 0].tolist()]


def name_actions(actions: int) -> set[str]:
    return {name for m, name in enumerate(MOVES) if actions >> m & 1}


def to(cell: int, goal: int, rewards: np.ndarray) -> set[str]:
    """Return the one move from `cell` toward `goal` on a grid of rewards."""
    return {MOVES[first_move(cell, goal, *rewards.shape)]}


def start(
    height: int, width: int, *, good: int, evil: int, cells: Sequence[int], **changes
) -> State:
    """Return a world at its start; Good and Evil stand still unless told otherwise."""
    people = len(cells)
    still = (STAY,) if changes.get("kind", "moves") == "moves" else None
    return state(
        **{
            "height": height,
            "width": width,
            "good": good,
            "evil": evil,
            "good_pattern": still or (good,),
            "evil_pattern": still or (evil,),
            "good_cursor": 0,
            "evil_cursor": 0,
            "step": 0,
            "counter": 0,
            "cells": tuple(cells),
            "actions": (-1,) * people,
            "utterances": (0,) * people,
            "rewards": (0,) * people,
            **changes,
        }
    )


def acted(
    agent: agents.Agent, worlds: Batch, players: tuple[int, ...], memory: Any = None
) -> tuple[agents.PolicyOutput, Any]:
    """Return an agent's choice and memory; its planning draws are all 0."""
    seen = worlds.observe(players, team=players, world=agent.sees == "world")
    count = len(worlds.rewards)
    told = agents.Instructions(("",), np.zeros(count, np.int32))
    begun = agent.initial_state(count, len(players)) if memory is None else memory
    return agent.act(seen, told, begun, np.zeros((count, len(players), agent.draws)))


def game(agent: agents.Agent, states: Sequence[State], *, steps: int) -> Rollouts:
    """Plays `agent` in every role of `states`."""
    streams = np.arange(len(states), dtype=np.uint64)
    players = tuple(range(len(states[0].cells)))
    return play_episodes(
        load_domain("lambda-star"), batch_of(states), [Team(agent, players, streams)], steps=steps
    )
