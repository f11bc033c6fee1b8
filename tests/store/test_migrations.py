"""Numbered, forward only, each in a transaction, with checksums (store.md)."""

from pathlib import Path
from sqlite3 import OperationalError

import pytest

from afterturn.store.errors import StoreUnavailable
from afterturn.store.files import make_private
from afterturn.store.sqlite.connection import open_writer
from afterturn.store.sqlite.migrations import Migration, migrate, shipped_migrations, split_statements

ONE = Migration(1, "one", "CREATE TABLE a (x);\n")
TWO = Migration(2, "two", "CREATE TABLE b (x);\nINSERT INTO b VALUES (1);\n")


def applied(file: Path, *migrations: Migration) -> list[str]:
    """The tables after these migrations."""
    make_private(file, own_folder=True)
    connection = open_writer(file)
    try:
        migrate(connection, migrations, file, wait_ms=100)
        return sorted(row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    finally:
        connection.close()


def test_each_is_applied_once(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    assert applied(file, ONE) == ["a", "migrations"]
    assert applied(file, ONE, TWO) == ["a", "b", "migrations"]
    assert applied(file, ONE, TWO) == ["a", "b", "migrations"]
    connection = open_writer(file)
    assert connection.execute("SELECT count(*) FROM b").fetchone() == (1,)
    assert connection.execute("SELECT number, name FROM migrations ORDER BY 1").fetchall() == [(1, "one"), (2, "two")]
    connection.close()


def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    applied(file, ONE, TWO)
    before = file.read_bytes()
    with pytest.raises(StoreUnavailable, match=r"made by a newer afterturn \(schema 2; this one knows 1\)") as refused:
        applied(file, ONE)
    assert not refused.value.retryable
    assert file.read_bytes() == before


def test_another_history_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    applied(file, ONE)
    with pytest.raises(StoreUnavailable, match="its schema 1 is not this one's"):
        applied(file, Migration(1, "one", "CREATE TABLE a (x, y);\n"), TWO)


def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    broken = Migration(2, "two", "CREATE TABLE b (x);\nCREATE TABLE a (x);\n")
    with pytest.raises(OperationalError, match="already exists"):
        applied(file, ONE, broken)
    assert applied(file, ONE, TWO) == ["a", "b", "migrations"]


def test_a_database_of_somebody_else_is_refused(tmp_path: Path) -> None:
    import sqlite3

    file = tmp_path / "s.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreUnavailable, match="no store of afterturn"):
        applied(file, ONE)
    assert file.read_bytes() == before


def test_line_ends_do_not_count() -> None:
    assert Migration(1, "a", "x;\r\ny;\r\n").checksum == Migration(1, "a", "x;\ny;\n").checksum


def test_statements_are_split_where_they_end() -> None:
    sql = "CREATE TABLE a (\n  x -- not here;\n);\n\nINSERT INTO a VALUES (';\n');\n"
    assert [statement.strip() for statement in split_statements(sql)] == [
        "CREATE TABLE a (\n  x -- not here;\n);",
        "INSERT INTO a VALUES (';\n');",
    ]


def test_an_unfinished_statement_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="does not end"):
        list(split_statements("CREATE TABLE a (x)"))


def test_names_out_of_order_are_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "0002_two.sql").write_text("")
    with pytest.raises(ValueError, match=r"0002_two\.sql is not the name of migration 1"):
        shipped_migrations(tmp_path)


def test_the_shipped_ones_are_numbered_without_a_gap() -> None:
    assert [migration.number for migration in shipped_migrations()] == list(range(1, len(shipped_migrations()) + 1))
