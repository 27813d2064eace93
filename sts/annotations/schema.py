"""The tables of the annotation database, with all constraints and indices.

Raise `VERSION` with any change to a table or a trigger. Databases of other versions are rejected.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

VERSION = 9
"""Versions 1 to 7 were created by migrations, before the first release."""

metadata = MetaData()


def _required(name: str, kind: Any, *rules: Any, **options: Any) -> Column[Any]:
    """Return a column that is never NULL."""
    return Column(name, kind, *rules, nullable=False, **options)


def _serial() -> Column[int]:
    """Return a primary key that counts upwards and never reuses a number."""
    kind = BigInteger().with_variant(Integer, "sqlite")
    return Column("id", kind, Identity(always=True), primary_key=True)


def _annotator(**options: Any) -> Column[int]:
    """Return a column that refers to a person."""
    return _required("annotator", BigInteger, ForeignKey("annotators.id"), **options)


def _item(name: str = "item", **options: Any) -> Column[str]:
    """Return a column that refers to a clip."""
    return _required(name, Text, ForeignKey("items.id"), **options)


versions = Table(
    "sts_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    _required("applied", Double),
)

workspaces = Table(
    "sts_workspace",
    metadata,
    Column("id", Text, primary_key=True),
)

annotators = Table(
    "annotators",
    metadata,
    _serial(),
    _required("name", Text, unique=True),
    _required("added", Double),
    Column("retired", Double),
    _required("pseudonym", Text, unique=True),
    _required("seal", Text),
    _required("number", BigInteger, server_default=text("0")),  # of the last event
    _required("digest", Text, server_default=text("''")),
    sqlite_autoincrement=True,
)

roles = Table(
    "roles",
    metadata,
    _annotator(primary_key=True),
    Column("role", Text, primary_key=True),
    _required("added", Double),
    CheckConstraint("role IN ('annotator', 'reviewer', 'curator', 'lead')"),
)

decisions = Table(
    "decisions",
    metadata,
    Column("draft", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    _required("uuid", Text),
    _required("candidate", Text),
    _required("kind", Text),
    _annotator(),
    _required("follows", Text),
    _required("scenario", Text),
    _required("detail", Text),
    _required("received", Double),
    _required("digest", Text),
    CheckConstraint("number >= 1"),
    UniqueConstraint("draft", "uuid"),
    Index("decisions_of_candidate", "draft", "candidate", "number"),
)

items = Table(
    "items",
    metadata,
    Column("id", Text, primary_key=True),
    _required("continuation", Text, unique=True),
    _required("scenario", Text),
    _required("scenario_hash", Text),
    _required("category", Text),
    _required("kind", Text),
    _required("horizon", Integer),
    _required("takeover", Integer),
    _required("required", Integer),
    _required("draw", BigInteger),
    _required("added", Double),
    _required("clip", Text, unique=True),
    _required("rubric", Text),
    CheckConstraint("horizon >= 1"),
    CheckConstraint("takeover >= 0"),
)

copies = Table(
    "copies",
    metadata,
    Column("continuation", Text, primary_key=True),
    _item(),
    _required("agent", Text),
    _required("sees", Text),
    Index("copies_of_item", "item"),
)

item_suites = Table(
    "item_suites",
    metadata,
    Column("suite", Text, primary_key=True),
    _item(primary_key=True),
)

item_players = Table(
    "item_players",
    metadata,
    Column("name", Text, primary_key=True),
    _item(primary_key=True),
)

slots = Table(
    "slots",
    metadata,
    _serial(),
    _item(),
    _required("slot", Integer),
    Column("annotator", BigInteger, ForeignKey("annotators.id")),
    Column("lease_until", Double),
    _required("judged", Integer, server_default=text("0")),
    _required("turn", Integer),
    _required("draw", BigInteger),
    _required("category", Text),
    UniqueConstraint("item", "slot"),
    UniqueConstraint("item", "annotator"),
    Index("slots_of_annotator", "annotator", "judged"),
    sqlite_autoincrement=True,
)
for _name, _columns in {
    "slots_open": ("item", "annotator", "lease_until"),
    "slots_waiting": ("turn", "draw", "category"),
}.items():
    _open = slots.c.judged == text("0")
    _indexed = [slots.c[column] for column in _columns]
    Index(_name, *_indexed, sqlite_where=_open, postgresql_where=_open)

claims = Table(
    "claims",
    metadata,
    _annotator(primary_key=True),
    _item(primary_key=True),
    _required("position", Integer),
    _required("pool", Integer),
    _required("claimed", Double),
    UniqueConstraint("annotator", "position"),
)

events = Table(
    "events",
    metadata,
    _serial(),
    _required("uuid", Text),
    _annotator(),
    _item(),
    Column("verdict", Text),
    Column("step", Integer),
    _required("reason", Text),
    Column("watched", Double),
    Column("seconds", Double),
    Column("corrects", Text),
    _required("extra", Integer),
    _required("source", Text),
    _required("received", Double),
    _required("kind", Text),
    _required("label", Text),
    _required("text", Text),
    _required("words", Text),
    _required("number", BigInteger),
    _required("digest", Text),
    UniqueConstraint("annotator", "uuid"),
    CheckConstraint("verdict IN ('success', 'failure', 'not_done', 'cannot_judge')"),
    CheckConstraint("step >= 1"),
    CheckConstraint("kind IN ('verdict', 'correction', 'review', 'adjudication', 'note')"),
    CheckConstraint("(verdict IS NOT NULL) = (kind IN ('verdict', 'correction', 'adjudication'))"),
    CheckConstraint(
        "(step IS NOT NULL) = (verdict IS NOT NULL AND verdict IN ('success', 'failure'))"
    ),
    CheckConstraint("(corrects IS NOT NULL) = (kind = 'correction')"),
    CheckConstraint("(label <> '') = (kind = 'review')"),
    Index("events_of_item", "item", "annotator", "id"),
    UniqueConstraint("annotator", "number"),
    Index("events_of_annotator", "annotator", "id"),
    sqlite_autoincrement=True,
)

reference_episodes = Table(
    "reference_episodes",
    metadata,
    _item(primary_key=True),
    _required("truth", Text),
    Column("step", Integer),
    _required("note", Text),
    _required("added", Double),
    _required("number", BigInteger, unique=True),
    _required("digest", Text),
)

last_reference = Table(
    "last_reference",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    _required("digest", Text),
)

refused = Table(
    "refused",
    metadata,
    _serial(),
    _annotator(),
    _required("digest", Text),
    _required("raw", Text),
    _required("message", Text),
    _required("received", Double),
    UniqueConstraint("annotator", "digest"),
    sqlite_autoincrement=True,
)

suite_agents = Table(
    "suite_agents",
    metadata,
    Column("suite", Text, primary_key=True),
    Column("agent", Text, primary_key=True),
    _required("wanted", BigInteger),
)

exposures = Table(
    "exposures",
    metadata,
    _annotator(primary_key=True),
    Column("suite", Text, primary_key=True),
    Column("agent", Text, primary_key=True),
    _required("clips", BigInteger),
)

anchors = Table(
    "anchors",
    metadata,
    _item(primary_key=True),
    Column("slot", Integer, primary_key=True),
    _required("suite", Text),
    _required("joined", Text),
    _required("opened", Double),
)

controls = Table(
    "controls",
    metadata,
    _serial(),
    _required("setting", Text),
    _required("scope", Text),
    Column("person", BigInteger, ForeignKey("annotators.id")),
    _required("value", Integer),
    _required("reason", Text),
    Column("annotator", BigInteger, ForeignKey("annotators.id")),
    _required("made", Double),
    CheckConstraint("setting IN ('pause', 'priority')"),
    sqlite_autoincrement=True,
)

invitations = Table(
    "invitations",
    metadata,
    Column("token_hash", Text, primary_key=True),
    _annotator(index=True),
    _required("made", Double),
    _required("expires", Double),
    Column("used", Double),
)

addresses = Table(
    "addresses",
    metadata,
    _annotator(primary_key=True, autoincrement=False),
    _required("email", Text, unique=True),
)

sessions = Table(
    "sessions",
    metadata,
    _serial(),
    _required("secret_hash", Text, unique=True),
    _annotator(index=True),
    _required("begun", Double),
    _required("seen", Double),
    sqlite_autoincrement=True,
)

consents = Table(
    "consents",
    metadata,
    _annotator(primary_key=True),
    Column("version", Text, primary_key=True),
    _required("agreed", Double),
)

training = Table(
    "training",
    metadata,
    _serial(),
    _annotator(),
    _item(),
    _required("uuid", Text),
    _required("verdict", Text),
    Column("step", Integer),
    _required("agrees", Integer),
    Column("seconds", Double),
    _required("received", Double),
    CheckConstraint("step >= 1"),
    UniqueConstraint("annotator", "item"),
    UniqueConstraint("annotator", "uuid"),
    sqlite_autoincrement=True,
)

settled = Table(
    "settled",
    metadata,
    _item(primary_key=True),
    _required("settled_as", Text),
)
