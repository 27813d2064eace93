"""Rule agent: it parses the instruction by keywords and follows it by fixed rules."""

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Agent, Draws, Instructions, Memory, PolicyOutput
from sts_lambda_star.agents import instruction_state
from sts_lambda_star.agents.instructions import ParsedInstructions, parse_instructions
from sts_lambda_star.agents.local_search import LocalSearch
from sts_lambda_star.domain import Observation
from sts_lambda_star.kernels import Ints
from sts_lambda_star.state import MOVES, TOKENS
from sts_lambda_star.torus import STAY, first_move, move_cell, shortest_offset

_DIRECTIONS = np.array([TOKENS.index(move) for move in MOVES])
_YES, _NO = TOKENS.index("yes"), TOKENS.index("no")
_SWEEP = 3
_UNDECIDED = -1
_UNKNOWN = -1


class Rule(Agent):
    """Agent that follows instructions and answers questions by rules, or else does local search.

    It remembers the cells where it last saw Good, Evil and another player, and forgets one
    when that cell is in sight and empty. To reach, follow or join, it takes a shortest path to that
    cell, or, if it knows none, sweeps the torus in bands as wide as its sight. It cannot
    distinguish other players, and joins the one it saw last. To avoid Evil it moves as far as
    possible from Evil's last known cell. It walks the given distance, then stands still. It answers
    a question with one word, from what it sees or remembers, and then stays silent; if it does not
    know the answer it says nothing.

    A baseline of this project's own, simple on purpose: it learns no pattern.
    """

    name = "rule"
    version = "1"
    domain = "lambda-star"

    def initial_state(self, batch: int, players: int) -> Memory:
        """Return the memory before the first step."""
        unknown = np.full((batch, players), _UNKNOWN, np.int64)
        places = {"good": unknown, "evil": unknown.copy(), "mate": unknown.copy()}
        searched = np.zeros((batch, players), np.int64)
        return {**places, "searched": searched, **instruction_state.initial_memory(batch, players)}

    def act(
        self, observation: Observation, instructions: Instructions, memory: Memory, draws: Draws
    ) -> tuple[PolicyOutput, Memory]:
        """Return the move and answer that the current instruction asks for."""
        tasks, memory = parse_instructions(instructions), _update_places(observation, memory)
        step, memory = instruction_state.continue_walk(tasks, observation, memory)
        owed, memory = instruction_state.find_open_questions(tasks, observation, memory)
        joining = tasks.is_task("join-teammate")
        seeking = tasks.is_task("reach-good", "follow-good") | joining
        goal = np.where(joining, memory["mate"], memory["good"])
        lost = seeking & (goal == _UNKNOWN)
        sweep = sweep_move(memory["searched"], observation)
        memory = memory | {"searched": np.where(lost, memory["searched"] + 1, 0)}
        still = tasks.is_task("stand-still", "where-is-good", "evil-in-sight")
        decided = np.select(
            [still, tasks.is_task("walk"), lost, seeking],
            [STAY, step, sweep, _move_to(observation, goal) if seeking.any() else STAY],
            _UNDECIDED,
        )
        free = LocalSearch().act(observation, instructions, {}, draws)[0].actions
        if (avoiding := tasks.is_task("avoid-evil")).any():
            free = np.where(avoiding[..., None], _weigh_escape(observation, memory["evil"]), free)
        actions = np.where((decided == _UNDECIDED)[..., None], free, np.eye(len(MOVES))[decided])
        utterances = np.where(owed, _answer(tasks, observation, memory) if owed.any() else 0, 0)
        return PolicyOutput(actions, np.eye(len(TOKENS))[utterances]), memory


def _update_places(seen: Observation, memory: Memory) -> Memory:
    """Return the memory updated with the things in sight."""
    cells = seen.surroundings
    people = seen.team.astype(np.int64) + seen.others > 0
    return memory | {
        "good": _update_place(memory["good"], seen.good, cells),
        "evil": _update_place(memory["evil"], seen.evil, cells),
        "mate": _update_place(memory["mate"], people, cells),
    }


def _update_place(known: Ints, flags: NDArray[np.bool_], seen: Ints) -> Ints:
    """Return the updated last known cell of a thing, int64[B, R], or `_UNKNOWN`.

    Of several cells in `flags`, bool[B, R, M], the middle one has priority; a known cell that is in
    sight and empty is forgotten.
    """
    middle = flags.shape[-1] // 2
    first = np.where(flags[..., middle], middle, flags.argmax(-1))
    now = np.take_along_axis(seen, first[..., None], -1)[..., 0]
    gone = (seen == known[..., None]).any(-1)
    return np.where(flags.any(-1), now, np.where(gone, _UNKNOWN, known))


def _move_to(seen: Observation, goal: Ints) -> Ints:
    actions: Ints = first_move(seen.cell, goal, seen.height[:, None], seen.width[:, None])
    return actions


def sweep_move(searched: Ints, seen: Observation) -> Ints:
    """Return the next move of a sweep: once round downwards, then diagonally to new columns."""
    around = np.maximum(seen.height[:, None], _SWEEP + 1)
    sideways = searched % around >= around - _SWEEP
    return np.where(sideways, MOVES.index("down-right"), MOVES.index("down"))


def _weigh_escape(seen: Observation, evil: Ints) -> NDArray[np.float64]:
    """Return equal weights over the moves that lead farthest from Evil's last known cell.

    Among cells at equal distance those off Evil's row and column are safer.
    """
    size = seen.height[:, None, None], seen.width[:, None, None]
    landing = move_cell(seen.cell[..., None], np.arange(len(MOVES)), *size)
    way = shortest_offset(evil[..., None], landing, *size)
    safety = np.maximum(abs(way.rows), abs(way.columns)) * 1000 + abs(way.rows) + abs(way.columns)
    stay = np.arange(len(MOVES)) == STAY
    farthest: NDArray[np.bool_] = safety == safety.max(-1, keepdims=True)
    return np.where((evil == _UNKNOWN)[..., None], stay, farthest).astype(np.float64)


def _answer(tasks: ParsedInstructions, seen: Observation, memory: Memory) -> Ints:
    good = memory["good"]
    direction = _DIRECTIONS[_move_to(seen, good)]
    good_direction = np.where(good == _UNKNOWN, 0, direction)
    return np.where(
        tasks.is_task("evil-in-sight"), np.where(seen.evil.any(-1), _YES, _NO), good_direction
    )
