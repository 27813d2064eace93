"""The tables as queries see them; `migrations` makes them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Integer, MetaData, Table, Text

metadata = MetaData()

versions = Table(
    "sts_schema",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied", Double, nullable=False),
)

workspaces = Table(
    "sts_workspace",
    metadata,
    Column("id", Text, primary_key=True),
)

annotators = Table(
    "annotators",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("name", Text),
    Column("token_hash", Text),  # of the links of an earlier version; nothing is in it
    Column("added", Double),
    Column("retired", Double),
    Column("seal", BigInteger),
    Column("pseudonym", Text),
)

roles = Table(
    "roles",
    metadata,
    Column("annotator", BigInteger, primary_key=True),
    Column("role", Text, primary_key=True),
    Column("added", Double),
)

decisions = Table(
    "decisions",
    metadata,
    Column("draft", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("uuid", Text),
    Column("candidate", Text),
    Column("kind", Text),
    Column("annotator", BigInteger),
    Column("follows", Text),
    Column("scenario", Text),
    Column("detail", Text),
    Column("received", Double),
    Column("digest", Text),
)

items = Table(
    "items",
    metadata,
    Column("id", Text, primary_key=True),
    Column("continuation", Text),
    Column("scenario", Text),
    Column("scenario_hash", Text),
    Column("category", Text),
    Column("kind", Text),
    Column("horizon", Integer),
    Column("takeover", Integer),
    Column("required", Integer),
    Column("draw", BigInteger),
    Column("added", Double),
    Column("clip", Text),
    Column("rubric", Text),
    Column("seal", BigInteger),
)

copies = Table(
    "copies",
    metadata,
    Column("continuation", Text, primary_key=True),
    Column("item", Text),
    Column("agent", Text),
    Column("sees", Text),
    Column("seal", BigInteger),
)

item_suites = Table(
    "item_suites",
    metadata,
    Column("suite", Text, primary_key=True),
    Column("item", Text, primary_key=True),
)

item_players = Table(
    "item_players",
    metadata,
    Column("item", Text, primary_key=True),
    Column("name", Text, primary_key=True),
)

slots = Table(
    "slots",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("item", Text),
    Column("slot", Integer),
    Column("annotator", BigInteger),
    Column("lease_until", Double),
    Column("judged", Integer),
    Column("turn", Integer),
    Column("draw", BigInteger),
    Column("category", Text),
)

claims = Table(
    "claims",
    metadata,
    Column("annotator", BigInteger, primary_key=True),
    Column("item", Text, primary_key=True),
    Column("position", Integer),
    Column("pool", Integer),
    Column("claimed", Double),
)

events = Table(
    "events",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("uuid", Text),
    Column("annotator", BigInteger),
    Column("item", Text),
    Column("verdict", Text),
    Column("step", Integer),
    Column("reason", Text),
    Column("watched", Double),
    Column("seconds", Double),
    Column("corrects", Text),
    Column("extra", Integer),
    Column("source", Text),
    Column("received", Double),
    Column("kind", Text),
    Column("label", Text),
    Column("text", Text),
    Column("words", Text),
    Column("number", BigInteger),
    Column("digest", Text),
)

reference_episodes = Table(
    "reference_episodes",
    metadata,
    Column("item", Text, primary_key=True),
    Column("truth", Text),
    Column("step", Integer),
    Column("note", Text),
    Column("added", Double),
    Column("seal", BigInteger),
)

refused = Table(
    "refused",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("annotator", BigInteger),
    Column("digest", Text),
    Column("raw", Text),
    Column("message", Text),
    Column("received", Double),
)

suite_agents = Table(
    "suite_agents",
    metadata,
    Column("suite", Text, primary_key=True),
    Column("agent", Text, primary_key=True),
    Column("wanted", BigInteger),
)

exposures = Table(
    "exposures",
    metadata,
    Column("annotator", BigInteger, primary_key=True),
    Column("suite", Text, primary_key=True),
    Column("agent", Text, primary_key=True),
    Column("clips", BigInteger),
)

anchors = Table(
    "anchors",
    metadata,
    Column("item", Text, primary_key=True),
    Column("slot", Integer, primary_key=True),
    Column("suite", Text),
    Column("joined", Text),
    Column("opened", Double),
)

controls = Table(
    "controls",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("setting", Text),
    Column("scope", Text),
    Column("person", BigInteger),
    Column("value", Integer),
    Column("reason", Text),
    Column("annotator", BigInteger),
    Column("made", Double),
)

invitations = Table(
    "invitations",
    metadata,
    Column("token_hash", Text, primary_key=True),
    Column("annotator", BigInteger),
    Column("made", Double),
    Column("expires", Double),
    Column("used", Double),
)

addresses = Table(
    "addresses",
    metadata,
    Column("annotator", BigInteger, primary_key=True, autoincrement=False),
    Column("email", Text),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("secret_hash", Text),
    Column("annotator", BigInteger),
    Column("begun", Double),
    Column("seen", Double),
)

consents = Table(
    "consents",
    metadata,
    Column("annotator", BigInteger, primary_key=True),
    Column("version", Text, primary_key=True),
    Column("agreed", Double),
)

totals = Table(
    "totals",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("totals", Text),
    Column("digest", Text),
)

training = Table(
    "training",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("annotator", BigInteger),
    Column("item", Text),
    Column("uuid", Text),
    Column("verdict", Text),
    Column("step", Integer),
    Column("agrees", Integer),
    Column("seconds", Double),
    Column("received", Double),
)

settled = Table(
    "settled",
    metadata,
    Column("item", Text, primary_key=True),
    Column("settled_as", Text),
    Column("seal", BigInteger),
)

superseded = Table(
    "superseded",
    metadata,
    Column("item", Text, primary_key=True),
    Column("successor", Text),
    Column("seal", BigInteger),
)
