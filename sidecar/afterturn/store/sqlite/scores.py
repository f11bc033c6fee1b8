"""Scores that were paid for (capture/memo.py; capture.md, 'Durability')."""

from __future__ import annotations

from typing import TYPE_CHECKING

from afterturn.capture.ports import Work
from afterturn.store.sqlite.values import Packer, encoded, unseal_bytes

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

_EPISODE = "SELECT episode FROM capture_jobs WHERE id = ? AND token = ? AND state = 'running'"


class SqliteScoreMemos:
    """`ScoreMemos` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, work: Work) -> EpisodeMemo:
        """The memo of the job's episode."""
        return EpisodeMemo(self._engine, work)


class EpisodeMemo:
    """`ScoreMemo` of one episode, for as long as the job is this sidecar's."""

    def __init__(self, engine: Engine, work: Work) -> None:
        self._engine = engine
        self._job = (encoded(work.job_id), work.token)

    async def get(self, key: bytes) -> bytes | None:
        """What was put under the key, or None. Raises StoreUnavailable."""

        def read(connection: Connection) -> bytes | None:
            row = connection.execute(
                f"SELECT value FROM score_memo WHERE episode = ({_EPISODE}) AND key = ?", (*self._job, key)
            ).fetchone()
            return None if row is None else unseal_bytes(row[0])

        return await self._engine.read(read, key=self)

    async def put(self, key: bytes, value: bytes) -> None:
        """Keep a value; dropped where the job is lost. Raises StoreUnavailable."""
        sealed = Packer().seal_bytes(value)

        def write(connection: Connection) -> None:
            connection.execute(
                f"INSERT OR REPLACE INTO score_memo (episode, key, value) SELECT episode, ?, ? FROM ({_EPISODE})",
                (key, sealed, *self._job),
            )

        await self._engine.write(write, key=self)
