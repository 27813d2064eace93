"""The part of the annotation store that knows who takes part, and lets them in."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sts.annotations import addresses, consent, members, people, sessions
from sts.annotations.database import Database
from sts.annotations.types import Annotator
from sts.errors import ArgumentError
from sts.names import printable


class Membership:
    """The people of a workspace, their invitations, sessions and consent.

    Attributes:
      database: where they are kept.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        """Takes over `database`; `clock` gives UTC seconds."""
        self.database = database
        self._clock = clock

    def add_annotator(
        self, name: str, roles: Collection[str] = ("annotator",), email: str | None = None
    ) -> Annotator:
        """Adds a person, who is invited; see `invite`. With an address they can sign in as well.

        Raises:
          ArgumentError: the name is taken, or not 1 to 64 printable characters; or the address is
            none, or somebody else's.
        """
        now = self._clock()
        with self.database.write(alone=True) as connection:
            person = people.add(connection, name, now=now, doing=roles)
            if email is not None:
                addresses.keep(connection, person.id, email)
            return people.invite(connection, person.name, now=now)

    def set_role(self, name: str, role: str, *, held: bool = True) -> Annotator:
        """Gives a person a role, or takes it away; who no longer judges frees what waits for them.

        Raises:
          UnknownName: there is no such person, or no such role.
        """
        with self.database.write(alone=True) as connection:
            return people.set_role(connection, name, role, held=held, now=self._clock())

    def invite(self, name: str) -> Annotator:
        """Invites a person; the `token` of the result is shown once, since only its hash is kept.

        An invitation that they have not spent ends, their sessions go on; who was retired is back.

        Raises:
          UnknownName: there is no such person.
        """
        with self.database.write(alone=True) as connection:
            return people.invite(connection, name, now=self._clock())

    def invitation(self, token: str) -> sessions.Invitation | None:
        """Whom a token invites, and why it no longer does; None for an unknown token."""
        with self.database.read() as connection:
            return sessions.invitation(connection, token, now=self._clock())

    def enter(self, token: str, held: str = "") -> str:
        """Spend an invitation and begin a session; return its secret, kept as a hash alone.

        The session with the secret `held` ends if it is another person's; see `sessions.begin`.

        Raises:
          ArgumentError: it was spent before, has lapsed, or is none.
        """
        with self.database.write(alone=True) as connection:
            return sessions.enter(connection, token, now=self._clock(), held=held)

    def set_email(self, name: str, email: str | None) -> Annotator:
        """Has a person sign in by an e-mail address in place of any other; None: by none.

        Raises:
          ArgumentError: it is none, or somebody else's.
          UnknownName: there is no such person.
        """
        with self.database.write(alone=True) as connection:
            person = people.named(connection, name)
            if email is None:
                addresses.remove(connection, person.id)
            else:
                addresses.keep(connection, person.id, email)
            return person

    def emails(self) -> dict[int, str]:
        """The address that each person signs in by, by their number; who has none is not there."""
        with self.database.read() as connection:
            return addresses.of_everybody(connection)

    def begin_session(self, name: str, held: str = "") -> str:
        """Begin a session of a person and return its secret; `held` as in `enter`.

        Raises:
          UnknownName: there is no such person.
        """
        with self.database.write(alone=True) as connection:
            number = people.named(connection, name).id
            return sessions.begin(connection, number, now=self._clock(), held=held)

    def sign_in(self, email: str, held: str = "") -> str:
        """Begin a session of the person who signs in by an address, which a provider has verified.

        Return its secret, kept as a hash alone; `held` as in `enter`.

        Raises:
          ArgumentError: nobody does, or they have retired.
        """
        with self.database.write(alone=True) as connection:
            number = addresses.holder(connection, email)
            if number is None:
                raise ArgumentError(
                    f"Nobody takes part in this study as {printable(email)}. Ask whoever leads it "
                    "to add that address, or sign in with another."
                )
            return sessions.begin(connection, number, now=self._clock(), held=held)

    def annotator_by_session(self, secret: str) -> Annotator | None:
        """Whose session this is, which lasts longer by it; None for none, or one that has ended."""
        now = self._clock()
        with self.database.read() as connection:
            held = sessions.holder(connection, secret, now=now)
            person = people.numbered(connection, held[0]) if held else None
        if held and held[1]:
            with self.database.write() as connection:
                sessions.note_use(connection, secret, now=now)
        return person

    def open_sessions(self) -> list[sessions.Session]:
        """The sessions of everybody that have not ended."""
        with self.database.read() as connection:
            return sessions.under_way(connection, now=self._clock())

    def invited(self) -> set[int]:
        """The numbers of those whose invitation waits to be spent."""
        with self.database.read() as connection:
            return {*sessions.invited(connection, now=self._clock())}

    def revoke(self, name: str) -> int:
        """Ends a person's sessions, and the invitation that waits; returns how many sessions.

        Raises:
          UnknownName: there is no such person.
        """
        with self.database.write(alone=True) as connection:
            return sessions.revoke(connection, people.named(connection, name).id)

    def retire_annotator(self, name: str) -> Annotator:
        """Lets a person in no longer and frees what waits for them; their judgements stay.

        Raises:
          UnknownName: there is no such annotator.
        """
        with self.database.write(alone=True) as connection:
            return people.retire(connection, name, now=self._clock())

    def forget_annotator(self, name: str) -> Annotator:
        """Retires a person and empties their name and words; judgements stay under the pseudonym.

        Raises:
          UnknownName: there is no such person.
        """
        with self.database.write(alone=True) as connection:
            return people.forget(connection, name, now=self._clock())

    def person(self, name: str) -> Annotator:
        """The person of that name or pseudonym.

        Raises:
          UnknownName: there is none.
        """
        with self.database.read() as connection:
            return people.named(connection, name)

    def annotators(self) -> list[Annotator]:
        """Everyone ever added, in that order."""
        with self.database.read() as connection:
            return people.everybody(connection)

    def pseudonyms(self) -> dict[str, str]:
        """What exports call each person, by their name."""
        return {one.name: one.pseudonym for one in self.annotators()}

    def has_agreed(self, annotator_id: int, version: str) -> bool:
        """Whether a person agreed to this version of the study's text; see `consent.text`."""
        with self.database.read() as connection:
            return consent.has_agreed(connection, annotator_id, version)

    def agree(self, annotator_id: int, version: str) -> None:
        """Notes that a person agrees to this version; repeating it changes nothing."""
        with self.database.write(alone=True) as connection:
            consent.agree(connection, annotator_id, version, now=self._clock())

    def consents(self) -> list[consent.Agreed]:
        """How many people agreed to each version, in the order in which these came."""
        with self.database.read() as connection:
            return consent.counts(connection)

    def team(self) -> list[members.Member]:
        """Everyone at work: who is there, what each has done and holds."""
        with self.database.read() as connection:
            return members.members(connection, now=self._clock())

    def work(self, days: int) -> list[members.Work]:
        """What each person did on our pages on each of the last days."""
        with self.database.read() as connection:
            return members.work(connection, since=self._clock() - days * members.DAY)

    def served(self, suite: str) -> dict[str, dict[int, int]]:
        """How many clips of each agent each person was given: agent -> number -> clips."""
        with self.database.read() as connection:
            return members.served(connection, suite)

    def last_event(self) -> float | None:
        """When the latest event of anybody was kept, UTC seconds; None before the first."""
        with self.database.read() as connection:
            return members.last_event(connection)
