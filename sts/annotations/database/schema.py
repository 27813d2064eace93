"""The tables of the annotation database, with all constraints and indices.

Raise `VERSION` with any change to a table or a trigger. Databases of other versions are rejected.
"""

from collections.abc import Sequence
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
from sqlalchemy.schema import SchemaItem

VERSION = 16
"""Versions 1 to 10 were never released."""

metadata = MetaData()


def _table(name: str, *parts: SchemaItem | Sequence[SchemaItem]) -> Table:
    """Return a table of these parts; one with a counted key never reuses a number."""
    flat = [item for part in parts for item in ([part] if isinstance(part, SchemaItem) else part)]
    counted = any(isinstance(item, Column) and item.identity for item in flat)
    return Table(name, metadata, *flat, sqlite_autoincrement=counted)


def _required(names: str, kind: Any, **options: Any) -> list[Column[Any]]:
    """Return columns that are never NULL; `names` are separated by spaces."""
    return [Column(name, kind, nullable=False, **options) for name in names.split()]


def _key(*names: str, kind: Any = Text) -> list[Column[Any]]:
    """Return columns of the primary key."""
    return [Column(name, kind, primary_key=True, autoincrement=False) for name in names]


def _serial() -> Column[int]:
    """Return a primary key that counts upwards and never reuses a number."""
    kind = BigInteger().with_variant(Integer, "sqlite")
    return Column("id", kind, Identity(always=True), primary_key=True)


def _annotator(name: str = "annotator", nullable: bool = False, **options: Any) -> Column[int]:
    """Return a column that refers to a person."""
    return Column(name, BigInteger, ForeignKey("annotators.id"), nullable=nullable, **options)


def _item(nullable: bool = False, **options: Any) -> Column[str]:
    """Return a column that refers to a clip."""
    return Column("item", Text, ForeignKey("items.id"), nullable=nullable, **options)


versions = _table("sts_schema", _key("version", kind=Integer), _required("applied", Double))

workspaces = _table("sts_workspace", _key("id"))

annotators = _table(
    "annotators",
    _serial(),
    _required("name", Text, unique=True),
    _required("added", Double),
    Column("deactivated", Double),
    _required("pseudonym", Text, unique=True),
    _required("name_digest", Text),
    _required("number", BigInteger, server_default=text("0")),  # of the last event
    _required("digest", Text, server_default=text("''")),
)

roles = _table(
    "roles",
    _annotator(primary_key=True),
    _key("role"),
    _required("added", Double),
    CheckConstraint("role IN ('annotator', 'reviewer', 'curator', 'lead')"),
)

decisions = _table(
    "decisions",
    _key("draft"),
    _key("number", kind=Integer),
    _required("uuid candidate kind", Text),
    _annotator(),
    _required("follows scenario detail", Text),
    _required("received", Double),
    _required("digest", Text),
    CheckConstraint("number >= 1"),
    UniqueConstraint("draft", "uuid"),
    Index("decisions_of_candidate", "draft", "candidate", "number"),
)

items = _table(
    "items",
    _key("id"),
    _required("continuation", Text, unique=True),
    _required("scenario scenario_hash category kind", Text),
    _required("horizon takeover annotations_required", Integer),
    _required("draw place", BigInteger),
    _required("added", Double),
    _required("clip", Text, unique=True),
    _required("rubric", Text),
    CheckConstraint("horizon >= 1"),
    CheckConstraint("takeover >= 0"),
)

categories = _table("categories", _key("category"), _required("place", BigInteger, unique=True))

deals = _table(
    "deals", _annotator(primary_key=True), _key("category"), _required("rubric_shown", Integer)
)

copies = _table(
    "copies",
    _key("continuation"),
    _item(),
    _required("agent sees", Text),
    _required("place", BigInteger),
    Index("copies_of_item", "item"),
)

item_suites = _table("item_suites", _key("suite"), _item(primary_key=True))

item_players = _table("item_players", _key("pseudonym"), _item(primary_key=True))

slots = _table(
    "slots",
    _serial(),
    _item(),
    _required("slot", Integer),
    _annotator(nullable=True),
    Column("lease_until", Double),
    _required("judged", Integer, server_default=text("0")),
    _required("place", BigInteger),
    _required("category", Text),
    UniqueConstraint("item", "slot"),
    UniqueConstraint("item", "annotator"),
    Index("slots_of_annotator", "annotator", "judged"),
)
for _name, _columns in {
    "slots_open": ("item", "annotator", "lease_until"),
    "slots_waiting": ("place", "category"),
}.items():
    _open = slots.c.judged == text("0")
    _indexed = [slots.c[column] for column in _columns]
    Index(_name, *_indexed, sqlite_where=_open, postgresql_where=_open)

claims = _table(
    "claims",
    _annotator(primary_key=True),
    _item(primary_key=True),
    _required("position pool", Integer),
    _required("claimed", Double),
    UniqueConstraint("annotator", "position"),
)

