"""Participants, openings, turns, steps and instructions of live sessions."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sts.agents.registry import MAX_WORDING_CHARS
from sts.domains import Domain
from sts.errors import ArgumentError, DamagedData
from sts.live.journal import Event
from sts.names import is_one_line

KINDS = ("human", "agent", "script", "empty")
"""Kinds of participants. A script acts through the same messages as a person, and is called so."""
ROLES = ("setter", "solver", "player")
ACTIVITIES = ("record", "evaluate", "scenario")
MAX_CHARS = MAX_WORDING_CHARS
"""Maximum length of an instruction or a note, in characters."""
MAX_KEY_CHARS = 64
MAX_INSTRUCTIONS = 1000
"""Maximum number of instructions in a session."""


class Participant(NamedTuple):
    """A participant of a session."""

    kind: str  # one of `KINDS`
    # of an agent, or the pseudonym of a person; "" if the player is empty, or for a person who
    # has yet to come
    name: str
    role: str  # one of `ROLES`; a setter asks, a solver acts, and a player may do both
    player: int | None  # the player that they control; None for a person who only sets tasks
    fingerprint: str = ""  # of an agent; else ""
    # how an agent is loaded, such as `module:Class`; "" for one that is loaded by its name
    path: str = ""

    @property
    def acts(self) -> bool:
        """True if they act through messages."""
        return self.kind in ("human", "script")


EMPTY = Participant("empty", "", "player", None)
"""The participant of a player without one."""


class Opening(NamedTuple):
    """The beginning of a session."""

    id: str  # of the session, 24 hex digits
    activity: str  # one of `ACTIVITIES`
    domain: str  # of the world
    state: bytes  # the serialised world
    participants: tuple[Participant, ...]  # at most one for each player, and others without one
    tick: float | None  # seconds from step to step; None if it is turn-based
    max_steps: int  # after which it ends
    scenario: str = ""  # content hash of the scenario that is played, or ""
    study: str = ""  # the name of the study that planned it, or ""
    cell: int = -1  # its number in the plan, or -1
    practice: bool = False  # True if it does not count

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        participants = [participant._asdict() for participant in self.participants]
        state = base64.b64encode(self.state).decode()
        return self._asdict() | {"state": state, "participants": participants}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Opening:
        """Return the opening in a journal's first event; raise DamagedData for another event."""
        try:
            values = {name: fields[name] for name in cls._fields}
            values["participants"] = [Participant(**p) for p in values["participants"]]
            opening = msgspec.convert([*values.values()], cls)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedData(f"expected the opening of a session: {error}") from None
        if any(p.kind not in KINDS for p in opening.participants):
            raise DamagedData(f"expected participants of the kinds {', '.join(KINDS)}")
        return opening


class Turn(NamedTuple):
    """The action of a person at one step: the index of a move, and a token or a text."""

    move: int
    say: int | str


class Step(NamedTuple):
    """One step of P players."""

    actions: NDArray[Any]  # [P, ...], executed
    utterances: NDArray[Any]  # [P], tokens or texts
    rewards: NDArray[Any]  # [P], received after it
    log_probs: NDArray[np.float32]  # float32[P], as in `session.StepResult`


class Told(NamedTuple):
    """An instruction that was given in a session."""

    text: str  # in the words of the setter
    step: int  # the first step at which it can be read
    player: int | None  # the player that it was for; None for several
    by: int  # the number of the participant who gave it
    prompt: str  # the line that the setter was shown, or ""
    typed: str  # "free" for the setter's own words, "completion" for those that the page offered
    key: str = ""  # by which a message that is sent again is recognised, or ""
    mark: str = ""  # one of `sts.episodes.episode.MARKS`, or "" if it was not marked
    marked_at: int | None = None  # the number of steps taken when it was marked, or None


def list_participants(events: Sequence[Event]) -> list[Participant]:
    """List the participants in a journal's events, with the names of those who have come."""
    participants = list(Opening.from_json(events[0]).participants)
    for event in events:
        if event["kind"] == "seated":
            place = event["participant"]
            participants[place] = participants[place]._replace(name=event["name"])
    return participants


def check_participants(participants: Sequence[Participant], players: int, domain: Domain) -> None:
    """Raise ArgumentError unless the participants fit a world with so many players."""
    taken = [p.player for p in participants if p.player is not None]
    fits = len(set(taken)) == len(taken) and all(player < players for player in taken)
    known = all(
        p.kind in KINDS and p.role in ROLES and (p.kind != "agent" or p.player is not None)
        for p in participants
    )
    if not (fits and known):
        raise ArgumentError(
            f"expected participants for the {players} players of {domain.name}, found "
            f"{list(participants)}"
        )
    if not domain.action_names and any(p.acts and p.player is not None for p in participants):
        raise ArgumentError(f"{domain.name} has no named actions for a person to choose")


def check_turn(turn: Turn, domain: Domain) -> None:
    """Raise ArgumentError if a turn is not one of the domain."""
    move, say = turn
    is_move = type(move) is int and 0 <= move < len(domain.action_names)
    tokens = len(domain.tokens)
    is_word = (
        type(say) is int and 0 <= say < tokens
        if tokens
        else isinstance(say, str) and is_one_line(say, MAX_CHARS)
    )
    if not (is_move and is_word):
        raise ArgumentError(f"expected a move and a word of {domain.name}, found {turn}")
