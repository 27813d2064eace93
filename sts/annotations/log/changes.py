"""The chains of changes: exclusions, pauses, roles, deals and looks.

They decide who judges what, and whose judgements count. The changes that concern a person form a
chain; pauses of suites and categories, and looks at suites, another one. `last_change` holds the
end of each chain. Verification compares the tables `controls`, `roles` and `deals` with these
chains; looks are in no other table.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, insert, select

from sts.annotations.database.schema import changes, last_change
from sts.storage.chains import START, Link, next_link
from sts.storage.files import canonical_json

KINDS = EXCLUDE, PAUSE, ROLE, DEAL, LOOK = "exclude", "pause", "role", "deal", "look"
STUDY = 0
"""The subject of changes that concern no person."""


def record_changes(
    connection: Connection,
    annotator_id: int | None,
    kind: str,
    values: Collection[Sequence[object]],
) -> None:
    """Append changes of a kind, each with its `values`, to the chain of a person or the study.

    The person's row must be locked; without a person, the connection must be the only writer.
    """
    subject = annotator_id or STUDY
    tip = last_change.c.subject == subject
    row = connection.execute(select(last_change.c.number, last_change.c.digest).where(tip)).first()
    end, rows = START if row is None else Link(*row), []
    for value in values:
        text = canonical_json(value).decode()
        end = next_link(end, [subject, kind, text])
        rows.append({"subject": subject, "kind": kind, "value": text} | end._asdict())
    if rows:
        connection.execute(insert(changes), rows)
        connection.execute(delete(last_change).where(tip))
        connection.execute(insert(last_change).values(subject=subject, **end._asdict()))
