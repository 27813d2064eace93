"""The consent text of a study, and records of who agreed to which version."""

from typing import NamedTuple

from sqlalchemy import Connection, func, insert, select

from sts.annotations.database.schema import consents
from sts.errors import ArgumentError, DamagedData
from sts.names import quote
from sts.storage.files import content_hash, read_bytes
from sts.storage.workspace import Workspace

KEEP_SENTENCE = "Recordings in a frozen suite may be kept."
"""Without it, no suite may keep the recordings of a person who is forgotten."""
_MAX_BYTES = 2**16


class ConsentText(NamedTuple):
    """A consent text in Markdown; its version is the first 12 hexadecimal digits of its hash."""

    text: str
    version: str


class ConsentCount(NamedTuple):
    """Number of people who agreed to a version, and the first and last time in UTC seconds."""

    version: str
    people: int
    first: float
    last: float


def load_text(workspace: Workspace, file: str) -> ConsentText:
    """Load the consent text from a file of the workspace; raise DamagedData if it is not usable."""
    path = workspace.path(file)
    if not path.resolve().is_relative_to(workspace.root.resolve()):
        raise DamagedData(
            f"{workspace.path('workspace.toml')}: expected a text in the workspace "
            f"(annotation.consent), found {quote(file)}; put it there"
        )
    try:
        raw = read_bytes(path, _MAX_BYTES)
        content = raw.decode("utf-8").strip()
    except (OSError, ArgumentError, UnicodeDecodeError) as error:
        why = "a file that is not UTF-8 text" if isinstance(error, ValueError) else "no such file"
        raise DamagedData(
            f"{workspace.path('workspace.toml')}: expected a text at {path} (annotation.consent), "
            f"found {why}; create the file, or remove the setting"
        ) from None
    if not content:
        raise DamagedData(f"expected a text that people agree to at {path}, found an empty file")
    return ConsentText(content, content_hash(content.encode())[:12])


def has_agreed(connection: Connection, annotator_id: int, version: str) -> bool:
    """Return True if a person agreed to this version."""
    matches = consents.c.annotator == annotator_id, consents.c.version == version
    return connection.execute(select(consents).where(*matches)).one_or_none() is not None


def find_objection(
    connection: Connection, annotator_id: int, text: ConsentText | None, recorded: float
) -> str:
    """Return why recordings of a person, from `recorded` on, may not be kept; "" if they may."""
    if text is None or KEEP_SENTENCE not in " ".join(text.text.split()):
        return f"the consent text does not say: {KEEP_SENTENCE}"
    matches = consents.c.annotator == annotator_id, consents.c.version == text.version
    agreed = connection.execute(select(consents.c.agreed).where(*matches)).scalar()
    if agreed is None or agreed >= recorded:
        return "they had not agreed to the present consent text when the recording started"
    return ""


def record_consent(connection: Connection, annotator_id: int, version: str, *, now: float) -> None:
    """Record that a person agrees to this version; repeating it keeps the first time."""
    if not has_agreed(connection, annotator_id, version):
        connection.execute(
            insert(consents).values(annotator=annotator_id, version=version, agreed=now)
        )


def count_consents(connection: Connection) -> list[ConsentCount]:
    """Count the people who agreed to each version, in order of first agreement."""
    first, last = func.min(consents.c.agreed), func.max(consents.c.agreed)
    rows = connection.execute(
        select(consents.c.version, func.count(), first, last)
        .group_by(consents.c.version)
        .order_by(first)
    )
    return [ConsentCount(*row) for row in rows]
