"""The schema's history: numbered, forward only, each in a transaction, each with a checksum (store.md)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from sqlite3 import Connection, complete_statement

from msgspec import Struct

from afterturn.store.errors import StoreUnavailable
from afterturn.store.sqlite.connection import begin_write, patiently

_FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


class Migration(Struct, frozen=True):
    """One step of the schema: its number from 1, its name, its SQL."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the SQL, however its lines end."""
        return hashlib.sha256(self.sql.replace("\r\n", "\n").encode()).hexdigest()


def shipped_migrations(folder: Path | None = None) -> Sequence[Migration]:
    """The migrations of this program, in order: schema/NNNN_name.sql."""
    found: list[Migration] = []
    for path in sorted((folder or Path(__file__).with_name("schema")).glob("*.sql")):
        name = _FILE_NAME.fullmatch(path.name)
        if name is None or int(name[1]) != len(found) + 1:
            raise ValueError(f"{path.name} is not the name of migration {len(found) + 1}")
        found.append(Migration(int(name[1]), name[2], path.read_text(encoding="utf-8")))
    return found


def migrate(connection: Connection, migrations: Sequence[Migration], path: Path, *, wait_ms: int) -> None:
    """Bring the store to the newest schema. Any number of processes may do so at once.

    Raises StoreUnavailable for a store that is newer than the program, or whose history is another one; such a
    store is not changed. Raises sqlite3.Error.
    """
    version = patiently(lambda: _check_history(connection, migrations, path), wait_ms=wait_ms)
    for migration in migrations[version:]:
        begin_write(connection, wait_ms=wait_ms)
        try:
            if _check_history(connection, migrations, path) < migration.number:
                _apply(connection, migration)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _check_history(connection: Connection, migrations: Sequence[Migration], path: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(migrations):
        raise StoreUnavailable(
            f"The store {path} was made by a newer afterturn (schema {version}; this one knows {len(migrations)})",
            retryable=False,
        )
    if version:
        applied: list[tuple[int, str]] = connection.execute("SELECT number, checksum FROM migrations").fetchall()
        for number, checksum in sorted(applied):
            if number <= version and checksum != migrations[number - 1].checksum:
                raise StoreUnavailable(
                    f"The store {path} was made by another build of afterturn: its schema {number} is not this one's",
                    retryable=False,
                )
    return version


def _apply(connection: Connection, migration: Migration) -> None:
    if migration.number == 1:
        connection.execute(
            "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)"
        )
    for statement in split_statements(migration.sql):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO migrations (number, name, checksum) VALUES (?, ?, ?)",
        (migration.number, migration.name, migration.checksum),
    )
    connection.execute(f"PRAGMA user_version = {migration.number}")


def split_statements(sql: str) -> Iterator[str]:
    """The statements of a script, one by one: the library's own script runner would commit before it starts."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        raise ValueError(f"an SQL statement does not end: {statement.strip()[:60]}")
