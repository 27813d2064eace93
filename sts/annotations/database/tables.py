"""Creation of the tables of `schema`, and rejection of databases of another version.

There are no migrations before the first release: a study needs the version that started it.
"""

import time

from sqlalchemy import Connection, Inspector, func, inspect, select

from sts.annotations.database import schema
from sts.errors import NewerFormat, StoreError

_APPEND_ONLY = ("decisions", "changes")
_ERASABLE = ("reason", "text")
_UNCHANGED = " AND ".join(
    f"NEW.{column.name} {{same}} OLD.{column.name}"
    for column in schema.events.columns
    if column.name not in _ERASABLE
)
# Texts may be erased when a person is anonymised; columns that the digest covers may not.
_MAY_CHANGE = f"NEW.reason = '' AND NEW.text = '' AND {_UNCHANGED}"
_SQLITE = (
    f"""CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events
        WHEN NOT ({_MAY_CHANGE.format(same="IS")})
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
    """CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END""",
    *(
        f"""CREATE TRIGGER {table}_are_never_{change}d BEFORE {change.upper()} ON {table}
        BEGIN SELECT RAISE(ABORT, '{table} are append-only'); END"""
        for table in _APPEND_ONLY
        for change in ("update", "delete")
    ),
)
REFUSE_CHANGE = """CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE USING MESSAGE = TG_TABLE_NAME || ' are append-only'; END $$"""
"""SQL of the function that PostgreSQL's triggers call."""
_POSTGRESQL = (
    REFUSE_CHANGE,
    f"""CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events FOR EACH ROW
        WHEN (NOT ({_MAY_CHANGE.format(same="IS NOT DISTINCT FROM")}))
        EXECUTE FUNCTION refuse_change()""",
    """CREATE TRIGGER events_are_never_deleted BEFORE DELETE OR TRUNCATE ON events
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
    *(
        f"""CREATE TRIGGER {table}_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"""
        for table in _APPEND_ONLY
    ),
)
TRIGGERS = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}
"""The triggers that keep events, decisions and changes append-only, by SQL dialect."""


def create_tables(connection: Connection) -> None:
    """Create all tables and triggers, in a transaction that writes; none of them may exist yet."""
    schema.metadata.create_all(connection, checkfirst=False)
    for statement in TRIGGERS[connection.dialect.name]:
        connection.exec_driver_sql(statement)
    connection.execute(schema.versions.insert().values(version=schema.VERSION, applied=time.time()))


def has_tables(connection: Connection, name: str) -> bool:
    """Return True if a database has the tables, and False if it has none of them.

    Raises:
      NewerFormat: a later version created it.
      StoreError: an earlier version or another program created it, or a table or column is missing.
    """
    inspector = inspect(connection)
    tables = set(inspector.get_table_names())
    if schema.versions.name not in tables:
        _check_other_tables(connection, name, tables)
        return False
    version = connection.execute(select(func.max(schema.versions.c.version))).scalar_one() or 0
    if version > schema.VERSION:
        raise NewerFormat(
            f"annotation database {name} has schema {version}; this version reads schema "
            f"{schema.VERSION}: update sts"
        )
    if version < schema.VERSION:
        raise StoreError(_describe_outdated(name, f"has schema {version}"))
    missing = _first_missing_column(inspector)
    if missing:
        raise StoreError(_describe_outdated(name, f"has no column {missing}"))
    return True


def _first_missing_column(inspector: Inspector) -> str | None:
    """Return a column of `schema` that a database lacks, as TABLE.COLUMN, or None."""
    names = list(schema.metadata.tables)
    reflected = inspector.get_multi_columns(filter_names=names)
    columns = {
        (table, column["name"])
        for (_, table), described in reflected.items()
        for column in described
    }
    expected = (c for table in schema.metadata.tables.values() for c in table.columns)
    return next((str(c) for c in expected if (c.table.name, c.name) not in columns), None)


def _describe_outdated(name: str, problem: str) -> str:
    return (
        f"annotation database {name} {problem}: another version of sts created it, and this one "
        f"reads only schema {schema.VERSION}; finish the study with the version that started it, "
        "or use a new workspace"
    )


def _check_other_tables(connection: Connection, name: str, tables: set[str]) -> None:
    """Raise StoreError for another program's table in a file, or with a name of `schema`."""
    foreign_tables = (
        tables if connection.dialect.name == "sqlite" else tables & set(schema.metadata.tables)
    )
    if foreign_tables:
        raise StoreError(
            f"expected an annotation database or an empty one at {name}, found another "
            f"program's table {min(foreign_tables)!r}; use a separate database"
        )
