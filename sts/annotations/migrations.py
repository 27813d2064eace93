"""The database's schema, as numbered steps that are only ever added to.

Version n is what the first n migrations make. They are plain SQL, apart from the tables of
`schema`, because a migration must keep meaning what it meant when it was written.
"""

from __future__ import annotations

from typing import NamedTuple


class Migration(NamedTuple):
    """Statements for both databases, then those for one of them.

    `{serial}` stands for an integer primary key that the database numbers upwards.
    """

    both: tuple[str, ...]
    sqlite: tuple[str, ...] = ()
    postgresql: tuple[str, ...] = ()

    def statements(self, dialect: str) -> tuple[str, ...]:
        """The statements to run, in order, on `dialect` (sqlite or postgresql)."""
        own = self.sqlite if dialect == "sqlite" else self.postgresql
        return tuple(s.replace("{serial}", _SERIAL[dialect]) for s in self.both) + own


_SERIAL = {
    "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "postgresql": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
}

_FIRST = Migration(
    both=(
        """CREATE TABLE annotators (
            id {serial},
            name TEXT NOT NULL UNIQUE,
            token_hash TEXT UNIQUE,
            added DOUBLE PRECISION NOT NULL,
            retired DOUBLE PRECISION)""",
        """CREATE TABLE items (
            id TEXT PRIMARY KEY,
            continuation TEXT NOT NULL UNIQUE,
            scenario TEXT NOT NULL,
            scenario_hash TEXT NOT NULL,
            agent TEXT NOT NULL,
            category TEXT NOT NULL,
            kind TEXT NOT NULL,
            sees TEXT NOT NULL,
            horizon INTEGER NOT NULL CHECK (horizon >= 1),
            takeover INTEGER NOT NULL CHECK (takeover >= 0),
            required INTEGER NOT NULL,
            draw BIGINT NOT NULL,
            added DOUBLE PRECISION NOT NULL)""",
        """CREATE TABLE item_suites (
            suite TEXT NOT NULL,
            item TEXT NOT NULL REFERENCES items (id),
            PRIMARY KEY (suite, item))""",
        """CREATE TABLE item_players (
            item TEXT NOT NULL REFERENCES items (id),
            name TEXT NOT NULL,
            PRIMARY KEY (name, item))""",
        """CREATE TABLE slots (
            id {serial},
            item TEXT NOT NULL REFERENCES items (id),
            slot INTEGER NOT NULL,
            annotator BIGINT REFERENCES annotators (id),
            lease_until DOUBLE PRECISION,
            judged INTEGER NOT NULL DEFAULT 0,
            UNIQUE (item, slot),
            UNIQUE (item, annotator))""",
        "CREATE INDEX slots_open ON slots (item, annotator, lease_until) WHERE judged = 0",
        "CREATE INDEX slots_of_annotator ON slots (annotator, judged)",
        """CREATE TABLE claims (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            position INTEGER NOT NULL,
            pool INTEGER NOT NULL,
            claimed DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (annotator, item),
            UNIQUE (annotator, position))""",
        """CREATE TABLE events (
            id {serial},
            uuid TEXT NOT NULL,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            verdict TEXT NOT NULL
                CHECK (verdict IN ('success', 'failure', 'not_done', 'cannot_judge')),
            step INTEGER CHECK (step >= 1),
            reason TEXT NOT NULL,
            watched DOUBLE PRECISION,
            seconds DOUBLE PRECISION,
            corrects TEXT,
            extra INTEGER NOT NULL,
            source TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            UNIQUE (annotator, uuid),
            CHECK ((step IS NOT NULL) = (verdict IN ('success', 'failure'))))""",
        "CREATE INDEX events_of_item ON events (item, annotator, id)",
        "CREATE INDEX events_of_annotator ON events (annotator, id)",
        """CREATE TABLE reference_episodes (
            item TEXT PRIMARY KEY REFERENCES items (id),
            truth TEXT NOT NULL,
            step INTEGER,
            note TEXT NOT NULL,
            added DOUBLE PRECISION NOT NULL)""",
        """CREATE TABLE refused (
            id {serial},
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            digest TEXT NOT NULL,
            raw TEXT NOT NULL,
            message TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            UNIQUE (annotator, digest))""",
    ),
    sqlite=(
        """CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
        """CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
    ),
    postgresql=(
        """CREATE FUNCTION refuse_change_of_events() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'events are append-only'; END $$""",
        """CREATE TRIGGER events_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON events
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_events()""",
    ),
)

