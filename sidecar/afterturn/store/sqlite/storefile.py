"""The file behind the engine: opening it, and knowing whether it is still the one that was opened."""

from __future__ import annotations

from sqlite3 import Connection, Error

from afterturn.store.errors import StoreUnavailable
from afterturn.store.files import make_private
from afterturn.store.paths import StorePlace
from afterturn.store.sqlite.connection import file_identity, open_writer
from afterturn.store.sqlite.failures import is_damage, unavailable
from afterturn.store.sqlite.migrations import Migration, migrate, shipped_migrations

CHECKED_AT_ONCE_BYTES = 16 * 1024 * 1024
"""A file up to this size is checked while it is opened (1 ms a MB); a larger one beside the work."""


class StoreFile:
    """One path, and the file that was last opened there.

    A person may delete the folder, or a wipe may, while sidecars run. A connection to a file that is gone would
    take writes and lose them, so each use asks first whether the file at the path is still the same.
    """

    def __init__(self, place: StorePlace, *, lock_wait_ms: int) -> None:
        self.path = place.file
        self.lock_wait_ms = lock_wait_ms
        self.opened: tuple[int, int] | None = None
        self.problem: str | None = None
        self._own_folder = place.own_folder
        self._damaged: tuple[int, int] | None = None
        self._migrations: tuple[Migration, ...] | None = None

    def is_current(self) -> bool:
        """Whether the file that was opened still stands at the path."""
        return self.opened is not None and self.opened == file_identity(self.path)

    def open(self) -> Connection:
        """The writer's connection to a store that is private, whole and of the newest schema.

        Raises StoreUnavailable; the next attempt starts from nothing.
        """
        self.opened = None
        try:
            connection = self._open()
        except Exception as error:
            found = unavailable(error, self.path) or error
            self.problem = str(found)
            raise found from error
        self.problem = None
        return connection

    def needs_check(self) -> bool:
        """Whether the file was too large to be checked while it was opened.

        One that has gone meanwhile needs none: the next job finds that out and opens the store anew.
        """
        try:
            return self.path.stat().st_size > CHECKED_AT_ONCE_BYTES
        except FileNotFoundError:
            return False

    def check(self, connection: Connection) -> None:
        """Look the whole file over. Raises StoreUnavailable, then and at every later use, until it is replaced."""
        try:
            finding = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except Error as error:
            if not is_damage(error):
                raise
            finding = str(error)
        if finding != "ok":
            self._damaged = file_identity(self.path)
            self.opened = None  # the readers notice this, and ask for the file to be opened anew
            error = self._damage_error()
            self.problem = str(error)
            raise error

    def _open(self) -> Connection:
        make_private(self.path, own_folder=self._own_folder)
        identity = file_identity(self.path)
        if identity == self._damaged:
            raise self._damage_error()
        if self._migrations is None:
            self._migrations = tuple(shipped_migrations())
        connection = open_writer(self.path)
        try:
            if not self.needs_check():
                self.check(connection)
            migrate(connection, self._migrations, self.path, wait_ms=self.lock_wait_ms)
        except BaseException:
            connection.close()
            raise
        self.opened = identity
        return connection

    def _damage_error(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"The store {self.path} is damaged; move it away to start a new one, or put a backup in its place",
            retryable=False,
        )
