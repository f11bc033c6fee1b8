"""The store's rules in memory, as plainly as they can be said: the model that the service is tested on beside the
real store (condense/ports.py). Not safe against concurrent processes, which it does not know.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from afterturn.condense import ports


class Session:
    def __init__(self) -> None:
        self.project: str | None = None
        self.parent: tuple[str, int, int] | None = None
        self.alive = True
        self.epoch = 1
        self.last_ref = 0
        self.last_block = 0
        self.calls: dict[int, tuple[ports.NewCall, dict[str, Any]]] = {}
        self.batches: dict[bytes, ports.FrozenBatch] = {}
        self.names: dict[str, bytes] = {}
        self.attempts: dict[bytes, tuple[int, int]] = {}
        self.claims: dict[bytes, tuple[str, int]] = {}
        self.turns: dict[int, ports.PendingTurn] = {}
        self.sequence = 0
        self.turn_state: str | None = None
        self.blocks: dict[bytes, ports.StoredBlock] = {}


class MemoryStore:
    """All five ports; `wrote` counts transactions, `active` holds when each session was last active."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self.wrote = 0
        self.active: dict[str, int] = {}
        self.sessions = _Sessions(self)
        self.archive = _Archive(self)
        self.batches = _Batches(self)
        self.turns = _Turns(self)
        self.blocks = _Blocks(self)

    def at(self, session_id: str) -> Session:
        return self._sessions.setdefault(session_id, Session())

    def find(self, session_id: str) -> Session | None:
        return self._sessions.get(session_id)

    def view(self, session_id: str) -> Iterator[tuple[str, Session, int, int]]:
        """The session and its ancestors, each with the highest ref and block of it that are in view."""
        limits = (1 << 62, 1 << 62)
        name: str | None = session_id
        while name is not None and (session := self._sessions.get(name)) is not None:
            yield name, session, *limits
            if session.parent is None:
                return
            name = session.parent[0]
            limits = (min(limits[0], session.parent[1]), min(limits[1], session.parent[2]))

    def in_view(self, session_id: str) -> dict[int, tuple[str, ports.NewCall, dict[str, Any]]]:
        found: dict[int, tuple[str, ports.NewCall, dict[str, Any]]] = {}
        for name, session, top, _ in self.view(session_id):
            found |= {ref: (name, *row) for ref, row in session.calls.items() if ref <= top}
        return dict(sorted(found.items()))


class _Port:
    def __init__(self, store: MemoryStore) -> None:
        self.store = store


class _Sessions(_Port):
    async def open(self, session_id: str, *, project: str | None, parent_session_id: str | None, now_ms: int) -> bool:
        known = await self.known(session_id)
        session = self.store.at(session_id)
        session.alive = True
        session.project = project or session.project
        parent = self.store.find(parent_session_id) if parent_session_id and not known else None
        if parent is not None and parent_session_id is not None and session.parent is None:
            session.parent = (parent_session_id, parent.last_ref, parent.last_block)
            session.last_ref = max(session.last_ref, parent.last_ref)
            session.last_block = max(session.last_block, parent.last_block)
        await self.touch(session_id, now_ms=now_ms)
        return known

    async def known(self, session_id: str) -> bool:
        session = self.store.find(session_id)
        return session is not None and session.alive

    async def epoch(self, session_id: str) -> int:
        session = self.store.find(session_id)
        return session.epoch if session else 1

    async def touch(self, session_id: str, *, now_ms: int) -> None:
        for name, *_ in self.store.view(session_id):
            self.store.active[name] = now_ms

    async def delete(self, session_id: str, *, now_ms: int) -> int:
        old = self.store.find(session_id)
        if old is None:
            return 0
        for name, session in self.store._sessions.items():
            tops = [top for parent, _, top, _ in self.store.view(name) if parent == session_id and name != session_id]
            for top in tops:
                gone = {ref for ref in old.calls if ref <= top}
                session.batches = {
                    key: batch
                    for key, batch in session.batches.items()
                    if batch.summary is not None and gone.isdisjoint(batch.refs)
                }
        fresh = self.store._sessions[session_id] = Session()
        fresh.alive = False
        fresh.epoch, fresh.last_ref, fresh.last_block = old.epoch + 1, old.last_ref, old.last_block
        return len(old.calls)


