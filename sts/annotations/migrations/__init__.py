"""The database's schema, as numbered steps that are only ever added to.

Version n is what the first n migrations make. They are plain SQL, apart from the tables of
`schema`, because a migration must keep meaning what it meant when it was written.
"""

from __future__ import annotations

from sts.annotations.migrations.early import CLIPS, DRAFTS, FIRST, OF_ONE_WORKSPACE, ROLES
from sts.annotations.migrations.migration import Migration
from sts.annotations.migrations.team import TEAM

_ADDRESSES = Migration(  # by which people are known who sign in with an account of elsewhere
    both=(
        """CREATE TABLE addresses (
            annotator BIGINT PRIMARY KEY REFERENCES annotators (id),
            email TEXT NOT NULL UNIQUE)""",
    )
)

MIGRATIONS = (FIRST, OF_ONE_WORKSPACE, ROLES, DRAFTS, CLIPS, TEAM, _ADDRESSES)
SCHEMA_VERSION = len(MIGRATIONS)
