"""Connection to an annotation database on a PostgreSQL server, with a limit on every wait.

The server ends statements, lock waits and idle transactions that take too long. The kernel closes
connections whose packets get no answer. Since a middlebox may accept packets and drop them, each
wait for an answer is limited on this side as well.
"""

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL

from sts.annotations.database.database import LOCK_TIMEOUT_S, STATEMENT_TIMEOUT_S, Database
from sts.annotations.database.presence import RECORD_FILE

RESPONSE_TIMEOUT_S = STATEMENT_TIMEOUT_S + 10
"""Seconds to wait for any answer of the server."""
_CONNECT_TIMEOUT_S = 10
_IDLE_TIMEOUT_S = 120
"""Seconds that a transaction may be idle, for example because its client was lost."""
_KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_LIMITS = {
    "connect_timeout": _CONNECT_TIMEOUT_S,
    "tcp_user_timeout": LOCK_TIMEOUT_S * 1000,
    "keepalives": 1,
    **_KEEPALIVES,
}
_SETTINGS = {
    "lock_timeout": f"{LOCK_TIMEOUT_S}s",
    "statement_timeout": f"{STATEMENT_TIMEOUT_S}s",
    "idle_in_transaction_session_timeout": f"{_IDLE_TIMEOUT_S}s",
    **{f"tcp_{name}": str(number) for name, number in _KEEPALIVES.items()},
}
_T = TypeVar("_T")


class _Connection(psycopg.Connection[Any]):
    """A connection that is closed if the server does not answer in time."""

    def wait(self, gen: Generator[Any, Any, _T], *args: Any, **options: Any) -> _T:
        return super().wait(self._with_deadline(gen), *args, **options)

    def _with_deadline(self, gen: Generator[Any, Any, _T]) -> Generator[Any, Any, _T]:
        """Yield as `gen` does, and raise OperationalError when it has waited too long."""
        deadline = time.monotonic() + RESPONSE_TIMEOUT_S
        try:
            wait_state = next(gen)
            while True:
                ready = yield wait_state
                if not ready and time.monotonic() > deadline:
                    self.close()
                    raise psycopg.OperationalError(
                        f"the server did not answer for {RESPONSE_TIMEOUT_S} s"
                    )
                wait_state = gen.send(ready)
        except StopIteration as done:
            result: _T = done.value
            return result


def connect(url: URL, folder: Path) -> Database:
    """Return the database at `url`, whatever its driver; the first read connects to it."""
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        pool_timeout=LOCK_TIMEOUT_S,
        connect_args={
            **_LIMITS,
            "options": " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items()),
        },
    )
    event.listen(engine, "do_connect", _connect)
    return Database(engine, url.render_as_string(), folder / RECORD_FILE)


def command_line_url(url: URL) -> tuple[str, dict[str, str]]:
    """Return a URL without its password, and a variable with it: anyone may read command lines."""
    place = url.set(drivername="postgresql").update_query_dict(
        {name: str(value) for name, value in _LIMITS.items()}
    )
    secret = {} if url.password is None else {"PGPASSWORD": str(url.password)}
    place = URL.create(**(place._asdict() | {"password": None}))
    return place.render_as_string(hide_password=False), secret


def _connect(_dialect: object, _record: object, args: Any, options: Any) -> _Connection:
    return _Connection.connect(*args, **options)