class _Archive(_Port):
    async def take_in(self, session_id: str, intake: ports.Intake, *, now_ms: int) -> ports.Taken:
        store = self.store
        store.wrote += 1
        session = store.at(session_id)
        session.alive = True
        placed = [self._place(session_id, session, call) for call in intake.calls]
        frozen = None
        if intake.batch_key is not None:
            if intake.batch_id is not None:
                session.names[intake.batch_id] = intake.batch_key
            frozen = await store.batches.find(session_id, intake.batch_key)
        if intake.turn is not None:
            self._log(session, intake.turn, placed)
        if intake.turn_state is not None:
            session.turn_state = intake.turn_state
        await store.sessions.touch(session_id, now_ms=now_ms)
        return ports.Taken(epoch=session.epoch, placed=placed, frozen=frozen)

    def _place(self, session_id: str, session: Session, call: ports.NewCall) -> ports.Placed:
        there = self.store.in_view(session_id)
        ref = next((ref for ref, row in there.items() if row[1].identity == call.identity), None)
        is_new = ref is None
        if ref is None:
            ref = session.last_ref = session.last_ref + 1
            session.calls[ref] = (call, {"phase": 0, "replacement": None})
            there[ref] = (session_id, call, session.calls[ref][1])
        first = min(each for each, row in there.items() if row[1].dedup == call.dedup)
        state = there[ref][2]
        return ports.Placed(
            ref=ref, is_new=is_new, first_ref=first, replacement=state["replacement"], phase=state["phase"]
        )

    def _log(self, session: Session, turn: ports.TurnEntry, placed: Sequence[ports.Placed]) -> None:
        calls: list[tuple[int, int]] = []
        for position, place in zip(turn.positions, placed, strict=True):
            row = session.calls.get(place.ref)
            if position is not None and row is not None and row[1]["phase"] == 0:
                row[1]["phase"] = 1
                calls.append((position, place.ref))
        if calls:
            session.sequence += 1
            session.turns[session.sequence] = ports.PendingTurn(
                sequence=session.sequence,
                batch_id=turn.batch_id,
                turn_index=turn.turn_index,
                timestamp=turn.timestamp,
                assistant_text=turn.assistant_text,
                user_text=turn.user_text,
                group=turn.group,
                due=False,
                loose=turn.loose,
                calls=calls,
            )

    async def resolve(
        self, session_id: str, queries: Sequence[ports.RefQuery], *, now_ms: int
    ) -> Sequence[ports.Found]:
        await self.store.sessions.touch(session_id, now_ms=now_ms)
        return [await self._found(session_id, query) for query in queries]

    async def _found(self, session_id: str, query: ports.RefQuery) -> ports.Found:
        there = self.store.in_view(session_id)
        blocks = {block.number: block for block in await self.store.blocks.all(session_id)}
        if query.block in blocks:
            return ports.Found(block=blocks[query.block])
        timed = (query.call_id, query.at)
        for refs in (
            [query.short] if query.short in there else [],
            [ref for ref, row in there.items() if (row[1].tool_call_id, row[1].result_timestamp) == timed],
            [ref for ref, row in there.items() if row[1].tool_call_id == query.raw],
        ):
            if refs:
                return ports.Found(calls=await self.load(session_id, refs))
        session = self.store.find(session_id)
        number, last = query.short, session.last_ref if session else 0
        known = (min(there), max(there)) if there else None
        if query.block is not None:
            number, last = query.block, session.last_block if session else 0
            known = (min(blocks), max(blocks)) if blocks else None
        return ports.Found(expired=number is not None and number <= last, known=known)

    async def load(self, session_id: str, refs: Sequence[int]) -> Sequence[ports.StoredCall]:
        there = self.store.in_view(session_id)
        return [self._stored(ref, there) for ref in refs if ref in there]

    async def contents(self, session_id: str, refs: Sequence[int]) -> Mapping[int, str]:
        there = self.store.in_view(session_id)
        contents = {ref: there[ref][1].content for ref in refs if ref in there}
        return {ref: content for ref, content in contents.items() if content is not None}

    def _stored(self, ref: int, there: Mapping[int, tuple[str, ports.NewCall, dict[str, Any]]]) -> ports.StoredCall:
        name, call, state = there[ref]
        return ports.StoredCall(
            session_id=name,
            ref=ref,
            identity=call.identity,
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            args=call.args,
            text=call.text,
            is_error=call.is_error,
            status=call.status,
            turn_index=call.turn_index,
            result_timestamp=call.result_timestamp,
            entry_id=call.entry_id,
            images=call.images,
            lossy=call.lossy,
            replacement=state["replacement"],
            first_ref=min(each for each, row in there.items() if row[1].dedup == call.dedup),
        )


