"""The embedder that asks a provider: real litellm in its process, and a scripted server (models.md, 'Embedders')."""

import asyncio
import json
import struct
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from afterturn.capture.embedder import EmbeddingError
from afterturn.clock import SystemClock
from afterturn.embeddings.remote import RemoteEmbedder
from afterturn.models.budget import Budget
from afterturn.models.choosing import destinations
from afterturn.models.embedding import EmbeddingCalls
from afterturn.models.litellm import LitellmProvider
from afterturn.redact import Redactor
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn.usage import NO_USE
from afterturn_protocol.settings import EmbeddingsSettings, ModelsSettings, Settings
from tests.models.worker.rig import prompt
from tests.provider.answers import Answer, echoes_key, embeds, fails, hangs_up, html, malformed, resets, says, stalls
from tests.provider.server import ProviderRequest, ScriptedProvider

KEY = "key-of-the-test"
MODEL = "openai/any"
Result = TypeVar("Result")


class Rig:
    """One model worker for all tests here, since litellm takes seconds to load; what it costs is in a real ledger."""

    def __init__(self, folder: Path) -> None:
        self.server = ScriptedProvider()
        self.store = SqliteStore(StorePlace(file=folder / "afterturn.db", own_folder=True))
        self._runner = asyncio.Runner()
        self.worker = LitellmProvider(
            lambda: ModelsSettings(model=MODEL, api_base=self.server.openai_base),
            SystemClock(),
            {},
            start_seconds=60.0,
        )
        budget = Budget(lambda: self.store.models.ledger, ModelsSettings, SystemClock(), lambda method, params: None)
        self.calls = EmbeddingCalls(self.worker, budget)

    def embedder(
        self,
        environ: dict[str, str] | None = None,
        *,
        model: str = MODEL,
        call_seconds: float = 60,
        monotonic: Callable[[], float] = time.monotonic,
        **settings: Any,
    ) -> RemoteEmbedder:
        chosen = EmbeddingsSettings(**{"api_base": self.server.openai_base, "api_key_env": "TEST_KEY"} | settings)
        environ = environ or {"TEST_KEY": KEY}
        return RemoteEmbedder(chosen, model, self.calls, Redactor().redact, environ, call_seconds, monotonic)

    def run(self, job: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(asyncio.wait_for(job, 90))

    def embed(self, *texts: str, embedder: RemoteEmbedder | None = None) -> list[tuple[float, ...]]:
        vectors = self.run((embedder or self.embedder()).embed(texts))
        return [struct.unpack(f"<{len(each) // 4}f", each) for each in vectors]

    def fail(self, *texts: str, embedder: RemoteEmbedder | None = None) -> EmbeddingError:
        with pytest.raises(EmbeddingError) as problem:
            self.embed(*texts, embedder=embedder)
        return problem.value


@pytest.fixture(scope="module")
def shared_rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    rig = Rig(tmp_path_factory.mktemp("store"))
    with rig.server, rig._runner:
        yield rig
        rig.run(rig.worker.close())
        assert rig.run(rig.store.close(timeout_ms=10_000))


@pytest.fixture
def rig(shared_rig: Rig) -> Rig:
    shared_rig.server.forget()
    return shared_rig


def test_vectors_come_in_the_order_of_their_texts_and_of_unit_length(rig: Rig) -> None:
    rig.server.script(embeds((3, 4), (0, -2), (0.5, 0), backwards=True))
    embedder = rig.embedder()
    assert (embedder.model, embedder.dimension) == (MODEL, 0)
    found = rig.embed("one", "two", "three", embedder=embedder)
    assert found == [pytest.approx((0.6, 0.8)), (0, -1), (1, 0)]
    assert embedder.dimension == 2


def test_what_is_sent(rig: Rig) -> None:
    rig.server.script(embeds((1, 0), (0, 1)))
    rig.embed("one", "two \ud83d")
    (request,) = rig.server.requests
    assert (request.path, request.key) == ("/v1/embeddings", KEY)
    assert (request.body["model"], request.body["input"]) == ("any", ["one", "two \ufffd"])
    assert request.body["encoding_format"] == "float"


def test_no_text_is_no_call(rig: Rig) -> None:
    assert rig.embed() == []
    assert rig.server.requests == []


def lengths(request: ProviderRequest) -> Answer:
    return embeds(*((len(text), 1) for text in request.body["input"]))


def test_many_texts_go_in_batches_of_32(rig: Rig) -> None:
    rig.server.otherwise = lengths
    found = rig.embed(*("x" * n for n in range(1, 71)))
    assert [len(each.body["input"]) for each in rig.server.requests] == [32, 32, 6]
    assert [round(one / other) for one, other in found] == list(range(1, 71))


def test_a_long_text_is_cut(rig: Rig) -> None:
    rig.server.script(embeds((1, 0)))
    rig.embed("word " * 10_000)
    assert len(rig.server.requests[0].body["input"][0]) == 8000


def test_secrets_are_hidden(rig: Rig) -> None:
    rig.server.script(embeds((1, 0)))
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    rig.embed(f"push with {secret} now")
    sent = json.dumps(rig.server.requests[0].body["input"])
    assert secret not in sent
    assert "push with" in sent


@pytest.mark.parametrize(
    ("answer", "retryable", "said"),
    [
        (fails(429, retry_after=1), True, "status 429"),
        (fails(500), True, "status 500"),
        (echoes_key(401), False, "status 401"),
        (fails(404), False, "status 404"),
        (malformed(), True, "is no set of vectors"),
        (html(), True, "is no set of vectors"),
        (says("fine"), True, "is no set of vectors"),
        (embeds((1, 0)), True, "is no set of vectors"),
        (embeds((1, 0), (0, 1), (1, 1)), True, "is no set of vectors"),
        (embeds((1, 0), (0, 0)), True, "is no set of vectors"),
        (embeds((1, 0), (float("nan"), 0)), True, "is no set of vectors"),
        (embeds((1, 0), (1, 0, 0)), True, "not all of one size"),
        (embeds((), ()), True, "is no set of vectors"),
        (resets(), True, "the connection failed"),
        (hangs_up("middle", raw=b"x" * 100), True, "the connection failed"),
    ],
    ids=(
        "429 500 401 404 cut html completion too-few too-many no-length nan two-sizes no-components reset half"
    ).split(),
)
def test_answers_that_are_no_vectors(rig: Rig, answer: Answer, retryable: bool, said: str) -> None:
    rig.server.script(answer)
    failure = rig.fail("one", "two")
    assert said in failure.message
    assert failure.message.startswith(MODEL)
    assert KEY not in failure.message
    assert failure.retryable is retryable
    assert len(rig.server.requests) == 1, "a batch is asked for once"


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_provider_that_refuses_the_settings_is_left_alone_for_an_hour(rig: Rig, status: int) -> None:
    """Case P04: asked once, whatever comes; other settings have an embedder of their own."""
    now = [0.0]
    embedder = rig.embedder(monotonic=lambda: now[0])
    assert embedder.resting is None
    rig.server.otherwise = fails(status)
    first = rig.fail("one", embedder=embedder)
    assert (first.retryable, first.waits, first.kind) == (False, False, "provider_unavailable")
    for now[0] in (0.0, 1.0, 3599.0):
        again = rig.fail("one", embedder=embedder)
        assert again.message == f"{first.message}; not asked for now"
        assert (again.retryable, again.waits, again.kind) == (False, True, "provider_unavailable")
        assert embedder.resting == first.message
    assert len(rig.server.requests) == 1
    rig.server.otherwise = lengths
    assert len(rig.embed("one")) == 1
    now[0] = 3600.0
    assert embedder.resting is None
    assert len(rig.embed("one", embedder=embedder)) == 1


@pytest.mark.parametrize("status", [400, 422, 429, 500])
def test_other_refusals_say_nothing_of_the_next_text(rig: Rig, status: int) -> None:
    embedder = rig.embedder(monotonic=lambda: 0.0)
    rig.server.script(*[fails(status)] * 6)
    for _ in range(6):
        assert not rig.fail("one", embedder=embedder).waits
    rig.server.otherwise = lengths
    assert len(rig.embed("one", embedder=embedder)) == 1


def test_a_model_that_changes_its_size_is_an_error(rig: Rig) -> None:
    embedder = rig.embedder()
    rig.server.script(embeds((1, 0)), embeds((1, 0, 0)))
    rig.embed("one", embedder=embedder)
    assert "not all of one size" in rig.fail("one", embedder=embedder).message
    assert embedder.dimension == 2


def test_a_provider_that_says_nothing_costs_the_limit_and_its_connection(rig: Rig) -> None:
    rig.server.script(stalls())
    failure = rig.fail("one", embedder=rig.embedder(call_seconds=0.5))
    assert failure.retryable
    assert "longer than 0.5 s" in failure.message
    rig.server.requests[0].wait_gone()


@pytest.mark.parametrize(
    ("model", "cost"),
    [("openai/any", None), ("openai/text-embedding-3-small", pytest.approx(5 * 0.02 / 1_000_000))],
    ids=["no price is known", "a price is known"],
)
def test_what_vectors_cost_is_counted(rig: Rig, model: str, cost: float | None) -> None:
    """5 tokens, as the provider says; an embedding writes nothing."""
    ledger = rig.store.models.ledger
    before = rig.run(ledger.totals(None)).by_model.get(model, NO_USE)
    rig.server.script(embeds((1, 0), (0, 1)))
    rig.embed("one", "two", embedder=rig.embedder(model=model))
    after = rig.run(ledger.totals(None))
    spent = after.by_model[model]
    assert after.by_purpose.keys() == {"embedding"}
    assert spent.calls == before.calls + 1
    if before is NO_USE:
        assert (spent.input_tokens, spent.output_tokens, spent.cached_tokens, spent.cost) == (5, 0, 0, cost)


def test_nobody_listens(rig: Rig) -> None:
    failure = rig.fail("one", embedder=rig.embedder(api_base="http://127.0.0.1:9/v1"))
    assert (failure.retryable, "there is no connection" in failure.message) == (True, True)


def test_a_key_that_is_not_there_is_said_and_nothing_is_sent(rig: Rig) -> None:
    failure = rig.fail("one", embedder=rig.embedder({"OTHER": "x"}))
    assert failure.message == "the environment variable that embeddings.apiKeyEnv names is not set"
    assert not failure.retryable
    assert rig.server.requests == []


def test_no_well_known_key_goes_to_an_endpoint_of_ones_own(rig: Rig) -> None:
    rig.server.script(embeds((1, 0)))
    rig.embed("one", embedder=rig.embedder({"OPENAI_API_KEY": "sk-planted"}, api_key_env=None))
    assert rig.server.requests[0].key == "no-key"


def test_completions_and_vectors_share_the_worker(rig: Rig) -> None:
    rig.server.script(embeds((1, 0)), says("a bullet"), embeds((0, 1)))
    assert rig.embed("one") == [(1, 0)]
    pid = rig.worker.worker_pid
    assert rig.run(rig.worker.complete(prompt(MODEL))).text == "a bullet"
    assert rig.embed("one") == [(0, 1)]
    assert pid is not None
    assert rig.worker.worker_pid == pid


@pytest.mark.parametrize(
    ("embeddings", "expected"),
    [
        ({}, []),
        ({"provider": "none", "model": "openai/any"}, []),
        ({"model": "minilm", "api_base": "https://vectors.example"}, []),
        ({"provider": "litellm"}, []),
        ({"provider": "litellm", "model": "openai/any"}, ["openai"]),
        (
            {"provider": "litellm", "model": "openai/any", "api_base": "https://u:p@vectors.example/v1?key=k"},
            ["https://vectors.example/v1"],
        ),
    ],
    ids=["default", "none", "local", "no model", "provider", "endpoint without secrets"],
)
def test_where_texts_go_is_a_destination(embeddings: dict[str, Any], expected: list[str]) -> None:
    assert destinations(Settings(embeddings=EmbeddingsSettings(**embeddings)), host_samples=False) == expected