events = _table(
    "events",
    _serial(),
    _required("uuid", Text),
    _annotator(),
    _item(nullable=True),
    Column("suite", Text),
    Column("verdict", Text),
    Column("step", Integer),
    _required("reason", Text),
    Column("watched", Double),
    Column("seconds", Double),
    Column("corrects", Text),
    _required("extra", Integer),
    Column("rubric_shown", Integer),
    _required("source", Text),
    _required("received", Double),
    _required("kind error_type text text_digest", Text),
    _required("number", BigInteger),
    _required("digest", Text),
    UniqueConstraint("annotator", "uuid"),
    CheckConstraint("verdict IN ('success', 'failure', 'not_done', 'cannot_judge')"),
    CheckConstraint("step >= 1"),
    CheckConstraint(
        "kind IN ('verdict', 'correction', 'review', 'adjudication', 'note', 'closing', "
        "'reopening')"
    ),
    CheckConstraint("(suite IS NOT NULL) = (kind IN ('closing', 'reopening'))"),
    CheckConstraint("(item IS NULL) = (suite IS NOT NULL)"),
    CheckConstraint("(verdict IS NOT NULL) = (kind IN ('verdict', 'correction', 'adjudication'))"),
    CheckConstraint(
        "(step IS NOT NULL) = (verdict IS NOT NULL AND verdict IN ('success', 'failure'))"
    ),
    CheckConstraint("(corrects IS NOT NULL) = (kind = 'correction')"),
    CheckConstraint("(error_type <> '') = (kind = 'review')"),
    CheckConstraint("(rubric_shown IS NOT NULL) = (kind IN ('verdict', 'correction'))"),
    Index("events_of_item", "item", "annotator", "id"),
    UniqueConstraint("annotator", "number"),
    Index("events_of_annotator", "annotator", "id"),
)
_about_suite = events.c.suite.is_not(None)
Index(
    "events_of_suite",
    events.c.suite,
    events.c.id,
    sqlite_where=_about_suite,
    postgresql_where=_about_suite,
)

reference_items = _table(
    "reference_items",
    _item(primary_key=True),
    _required("truth", Text),
    Column("step", Integer),
    _required("source", Text),
    _required("note", Text),
    _required("added", Double),
    _required("number", BigInteger, unique=True),
    _required("digest", Text),
    CheckConstraint("source IN ('rule', 'people')"),
)

last_reference = _table(
    "last_reference", _key("number", kind=BigInteger), _required("digest", Text)
)

rejected = _table(
    "rejected",
    _serial(),
    _annotator(),
    _required("digest raw message", Text),
    _required("received", Double),
    UniqueConstraint("annotator", "digest"),
)

suite_agents = _table(
    "suite_agents", _key("suite", "agent"), _required("annotations_required", BigInteger)
)

exposures = _table(
    "exposures",
    _annotator(primary_key=True),
    _key("suite", "agent"),
    _required("clips", BigInteger),
)

anchors = _table(
    "anchors",
    _item(primary_key=True),
    _key("slot", kind=Integer),
    _required("suite joined", Text),
    _required("opened", Double),
)

controls = _table(
    "controls",
    _serial(),
    _required("setting scope", Text),
    _annotator("person", nullable=True),
    _required("value", Integer),
    _required("reason", Text),
    _annotator(nullable=True),
    _required("created", Double),
    CheckConstraint("setting IN ('exclude', 'pause')"),
)

changes = _table(
    "changes",
    _key("subject", kind=BigInteger),
    _key("number", kind=BigInteger),
    _required("kind value digest", Text),
    CheckConstraint("kind IN ('exclude', 'pause', 'role', 'deal', 'look')"),
)

last_change = _table(
    "last_change",
    _key("subject", kind=BigInteger),
    _required("number", BigInteger),
    _required("digest", Text),
)

invitations = _table(
    "invitations",
    _key("token_hash"),
    _annotator(index=True),
    _required("created expires", Double),
    Column("used", Double),
)

addresses = _table(
    "addresses",
    _annotator(primary_key=True, autoincrement=False),
    _required("email", Text, unique=True),
)

external_ids = _table(
    "external_ids",
    _annotator(primary_key=True, autoincrement=False),
    _required("external_id", Text, unique=True),
)

study_links = _table(
    "study_links",
    _key("token_hash"),
    _required("people joined", Integer),
    _required("created", Double),
)

sessions = _table(
    "sessions",
    _serial(),
    _required("secret_hash", Text, unique=True),
    _annotator(index=True),
    _required("started last_seen", Double),
)

consents = _table(
    "consents", _annotator(primary_key=True), _key("version"), _required("agreed", Double)
)

training = _table(
    "training",
    _serial(),
    _annotator(),
    _item(),
    _required("uuid verdict", Text),
    Column("step", Integer),
    _required("agrees", Integer),
    Column("seconds", Double),
    _required("received", Double),
    CheckConstraint("step >= 1"),
    UniqueConstraint("annotator", "item"),
    UniqueConstraint("annotator", "uuid"),
)

auto_resolved = _table("auto_resolved", _item(primary_key=True), _required("setting", Text))