class _Batches(_Port):
    async def find(self, session_id: str, batch_key: bytes) -> ports.FrozenBatch | None:
        for _, session, top, _ in self.store.view(session_id):
            batch = session.batches.get(batch_key)
            if batch is not None and max(batch.refs, default=0) <= top:
                return batch
        return None

    async def named(self, session_id: str, batch_id: str) -> ports.FrozenBatch | None:
        for _, session, _, _ in self.store.view(session_id):
            if batch_id in session.names:
                return await self.find(session_id, session.names[batch_id])
        return None

    async def holding(self, session_id: str, refs: Sequence[int]) -> Sequence[ports.FrozenBatch]:
        return [batch for batch in await self.summarized(session_id) if set(batch.refs) & set(refs)]

    async def summarized(self, session_id: str) -> Sequence[ports.FrozenBatch]:
        found = [
            batch
            for _, session, top, _ in self.store.view(session_id)
            for batch in session.batches.values()
            if batch.summary is not None and max(batch.refs, default=0) <= top
        ]
        return sorted(found, key=lambda batch: min(batch.refs))

    async def freeze(
        self,
        session_id: str,
        epoch: int,
        batch: ports.FrozenBatch,
        replacements: Mapping[int, str],
        settled: Sequence[int],
    ) -> ports.Freeze:
        self.store.wrote += 1
        session = self.store.at(session_id)
        if session.epoch != epoch:
            return ports.Freeze(gone=True)
        there = self.store.in_view(session_id)
        first = await self.find(session_id, batch.batch_key)
        if first is None:
            conflicts = {
                ref: there[ref][2]["replacement"]
                for ref, text in replacements.items()
                if ref in there and there[ref][2]["replacement"] not in (None, text)
            }
            if conflicts:
                return ports.Freeze(conflicts=conflicts)
            await self.offer(session_id, epoch, replacements)
            session.batches[batch.batch_key] = batch
            session.names[batch.batch_id] = batch.batch_key
        session.attempts.pop(batch.batch_key, None)
        for ref in settled:
            if ref in there:
                there[ref][2]["phase"] = 2
        self._forget_settled(session)
        return ports.Freeze(batch=first or batch)

    def _forget_settled(self, session: Session) -> None:
        for sequence, turn in list(session.turns.items()):
            left = [each for each in turn.calls if session.calls[each[1]][1]["phase"] == 1]
            if left:
                session.turns[sequence] = replace(turn, calls=left)
            else:
                del session.turns[sequence]

    async def offer(self, session_id: str, epoch: int, replacements: Mapping[int, str]) -> Mapping[int, str]:
        self.store.wrote += 1
        if self.store.at(session_id).epoch != epoch:
            return {}
        there = self.store.in_view(session_id)
        for ref, text in replacements.items():
            there[ref][2]["replacement"] = there[ref][2]["replacement"] or text
        return {ref: there[ref][2]["replacement"] for ref in replacements}

    async def replacements(self, session_id: str) -> Sequence[ports.PlannedReplacement]:
        return [
            ports.PlannedReplacement(
                ref=ref,
                tool_call_id=call.tool_call_id,
                result_timestamp=call.result_timestamp,
                entry_id=call.entry_id,
                text=state["replacement"],
            )
            for ref, (_, call, state) in self.store.in_view(session_id).items()
            if state["replacement"] is not None
        ]

    async def take_attempt(
        self, session_id: str, batch_key: bytes, *, limit: int, cool_down_ms: int, now_ms: int
    ) -> tuple[int, int]:
        attempts = self.store.at(session_id).attempts
        used, last = attempts.get(batch_key, (0, 0))
        if used >= limit:
            wait = last + cool_down_ms - now_ms
            if wait > 0:
                return 0, wait
            used = 0
        attempts[batch_key] = (used + 1, now_ms)
        return used + 1, 0

    async def return_attempt(self, session_id: str, batch_key: bytes) -> None:
        attempts = self.store.at(session_id).attempts
        used, last = attempts.get(batch_key, (1, 0))
        attempts[batch_key] = (used - 1, last)

    async def claim(self, session_id: str, batch_key: bytes, *, owner: str, ttl_ms: int, now_ms: int) -> int:
        claims = self.store.at(session_id).claims
        holder, until = claims.get(batch_key, (owner, 0))
        if holder != owner and until > now_ms:
            return until - now_ms
        claims[batch_key] = (owner, now_ms + ttl_ms)
        return 0

    async def release(self, session_id: str, batch_key: bytes, *, owner: str) -> None:
        claims = self.store.at(session_id).claims
        if claims.get(batch_key, ("", 0))[0] == owner:
            del claims[batch_key]


class _Turns(_Port):
    async def state(self, session_id: str) -> str | None:
        session = self.store.find(session_id)
        return session.turn_state if session else None

    async def pending(self, session_id: str) -> Sequence[ports.PendingTurn]:
        session = self.store.find(session_id)
        return list(session.turns.values()) if session else []

    async def mark_due(self, session_id: str) -> None:
        self.store.wrote += 1
        session = self.store.at(session_id)
        session.turns = {sequence: replace(turn, due=True) for sequence, turn in session.turns.items()}


class _Blocks(_Port):
    async def find(self, session_id: str, block_key: bytes) -> ports.StoredBlock | None:
        for _, session, _, top in self.store.view(session_id):
            block = session.blocks.get(block_key)
            if block is not None and block.number <= top:
                return block
        return None

    async def numbered(self, session_id: str, number: int) -> ports.StoredBlock | None:
        return next((block for block in await self.all(session_id) if block.number == number), None)

    async def all(self, session_id: str) -> Sequence[ports.StoredBlock]:
        found = [
            block
            for _, session, _, top in self.store.view(session_id)
            for block in session.blocks.values()
            if block.number <= top
        ]
        return sorted(found, key=lambda block: block.number)

    async def add(
        self, session_id: str, epoch: int, block_key: bytes, *, text: str, details: str, source: str, now_ms: int
    ) -> ports.StoredBlock | None:
        session = self.store.at(session_id)
        if session.epoch != epoch:
            return None
        first = await self.find(session_id, block_key)
        if first is None:
            session.last_block += 1
            first = session.blocks[block_key] = ports.StoredBlock(
                number=session.last_block, text=text, details=details, source=source, created_at=now_ms
            )
        return first