_OF_ONE_WORKSPACE = Migration(both=("CREATE TABLE sts_workspace (id TEXT PRIMARY KEY)",))

_ROLES = Migration(
    both=(
        """CREATE TABLE roles (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            role TEXT NOT NULL CHECK (role IN ('annotator', 'reviewer', 'curator', 'lead')),
            added DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (annotator, role))""",
        "INSERT INTO roles SELECT id, 'annotator', added FROM annotators",
    )
)

_DRAFTS = Migration(
    both=(
        """CREATE TABLE decisions (
            draft TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 1),
            uuid TEXT NOT NULL,
            candidate TEXT NOT NULL,
            kind TEXT NOT NULL,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            follows TEXT NOT NULL,
            scenario TEXT NOT NULL,
            detail TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (draft, number),
            UNIQUE (draft, uuid))""",
        "CREATE INDEX decisions_of_candidate ON decisions (draft, candidate, number)",
    ),
    sqlite=(
        """CREATE TRIGGER decisions_are_never_updated BEFORE UPDATE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END""",
        """CREATE TRIGGER decisions_are_never_deleted BEFORE DELETE ON decisions
            BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END""",
    ),
    postgresql=(
        """CREATE TRIGGER decisions_are_never_changed
            BEFORE UPDATE OR DELETE OR TRUNCATE ON decisions
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_events()""",
    ),
)

_CLIPS = Migration(  # what was one item a continuation stays so, as a clip that is like no other
    both=(
        "ALTER TABLE items ADD COLUMN clip TEXT",
        "UPDATE items SET clip = continuation",
        "CREATE UNIQUE INDEX items_of_clip ON items (clip)",
        """CREATE TABLE copies (
            continuation TEXT PRIMARY KEY,
            item TEXT NOT NULL REFERENCES items (id),
            agent TEXT NOT NULL,
            sees TEXT NOT NULL)""",
        "INSERT INTO copies SELECT continuation, id, agent, sees FROM items",
        "CREATE INDEX copies_of_item ON copies (item)",
        "ALTER TABLE items DROP COLUMN agent",
        "ALTER TABLE items DROP COLUMN sees",
    )
)

_SESSIONS = Migration(  # whoever had a personal link stays in, in the browser where they opened it
    both=(
        """CREATE TABLE invitations (
            token_hash TEXT PRIMARY KEY,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            made DOUBLE PRECISION NOT NULL,
            expires DOUBLE PRECISION NOT NULL,
            used DOUBLE PRECISION)""",
        "CREATE INDEX invitations_of_annotator ON invitations (annotator)",
        """CREATE TABLE sessions (
            id {serial},
            secret_hash TEXT NOT NULL UNIQUE,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            begun DOUBLE PRECISION NOT NULL,
            seen DOUBLE PRECISION NOT NULL)""",
        "CREATE INDEX sessions_of_annotator ON sessions (annotator)",
        """CREATE TABLE consents (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            version TEXT NOT NULL,
            agreed DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (annotator, version))""",
        "ALTER TABLE annotators ADD COLUMN pseudonym TEXT",
        "CREATE UNIQUE INDEX annotators_of_pseudonym ON annotators (pseudonym)",
    ),
    sqlite=(
        "UPDATE annotators SET pseudonym = 'annotator-' || lower(hex(randomblob(3)))",
        """INSERT INTO sessions (secret_hash, annotator, begun, seen)
            SELECT token_hash, id, strftime('%s', 'now') + 0.0, strftime('%s', 'now') + 0.0
            FROM annotators WHERE token_hash IS NOT NULL AND retired IS NULL""",
        "UPDATE annotators SET token_hash = NULL",
    ),
    postgresql=(
        """UPDATE annotators
            SET pseudonym = 'annotator-' || substr(md5(random()::text || id::text), 1, 6)""",
        """INSERT INTO sessions (secret_hash, annotator, begun, seen)
            SELECT token_hash, id, extract(epoch FROM now()), extract(epoch FROM now())
            FROM annotators WHERE token_hash IS NOT NULL AND retired IS NULL""",
        "UPDATE annotators SET token_hash = NULL",
    ),
)

MIGRATIONS = (_FIRST, _OF_ONE_WORKSPACE, _ROLES, _DRAFTS, _CLIPS, _SESSIONS)
SCHEMA_VERSION = len(MIGRATIONS)
