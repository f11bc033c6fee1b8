"""The ledger of model calls (models/ports.py, `Ledger`): what is used and reserved, over all sidecars and restarts.

A day is a day in UTC. A reservation whose process has ended counts no longer, but for its prompt's part: the provider
had that, most likely, and a process that ends again and again must not spend without limit.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from afterturn.models.ports import Denied, Intent, Limits, Totals
from afterturn.store.sqlite.processes import Process, is_gone, this_process
from afterturn.store.sqlite.values import decoded, encoded
from afterturn.usage import DAY_MS, NO_USE
from afterturn_protocol.base import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

KEPT_DAYS = 400
LONGEST_CALL_MS = 3_600_000
"""No call takes longer: what was reserved before is over, whatever can be known of its process."""

PRICED_DAYS = 30
MOST_TOKENS = 10**12
"""A figure beyond is an error of the provider's, and would spoil every sum."""

_SUMS = (
    "min(model), max(model), sum(calls), count(*), count(input), sum(input), count(output), sum(output),"
    " count(cached), sum(cached), count(cost), sum(cost)"
)


class SqliteLedger:
    """`Ledger` on one engine. Every method raises StoreUnavailable."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._here: Process | None = None

    async def reserve(self, intent: Intent, limits: Limits, *, now_ms: int) -> int | Denied:
        """Count a call before it is made, or deny it."""
        if self._here is None:
            self._here = this_process()
        here = self._here
        return await self._engine.write(lambda connection: _reserve(connection, intent, limits, now_ms, here), key=self)

    async def settle(self, number: int, usage: Usage) -> None:
        """The call was made; what is not known of it counts as reserved."""
        await self._engine.write(lambda connection: _settle(connection, number, usage), key=self)

    async def release(self, number: int) -> None:
        """The call was not made, or costs nothing."""
        await self._engine.write(
            lambda connection: connection.execute("DELETE FROM model_calls WHERE call = ?", (number,)), key=self
        )

    async def totals(self, since_ms: int | None) -> Totals:
        """The sums of what is settled."""
        return await self._engine.read(lambda connection: _totals(connection, since_ms or 0), key=self)


def session_key(session_id: str) -> bytes:
    """How a session is named here: the row outlives the session, and holds nothing of it."""
    return blake2b(encoded(session_id), digest_size=16).digest()


def _reserve(connection: Connection, intent: Intent, limits: Limits, now_ms: int, here: Process) -> int | Denied:
    day, model = now_ms // DAY_MS, encoded(intent.model)
    session = b"" if intent.session_id is None else session_key(intent.session_id)
    _end_abandoned(connection, now_ms, here)
    tokens = intent.prompt_tokens + intent.max_tokens
    money = 0.0 if limits.daily_cost_usd is None else tokens * _price(connection, model, day)
    denied = _denied(connection, limits, session, day, tokens, money)
    if denied is not None:
        return denied
    connection.execute("DELETE FROM model_calls WHERE day < ?", (day - KEPT_DAYS,))
    added = connection.execute(
        "INSERT INTO model_calls (at, day, session, purpose, model, prompt_tokens, tokens, money, place, pid,"
        " process_start) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            now_ms, day, session, intent.purpose, model, intent.prompt_tokens, tokens, money,
            here.place, here.pid, here.start,
        ),
    )  # fmt: skip
    assert added.lastrowid is not None
    return added.lastrowid


def _denied(
    connection: Connection, limits: Limits, session: bytes, day: int, tokens: int, money: float
) -> Denied | None:
    """The first limit that the call could pass. Money is estimated from what the model has cost before."""
    used, spent = connection.execute(
        "SELECT coalesce(sum(tokens), 0), coalesce(sum(money), 0.0) FROM model_calls WHERE day = ?", (day,)
    ).fetchone()
    if limits.daily_tokens is not None and used + tokens > limits.daily_tokens:
        return _limit(connection, "dailyTokens", limits.daily_tokens, used, day, b"")
    if limits.daily_cost_usd is not None and (spent + money > limits.daily_cost_usd or spent >= limits.daily_cost_usd):
        return _limit(connection, "dailyCostUsd", limits.daily_cost_usd, spent, day, b"")
    if limits.session_tokens is not None and session:
        found = connection.execute(
            "SELECT coalesce(sum(tokens), 0) FROM model_calls WHERE session = ?", (session,)
        ).fetchone()
        if found[0] + tokens > limits.session_tokens:
            return _limit(connection, "sessionTokens", limits.session_tokens, found[0], 0, session)
    return None


def _limit(connection: Connection, scope: str, limit: float, used: float, day: int, session: bytes) -> Denied:
    told = connection.execute("INSERT OR IGNORE INTO limits_told VALUES (?, ?, ?, ?)", (scope, limit, day, session))
    return Denied(
        scope=scope,
        limit=limit,
        used=used,
        first=told.rowcount == 1,
        resumes_at=(day + 1) * DAY_MS if day else None,
    )


def _price(connection: Connection, model: bytes, day: int) -> float:
    """The most that a token of this model has cost lately, in US dollars; 0 where no price is known."""
    row = connection.execute(
        "SELECT max(cost / (input + output)) FROM model_calls"
        " WHERE day > ? AND model = ? AND cost IS NOT NULL AND input + output > 0",
        (day - PRICED_DAYS, model),
    ).fetchone()
    return row[0] or 0.0


def _end_abandoned(connection: Connection, now_ms: int, here: Process) -> None:
    rows = connection.execute(
        "SELECT call, at, place, pid, process_start FROM model_calls WHERE pid IS NOT NULL"
    ).fetchall()
    connection.executemany(
        "UPDATE model_calls SET tokens = prompt_tokens, money = money * prompt_tokens / max(tokens, 1),"
        " place = NULL, pid = NULL, process_start = NULL WHERE call = ?",
        [
            (call,)
            for call, at, place, pid, start in rows
            if abs(now_ms - at) > LONGEST_CALL_MS or is_gone(Process(place, pid, start), here)
        ],
    )


def _settle(connection: Connection, number: int, usage: Usage) -> None:
    figures = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    spent, written, cached = (count if count is None or count <= MOST_TOKENS else None for count in figures)
    connection.execute(
        "UPDATE model_calls SET model = ?1, input = ?2, output = ?3, cached = ?4, cost = ?5, calls = ?6,"
        " tokens = coalesce(?2, prompt_tokens) + coalesce(?3, tokens - prompt_tokens), money = coalesce(?5, money),"
        " place = NULL, pid = NULL, process_start = NULL WHERE call = ?7",
        (encoded(usage.model), spent, written, cached, usage.cost, min(usage.calls, MOST_TOKENS), number),
    )


def _totals(connection: Connection, since_ms: int) -> Totals:
    def grouped(column: str) -> Iterator[tuple[Any, Usage]]:
        rows = connection.execute(
            f"SELECT {column}, {_SUMS} FROM model_calls WHERE pid IS NULL AND at >= ? GROUP BY 1 ORDER BY 1",
            (since_ms,),
        )
        return ((name, _usage(sums)) for name, *sums in rows.fetchall())

    from datetime import UTC, datetime  # not on the event loop's thread

    return Totals(
        next((usage for _, usage in grouped("1")), NO_USE),
        dict(grouped("purpose")),
        {decoded(name): usage for name, usage in grouped("model")},
        {datetime.fromtimestamp(day * DAY_MS / 1000, UTC).date().isoformat(): usage for day, usage in grouped("day")},
    )


def _usage(sums: list[Any]) -> Usage:
    """One group's sums; what one of its calls does not know, the sum does not know."""
    first, last, calls, count, inputs, input_sum, outputs, output_sum, cacheds, cached_sum, costs, cost_sum = sums
    return Usage(
        model=decoded(first) if first == last else "*",
        input_tokens=input_sum if inputs == count else None,
        output_tokens=output_sum if outputs == count else None,
        cached_tokens=cached_sum if cacheds == count else None,
        cost=cost_sum if costs == count else None,
        calls=calls,
    )
