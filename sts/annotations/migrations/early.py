"""Versions 1 to 5: judgements, people and what they do, drafts, and clips."""

from __future__ import annotations

from sts.annotations.migrations.migration import Migration

FIRST = Migration(
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

OF_ONE_WORKSPACE = Migration(both=("CREATE TABLE sts_workspace (id TEXT PRIMARY KEY)",))

ROLES = Migration(
    both=(
        """CREATE TABLE roles (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            role TEXT NOT NULL CHECK (role IN ('annotator', 'reviewer', 'curator', 'lead')),
            added DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (annotator, role))""",
        "INSERT INTO roles SELECT id, 'annotator', added FROM annotators",
    )
)

DRAFTS = Migration(
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

CLIPS = Migration(  # what was one item a continuation stays so, as a clip that is like no other
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
