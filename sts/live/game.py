"""A live session: one world that people and agents step together, and its journal.

The caller owns the time: a clock takes a step at every tick, and in turn-based play the turn of a
person does. Whatever changes a session is in its journal before the method returns; an interrupted
session is rebuilt from it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.agents.protocol import Agent
from sts.continuations import human
from sts.continuations.continuation import Identity
from sts.continuations.takeover import make_replay_check, make_script, make_teams
from sts.domains import Worlds, action_space, load_domain, silent_utterances
from sts.engine import session
from sts.engine.session import Actions, StepResult, Team
from sts.episodes.episode import MARKS
from sts.errors import ArgumentError, DamagedData
from sts.live.journal import FORMAT, Event, Journal
from sts.live.types import (
    MAX_CHARS,
    MAX_INSTRUCTIONS,
    MAX_KEY_CHARS,
    Opening,
    Step,
    Told,
    Turn,
    check_participants,
    check_turn,
)
from sts.names import is_one_line, replace_unprintable
from sts.numerics.streams import stream
from sts.suites.suite import Scenario


class Game:
    """A session in progress.

    Attributes:
      opening: how it began.
      domain: of the world.
      participants: with their present roles.
      told: the instructions so far.
      swapped: how many of them were given before the roles were swapped last.
      ended: why it ended, or "".
      steps: what was executed and received at each step.
      scenes: before the first step and after each, uint16[K].
    """

    def __init__(
        self,
        opening: Opening,
        *,
        load_agent: Callable[[str], Agent] | None = agents.load,
        scenario: Scenario | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Build the world and its agents; nothing is written.

        Args:
          opening: of the session.
          load_agent: returns an agent by name; None if the session has ended and no agent acts.
          scenario: whose context is replayed first, if the session plays one.
          clock: returns the time in seconds.

        Raises:
          ArgumentError: the participants do not fit the world, or an agent has changed.
          StsError: the world or an agent cannot be loaded.
        """
        self.opening, self.participants = opening, list(opening.participants)
        self.domain, self.scenario = load_domain(opening.domain), scenario
        self.told: list[Told] = []
        self.swapped = 0
        self.ended = ""
        self.steps: list[Step] = []
        self._clock, self._started = clock, clock()
        worlds = self.domain.restore([opening.state])
        self._n_players = worlds.rewards.shape[1]
        self._utterance_type = silent_utterances(self.domain, (0,)).dtype
        self._players_of_teams: list[int] = []  # of agents that can be told something
        check_participants(self.participants, self._n_players, self.domain)
        if scenario is None:
            self._script, self._check = None, None
            teams = self._make_teams(load_agent)
        else:
            self._script = make_script(self.domain, [scenario])
            self._check = make_replay_check([scenario])
            self._check(-1, worlds)
            teams = make_teams([scenario], None, [self.make_identity()])
        self._session = session.open_session(self.domain, worlds, teams)
        self.scenes = [worlds.scene[0].copy()]
        self._journal: Journal | None = None

    @classmethod
    def start(cls, path: Path, opening: Opening, **settings: Any) -> Game:
        """Start a session with a new journal; `settings` and errors are the constructor's."""
        game = cls(opening, **settings)
        game._journal = Journal(path, new=True)
        started = datetime.fromtimestamp(game._started, UTC).isoformat(timespec="seconds")
        game._log("opened", format=FORMAT, started=started, **game.opening.to_json())
        return game

    @classmethod
    def resume(
        cls, path: Path, *, find_scenario: Callable[[str], Scenario] | None = None, **settings: Any
    ) -> Game:
        """Rebuild a session from its journal, and continue it there.

        Raises:
          DamagedData: the journal was altered, or is not one of a session.
          ReplayMismatch: the world does not do what it did before.
          StsError: as for the constructor.
        """
        journal = Journal(path, new=False)
        with contextlib.ExitStack() as stack:
            stack.callback(journal.close)
            opened, *events = journal.events or [{}]
            if opened.get("kind") != "opened" or opened.get("format") != FORMAT:
                raise DamagedData(f"{path}: expected the journal of a session, found another file")
            opening = Opening.from_json(opened)
            scenario = (
                find_scenario(opening.scenario) if find_scenario and opening.scenario else None
            )
            game = cls(opening, scenario=scenario, **settings)
            game._started = datetime.fromisoformat(opened["started"]).timestamp()
            for event in events:
                game._apply(event)
            stack.pop_all()  # the game closes the journal
        game._journal = journal
        if events and not game.ended:
            game._log("resumed")
        game._end_after_last_step()
        return game

    def make_identity(self) -> Identity:
        """Return the identity of the continuation that a person plays of a scenario."""
        assert self.scenario is not None, "the session plays no scenario"
        (person,) = (p for p in self.participants if p.acts)
        return human.make_identity(self.scenario, person.name)

    @property
    def time(self) -> int:
        """The number of steps taken."""
        return self._session.steps

    @property
    def seconds(self) -> float:
        """The time since the session was opened."""
        return self._clock() - self._started

    def is_forced(self, player: int) -> bool:
        """Return True if the next action of a player is the recorded one of a scenario."""
        if self._script is None or self.time == self._script.actions.shape[1]:
            return False
        return bool(self._script.forced[0, self.time, player])

    @property
    def silence(self) -> int | str:
        """The utterance that says nothing."""
        return 0 if self.domain.tokens else ""

    def step(self, turns: Mapping[int, Turn], late_ms: float = 0.0) -> None:
        """Take one step with the turns of people, by player; those without one do nothing.

        Raises:
          ArgumentError: the session has ended, or a turn is not of this world.
          StsError: an agent failed.
          Unavailable: the journal cannot be written; the session cannot continue.
        """
        self._require_open()
        given, held, missed = self._collect(turns)
        done = self._session.step(given, held)
        self._keep(done)
        self._log(
            "step",
            sync=False,
            t=self.time - 1,
            actions=done.actions[0].tolist(),
            utterances=done.utterances[0].tolist(),
            missed=missed,
            late_ms=round(late_ms),
        )
        self._end_after_last_step()

    def tell(
        self, by: int, text: str, *, prompt: str = "", typed: str = "free", key: str = ""
    ) -> None:
        """Give an instruction of participant `by` to those who act on it.

        These are the solvers; without one, all others. See `Told` for the other arguments. One
        that was given under this key before is not given again.

        Raises:
          ArgumentError: the session has ended, `by` is a solver, or the text is unusable.
        """
        if key and any((told.by, told.key) == (by, key) for told in self.told):
            return
        self._require_open()
        text = replace_unprintable(text)
        if self.participants[by].role == "solver":
            raise ArgumentError("Only the setter gives instructions.")
        if not text or not is_one_line(text, MAX_CHARS):
            raise ArgumentError(f"An instruction has 1 to {MAX_CHARS} characters, in one line.")
        if len(self.told) == MAX_INSTRUCTIONS:
            raise ArgumentError(f"A session has at most {MAX_INSTRUCTIONS} instructions.")
        if typed not in ("free", "completion"):
            raise ArgumentError(f"expected free or completion, found {typed!r}")
        if not (is_one_line(prompt, MAX_CHARS) and is_one_line(key, MAX_KEY_CHARS)):
            raise ArgumentError("The prompt or the key of this message is too long.")
        solvers = [i for i, one in enumerate(self.participants) if one.role == "solver"]
        to = solvers or [i for i in range(len(self.participants)) if i != by]
        players = [p for i in to if (p := self.participants[i].player) is not None]
        self._change(
            "told",
            t=self.time,
            text=text,
            to=players,
            by=by,
            prompt=prompt,
            typed=typed,
            key=key,
        )

    def mark(self, by: int, instruction: int, mark: str, note: str = "") -> None:
        """Mark an instruction; a later mark replaces an earlier one.

        Raises:
          ArgumentError: participant `by` may not mark it, or the mark or note is unusable.
        """
        if not 0 <= instruction < len(self.told):
            raise ArgumentError("This instruction does not exist.")
        if self.told[instruction].by != by:
            raise ArgumentError("Only the person who gave an instruction can mark it.")
        if mark not in MARKS:
            raise ArgumentError(f"expected a mark of {', '.join(MARKS)}, found {mark!r}")
        note = replace_unprintable(note)
        if not is_one_line(note, MAX_CHARS):
            raise ArgumentError(f"A note has at most {MAX_CHARS} characters.")
        self._change("marked", t=self.time, instruction=instruction, mark=mark, by=by, note=note)

    def swap(self) -> None:
        """Swap the roles of setter and solver; raise ArgumentError if one of them cannot act."""
        self._require_open()
        roles = [p.role for p in self.participants if p.role != "player"]
        if sorted(roles) != ["setter", "solver"] or any(
            p.player is None or not p.acts for p in self.participants if p.role != "player"
        ):
            raise ArgumentError("Roles can be swapped only by two people who both play.")
        swapped = {"setter": "solver", "solver": "setter", "player": "player"}
        self._change("swapped", roles=[swapped[p.role] for p in self.participants])

    def seat(self, participant: int, name: str) -> None:
        """Give a free place to a person; raise ArgumentError if it is taken."""
        self._require_open()
        taken = self.participants[participant]
        if taken.name or not taken.acts or any(p.name == name for p in self.participants):
            raise ArgumentError("This place in the session is taken.")
        self._change("seated", participant=participant, name=name)

    def note_presence(self, kind: str, participant: int) -> None:
        """Record that a participant has `joined` or `left`."""
        if not self.ended:
            self._log(kind, t=self.time, participant=participant)

    def note_stored(self, record: str) -> None:
        """Record that the session's record is stored, under this id, "" for no record."""
        self._log("stored", record=record)

    def end(self, reason: str, error: str = "") -> None:
        """End the session; a second call does nothing."""
        if not self.ended:
            self._change("ended", t=self.time, reason=reason, error=error)

    def close(self) -> None:
        """Close the journal; the session can be resumed."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def look(self, player: int | None) -> dict[str, Any]:
        """Return what a player may see now, as JSON; for None, what annotators see."""
        worlds = self._session.worlds
        if player is None:
            return {"kind": "scene", "scene": worlds.scene[0].tolist()}
        return self.domain.player_view(worlds, player)

    @property
    def worlds(self) -> Worlds:
        """The world, as a batch of one; do not step it."""
        return self._session.worlds

    def _end_after_last_step(self) -> None:
        """End the session if no step is left; a process may have ended in between."""
        if self.time == self.opening.max_steps:
            self.end("finished")

    def _require_open(self) -> None:
        if self.ended:
            raise ArgumentError("This session has ended.")

    def _make_teams(self, load_agent: Callable[[str], Agent] | None) -> list[Team]:
        """Return a team for each agent, and note its fingerprint in the opening."""
        teams, players = [], []
        for i, participant in enumerate(self.participants):
            if load_agent and participant.kind == "agent" and participant.player is not None:
                agent = load_agent(participant.path or participant.name)
                fingerprint = agents.fingerprint(agent)
                if participant.fingerprint not in ("", fingerprint):
                    raise ArgumentError(
                        f"agent {participant.name!r} has changed since this session was planned"
                    )
                self.participants[i] = participant._replace(fingerprint=fingerprint)
                streams = np.array([stream("live", self.opening.id, i)], np.uint64)
                teams.append(Team(agent, (participant.player,), streams))
                players.append(participant.player)
        self._players_of_teams = players
        self.opening = self.opening._replace(participants=tuple(self.participants))
        return teams

    def _collect(self, turns: Mapping[int, Turn]) -> tuple[Actions, NDArray[np.bool_], list[int]]:
        """Return the actions of a step, bool[P] of held players, and the players without a turn."""
        size = (1, self._n_players)
        actions = action_space(self.domain).fill(size, self.domain.noop)
        utterances = silent_utterances(self.domain, size)
        held = np.zeros(self._n_players, np.bool_)
        if self._script is not None:
            given, forced = self._script.actions_at(self.time, 1)
            actions, utterances = given.actions.copy(), given.utterances.copy()
            held = forced[0].copy()
        missed = []
        for participant in self.participants:
            player = participant.player
            if not participant.acts or player is None or held[player]:
                continue
            held[player] = True
            if (turn := turns.get(player)) is None:
                missed.append(player)
            else:
                check_turn(turn, self.domain)
                actions[0, player], utterances[0, player] = turn
        return Actions(actions, utterances), held, missed

    def _keep(self, done: StepResult) -> None:
        """Keep what a step has done; check a replayed one."""
        worlds = self._session.worlds
        if self._check is not None:
            self._check(self.time - 1, worlds)
        arrays = (done.actions, done.utterances, worlds.rewards, done.log_probs)
        self.steps.append(Step(*(array[0].copy() for array in arrays)))
        self.scenes.append(worlds.scene[0].copy())

    def _change(self, kind: str, **fields: Any) -> None:
        """Write an event, and then apply it."""
        self._log(kind, **fields)
        self._apply({"kind": kind, **fields})

    def _log(self, kind: str, **fields: Any) -> None:
        assert self._journal is not None, "this session is closed"
        self._journal.append(kind, at=round(self._clock() - self._started, 3), **fields)

    def _apply(self, event: Event) -> None:
        """Apply an event, of this session or of its journal."""
        kind = event["kind"]
        if kind == "step":
            utterances = np.array([event["utterances"]], self._utterance_type)
            actions = np.array([event["actions"]], action_space(self.domain).dtype)
            done = self._session.step(Actions(actions, utterances), range(self._n_players))
            self._keep(done)
        elif kind == "told":
            for team, player in enumerate(self._players_of_teams):
                if player in event["to"]:
                    self._session.tell(0, event["text"], team)
            to = event["to"][0] if len(event["to"]) == 1 else None
            fields = (event[name] for name in ("by", "prompt", "typed", "key"))
            self.told.append(Told(event["text"], event["t"], to, *fields))
        elif kind == "marked":
            before = self.told[event["instruction"]]
            after = before._replace(mark=event["mark"], marked_at=event["t"])
            self.told[event["instruction"]] = after
        elif kind == "swapped":
            pairs = zip(self.participants, event["roles"], strict=True)
            self.participants = [p._replace(role=role) for p, role in pairs]
            self.swapped = len(self.told)
        elif kind == "seated":
            place = event["participant"]
            self.participants[place] = self.participants[place]._replace(name=event["name"])
        elif kind == "ended":
            self.ended = event["reason"]
