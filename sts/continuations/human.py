"""Continuations played by a person, who takes over at a scenario's takeover point.

The person sees the agents' observation and nothing else, or all that an annotator sees if the
domain does not distinguish the two; the continuation then counts as a baseline. A turn takes one
step of the world, whatever its number. A play is a list of moves and tokens from which everything
else follows, so one that was lost with its process is replayed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sts.continuations import store
from sts.continuations.takeover import compute_shape, make_replay_check, make_script, make_teams
from sts.continuations.types import HUMAN, Continuation, Identity, make_continuation
from sts.domains import Worlds
from sts.domains import load_domain as find_domain
from sts.engine import session
from sts.episodes import Episode
from sts.errors import ArgumentError
from sts.provenance import collect_provenance
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario


class Turn(NamedTuple):
    """A person's action at one step: the index of a move, and of a token (0 is silence)."""

    move: int
    say: int


def person_fingerprint(person: str) -> str:
    """Return the fingerprint that stands for a person in the identity of a continuation."""
    return content_hash(b"person", person.encode())[:16]


def make_identity(scenario: Scenario, person: str, attempt: int) -> Identity:
    """Return the identity of a person's `attempt`-th continuation of a scenario, from 0."""
    return Identity(scenario.hash, HUMAN, person_fingerprint(person), 0, attempt)


class Play:
    """A continuation in progress: a session that waits for the person's next turn.

    Entry f of `frames` is the person's observation, as JSON, before step f of the context.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        person: str,
        attempt: int,
        look: Callable[[int, Worlds], None] = lambda frame, worlds: None,
    ) -> None:
        """Replay the context up to the first turn of the person's `attempt`-th try.

        `look` is called with the number of each frame and the worlds at that frame.

        Raises:
          ArgumentError: the scenario evaluates a team, or its world has no named moves to choose
            from.
          ReplayMismatch: its context does not replay.
        """
        if len(scenario.players) != 1:
            raise ArgumentError(
                f"scenario {scenario.id} evaluates a team, and a person can play only one role"
            )
        self.scenario, self.identity = scenario, make_identity(scenario, person, attempt)
        self._domain = find_domain(scenario.recording.domain)
        if not (self._domain.action_names and self._domain.tokens):
            missing = "tokens" if self._domain.action_names else "named actions"
            raise ArgumentError(
                f"scenario {scenario.id}: {scenario.recording.domain} has no {missing} "
                "from which a person could choose"
            )
        self.turns: list[Turn] = []
        self.frames: list[dict[str, Any]] = []
        self._look = look
        form, worlds = compute_shape(scenario), self._domain.restore([scenario.recording.state])
        self._script = make_script(self._domain, form, [scenario])
        self._watch = make_replay_check([scenario], scenario.takeover)
        self._watch(-1, worlds)
        self._session = session.open_session(
            self._domain, worlds, make_teams(form, None, [self.identity])
        )
        self._scenes = [worlds.scene[0]]
        self._steps: list[tuple[Any, ...]] = []
        self._see()
        for _ in range(scenario.takeover):
            self._step()

    @property
    def is_finished(self) -> bool:
        """True if the person has made their last turn."""
        return len(self.turns) == self.scenario.horizon

    def take(self, turn: Turn) -> None:
        """Take one step of the world with the person's turn; `ArgumentError` if it is invalid."""
        actions, tokens = self._domain.action_names, self._domain.tokens
        horizon = self.scenario.horizon
        if self.is_finished or not (0 <= turn.move < len(actions) and 0 <= turn.say < len(tokens)):
            raise ArgumentError(f"expected at most {horizon} turns of known moves and tokens")
        step, (player,) = self._session.steps, self.scenario.players
        self._script.actions[0, step, player], self._script.utterances[0, step, player] = turn
        self._script.forced[step, player] = True
        self._step()
        self.turns.append(turn)

    def view(self, first: int = 0) -> dict[str, Any]:
        """Return what the person sees, as JSON, with the frames from number `first` on.

        Each instruction holds from the frame at which it is given.
        """
        scenario = self.scenario
        return {
            "first": first,
            "frames": self.frames[first:],
            "turns": [list(turn) for turn in self.turns[max(0, first - scenario.takeover - 1) :]],
            "takeover": scenario.takeover,
            "horizon": scenario.horizon,
            "played": len(self.turns),
            "instructions": [
                {"text": i.text, "given_at": i.given_at} for i in scenario.instructions
            ],
            "kind": scenario.kind,
            "moves": list(self._domain.action_names),
            "tokens": list(self._domain.tokens),
            "finished": self.is_finished,
        }

    def finish(self, workspace: Workspace, *, seconds: float) -> Continuation:
        """Save the continuation and return it; a second call returns the one saved first."""
        scenario, recording = self.scenario, self.scenario.recording
        if not self.is_finished:
            raise ArgumentError(f"expected {scenario.horizon} turns, found {len(self.turns)}")
        actions, utterances, log_probs, rewards = map(np.stack, zip(*self._steps, strict=True))
        scene = np.stack(self._scenes)
        played = make_continuation(
            scenario,
            self.identity,
            Episode(recording.domain, recording.state, actions, utterances, rewards, scene),
            log_probs=log_probs[:, scenario.players],
            sees=self._domain.sees,
            deterministic=False,
            seconds=seconds,
            provenance=collect_provenance(),
        )
        (continuation,) = store.save(workspace, [played])
        return continuation

    def _step(self) -> None:
        step, worlds = self._session.steps, self._session.worlds
        done = self._session.step(*self._script.actions_at(step))
        self._watch(step, worlds)
        self._steps.append((*(array[0] for array in done), worlds.rewards[0].copy()))
        self._scenes.append(worlds.scene[0])
        self._see()

    def _see(self) -> None:
        self._look(len(self.frames), self._session.worlds)
        self.frames.append(self._domain.player_view(self._session.worlds, self.scenario.players[0]))
