"""Vectors of a provider count against the budgets, as completions do (models.md, 'Budgets')."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from afterturn.capture.embedder import EmbeddingError
from afterturn.embeddings.remote import RemoteEmbedder
from afterturn.models.access import Access
from afterturn.models.budget import Budget
from afterturn.models.embedding import EmbeddingCalls, Embeddings
from afterturn.models.ports import Totals
from afterturn.models.provider import FailureKind, ProviderFailure
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.base import Usage
from afterturn_protocol.events import UsageLimit
from afterturn_protocol.settings import EmbeddingsSettings, ModelsSettings
from tests.models.pool.harness import FakeClock

pytestmark = pytest.mark.anyio

MODEL = "acme/vectors"
VECTOR = bytes(8)


class ScriptedVectors:
    """Gives each text a vector for `tokens` tokens in all, or fails with `problem`; waits while `gate` is unset."""

    def __init__(self, problem: ProviderFailure | None = None, tokens: int | None = 7) -> None:
        self.problem = problem
        self.tokens = tokens
        self.asked: list[list[str]] = []
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def embed(self, texts: Sequence[str], model: str, access: Access, seconds: float) -> Embeddings:
        self.asked.append(list(texts))
        self.entered.set()
        await self.gate.wait()
        if self.problem is not None:
            raise self.problem
        usage = Usage(model=model, input_tokens=self.tokens, output_tokens=0, cached_tokens=0, cost=None, calls=1)
        return Embeddings([VECTOR] * len(texts), usage)


class Rig:
    """An embedder on a real store."""

    def __init__(self, store: SqliteStore, provider: ScriptedVectors, **settings: Any) -> None:
        self.provider = provider
        self.events: list[UsageLimit] = []
        self._store = store
        models = ModelsSettings(**settings)
        budget = Budget(
            lambda: store.models.ledger, lambda: models, FakeClock(), lambda _, event: self.events.append(event)
        )
        self.embedder = RemoteEmbedder(
            EmbeddingsSettings(),
            MODEL,
            EmbeddingCalls(provider, budget),
            lambda text: (text, {}),
            {"ACME_API_KEY": "k"},
        )

    async def totals(self) -> Totals:
        return await self._store.models.ledger.totals(None)

    async def counted(self) -> list[tuple[int, bool]]:
        """The ledger's rows: tokens that count, and whether they are still only reserved."""
        return await self._store._engine.read(
            lambda connection: [
                (tokens, bool(open_))
                for tokens, open_ in connection.execute("SELECT tokens, pid IS NOT NULL FROM model_calls ORDER BY call")
            ],
            key=self._store.models.ledger,
        )


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(StorePlace(file=tmp_path / "afterturn.db", own_folder=True))
    yield opened
    assert await opened.close(timeout_ms=10_000)


async def test_a_call_is_counted_under_its_purpose(store: SqliteStore) -> None:
    rig = Rig(store, ScriptedVectors(tokens=7))
    assert await rig.embedder.embed(["one", "two"]) == [VECTOR, VECTOR]
    used = (await rig.totals()).by_purpose
    assert used.keys() == {"embedding"}
    assert (used["embedding"].input_tokens, used["embedding"].output_tokens, used["embedding"].calls) == (7, 0, 1)


async def test_tokens_that_the_provider_does_not_tell_count_as_reserved(store: SqliteStore) -> None:
    """Thirteen bytes, three to a token."""
    rig = Rig(store, ScriptedVectors(tokens=None))
    await rig.embedder.embed(["sixsix", "sevense"])
    assert await rig.counted() == [(5, False)]
    assert (await rig.totals()).total.input_tokens is None


@pytest.mark.parametrize(
    ("kind", "status", "called", "counts"),
    [
        ("status", 500, True, []),
        ("status", 401, True, []),
        ("unavailable", None, False, []),
        ("crashed", None, False, []),
        ("timeout", None, True, [(2, False)]),
        ("connection", None, True, [(2, False)]),
        ("malformed", None, True, [(2, False)]),
    ],
)
async def test_a_failure_counts_where_it_may_be_billed(
    store: SqliteStore, kind: FailureKind, status: int | None, called: bool, counts: list[tuple[int, bool]]
) -> None:
    rig = Rig(store, ScriptedVectors(ProviderFailure(kind, "said", status=status, called=called)))
    with pytest.raises(EmbeddingError) as caught:
        await rig.embedder.embed(["sixsix"])
    assert not caught.value.waits
    assert await rig.counted() == counts


async def test_a_call_that_is_cancelled_counts(store: SqliteStore) -> None:
    provider = ScriptedVectors()
    provider.gate.clear()
    rig = Rig(store, provider)
    embedding = asyncio.create_task(rig.embedder.embed(["sixsix"]))
    async with asyncio.timeout(10):
        await provider.entered.wait()
    embedding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await embedding
    assert await rig.counted() == [(2, False)]


@pytest.mark.parametrize("limit", ["daily_tokens", "daily_cost_usd"])
async def test_at_the_limit_nothing_is_sent_and_it_is_told_once(store: SqliteStore, limit: str) -> None:
    rig = Rig(store, ScriptedVectors(), **{limit: 0})
    for _ in range(2):
        with pytest.raises(EmbeddingError) as caught:
            await rig.embedder.embed(["sixsix"])
        assert caught.value.waits
        assert "is reached" in caught.value.message
    assert rig.provider.asked == []
    assert len(rig.events) == 1


async def test_the_limit_of_a_session_is_not_that_of_vectors(store: SqliteStore) -> None:
    rig = Rig(store, ScriptedVectors(), session_tokens=1)
    for _ in range(3):
        await rig.embedder.embed(["sixsix"])
    assert len(await rig.counted()) == 3
    assert rig.events == []


async def test_what_cannot_be_counted_is_not_asked(tmp_path: Path) -> None:
    """The store's file is a folder, say."""
    (tmp_path / "afterturn.db").mkdir()
    store = SqliteStore(StorePlace(file=tmp_path / "afterturn.db", own_folder=False))
    rig = Rig(store, ScriptedVectors())
    with pytest.raises(EmbeddingError) as caught:
        await rig.embedder.embed(["sixsix"])
    assert caught.value.waits
    assert rig.provider.asked == []
    await store.close(timeout_ms=10_000)
