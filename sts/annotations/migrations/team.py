"""Version 6, in its parts: typed events, who judges what, sessions, training and rubrics."""

from __future__ import annotations

from sts.annotations.migrations.migration import Migration, joined

_SAID = """verdict TEXT CHECK (verdict IN ('success', 'failure', 'not_done', 'cannot_judge'))"""
_KINDS = (
    "CHECK (kind IN ('verdict', 'correction', 'review', 'adjudication', 'note'))",
    "CHECK ((verdict IS NOT NULL) = (kind IN ('verdict', 'correction', 'adjudication')))",
    "CHECK ((step IS NOT NULL) = (verdict IS NOT NULL AND verdict IN ('success', 'failure')))",
    "CHECK ((corrects IS NOT NULL) = (kind = 'correction'))",
    "CHECK ((label <> '') = (kind = 'review'))",
)
_KEPT = (
    *("id", "uuid", "annotator", "item", "verdict", "step", "watched", "seconds", "corrects"),
    *("extra", "source", "received", "kind", "label", "words", "number", "digest"),
)
# An older event is chained once, and the words of somebody are forgotten; their digest stays.
_MAY = "OLD.digest = '' OR (NEW.reason = '' AND NEW.text = '' AND {})".format(
    " AND ".join(f"NEW.{name} {{same}} OLD.{name}" for name in _KEPT)
)
_TYPED_EVENTS = Migration(  # until here every event was a verdict, or one that corrects another
    both=(
        "ALTER TABLE annotators ADD COLUMN seal BIGINT",
        "ALTER TABLE items ADD COLUMN rubric TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE items ADD COLUMN seal BIGINT",
        "ALTER TABLE copies ADD COLUMN seal BIGINT",
        "ALTER TABLE reference_episodes ADD COLUMN seal BIGINT",
        """CREATE TABLE totals (
            number INTEGER PRIMARY KEY,
            totals TEXT NOT NULL,
            digest TEXT NOT NULL)""",
    ),
    sqlite=(
        f"""CREATE TABLE typed (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL,
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            {_SAID},
            step INTEGER CHECK (step >= 1),
            reason TEXT NOT NULL,
            watched DOUBLE PRECISION,
            seconds DOUBLE PRECISION,
            corrects TEXT,
            extra INTEGER NOT NULL,
            source TEXT NOT NULL,
            received DOUBLE PRECISION NOT NULL,
            kind TEXT NOT NULL,
            label TEXT NOT NULL,
            text TEXT NOT NULL,
            words TEXT NOT NULL,
            number BIGINT NOT NULL,
            digest TEXT NOT NULL,
            UNIQUE (annotator, uuid),
            {", ".join(_KINDS)})""",
        """INSERT INTO typed
            SELECT *, CASE WHEN corrects IS NULL THEN 'verdict' ELSE 'correction' END,
            '', '', '', 0, '' FROM events ORDER BY id""",
        "DROP TABLE events",
        "ALTER TABLE typed RENAME TO events",
        "CREATE INDEX events_of_item ON events (item, annotator, id)",
        "CREATE INDEX events_of_annotator ON events (annotator, id)",
        f"""CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events
            WHEN NOT ({_MAY.format(same="IS")})
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
        """CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
    ),
    postgresql=(
        "ALTER TABLE events DISABLE TRIGGER events_are_never_changed",  # until it is replaced
        "ALTER TABLE events ALTER COLUMN verdict DROP NOT NULL",
        "ALTER TABLE events ADD COLUMN kind TEXT NOT NULL DEFAULT 'verdict'",
        "ALTER TABLE events ADD COLUMN label TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE events ADD COLUMN text TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE events ADD COLUMN words TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE events ADD COLUMN number BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE events ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
        "UPDATE events SET kind = 'correction' WHERE corrects IS NOT NULL",
        *(
            f"ALTER TABLE events ALTER COLUMN {name} DROP DEFAULT"
            for name in ("kind", "label", "text", "words", "number", "digest")
        ),
        *(f"ALTER TABLE events ADD {rule}" for rule in _KINDS),
        "DROP TRIGGER events_are_never_changed ON events",
        f"""CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events FOR EACH ROW
            WHEN (NOT ({_MAY.format(same="IS NOT DISTINCT FROM")}))
            EXECUTE FUNCTION refuse_change_of_events()""",
        """CREATE TRIGGER events_are_never_deleted BEFORE DELETE OR TRUNCATE ON events
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_events()""",
    ),
)
_ASSIGNMENT = Migration(  # what is asked already waits its ordinary turn
    both=(
        "ALTER TABLE slots ADD COLUMN turn INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE slots ADD COLUMN draw BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE slots ADD COLUMN category TEXT NOT NULL DEFAULT ''",
        """UPDATE slots SET
            draw = (SELECT items.draw FROM items WHERE items.id = slots.item),
            category = (SELECT items.category FROM items WHERE items.id = slots.item)""",
        "CREATE INDEX slots_waiting ON slots (turn, draw, category) WHERE judged = 0",
        """CREATE TABLE suite_agents (
            suite TEXT NOT NULL,
            agent TEXT NOT NULL,
            wanted BIGINT NOT NULL,
            PRIMARY KEY (suite, agent))""",
        """INSERT INTO suite_agents SELECT suite, agent, SUM(required)
            FROM (SELECT DISTINCT item_suites.suite, copies.agent, copies.item
                FROM item_suites JOIN copies ON copies.item = item_suites.item) AS covered
            JOIN items ON items.id = covered.item GROUP BY suite, agent""",
        """CREATE TABLE exposures (
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            suite TEXT NOT NULL,
            agent TEXT NOT NULL,
            clips BIGINT NOT NULL,
            PRIMARY KEY (annotator, suite, agent))""",
        """INSERT INTO exposures SELECT annotator, suite, agent, COUNT(*)
            FROM (SELECT DISTINCT slots.annotator, item_suites.suite, copies.agent, slots.item
                FROM slots JOIN item_suites ON item_suites.item = slots.item
                JOIN copies ON copies.item = slots.item
                WHERE slots.annotator IS NOT NULL) AS met
            GROUP BY annotator, suite, agent""",
        """CREATE TABLE anchors (
            item TEXT NOT NULL REFERENCES items (id),
            slot INTEGER NOT NULL,
            suite TEXT NOT NULL,
            joined TEXT NOT NULL,
            opened DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (item, slot))""",
        """CREATE TABLE controls (
            id {serial},
            setting TEXT NOT NULL CHECK (setting IN ('pause', 'priority')),
            scope TEXT NOT NULL,
            person BIGINT REFERENCES annotators (id),
            value INTEGER NOT NULL,
            reason TEXT NOT NULL,
            annotator BIGINT REFERENCES annotators (id),
            made DOUBLE PRECISION NOT NULL)""",
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

_TRAINING = Migration(  # answers to references that are no judgements
    both=(
        """CREATE TABLE training (
            id {serial},
            annotator BIGINT NOT NULL REFERENCES annotators (id),
            item TEXT NOT NULL REFERENCES items (id),
            uuid TEXT NOT NULL,
            verdict TEXT NOT NULL,
            step INTEGER CHECK (step >= 1),
            agrees INTEGER NOT NULL,
            seconds DOUBLE PRECISION,
            received DOUBLE PRECISION NOT NULL,
            UNIQUE (annotator, item),
            UNIQUE (annotator, uuid))""",
    ),
)

_RUBRICS = Migration(  # the clip of an item has had the version of its rubric at its end
    both=(
        """CREATE TABLE settled (
            item TEXT PRIMARY KEY REFERENCES items (id),
            settled_as TEXT NOT NULL,
            seal BIGINT)""",
        """CREATE TABLE superseded (
            item TEXT PRIMARY KEY REFERENCES items (id),
            successor TEXT NOT NULL REFERENCES items (id),
            seal BIGINT)""",
        "CREATE INDEX superseded_by ON superseded (successor)",
    ),
    sqlite=(
        """UPDATE items SET rubric = substr(clip, instr(clip, '.') + 1)
            WHERE instr(clip, '.') > 0""",
    ),
    postgresql=(
        """UPDATE items SET rubric = substr(clip, strpos(clip, '.') + 1)
            WHERE strpos(clip, '.') > 0""",
    ),
)

TEAM = joined(_TYPED_EVENTS, _ASSIGNMENT, _SESSIONS, _TRAINING, _RUBRICS)
