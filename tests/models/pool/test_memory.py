"""What is paid for once, what is retried with more room, and which secrets are seen where (models.md, 'Completers')."""

import asyncio
import logging

import pytest

from afterturn.completion import CompleterError, PromptMessage
from afterturn.models.asking import MOST_REPLY_TOKENS
from afterturn.models.lazy import LazyCompleter
from afterturn.models.provider import MAX_REPLY_CHARS
from afterturn.store.sqlite.memo import KEPT_MS, KEPT_ROWS
from afterturn.store.sqlite.store import SqliteStore
from tests.models.pool.conftest import Opener
from tests.models.pool.harness import MODEL, OTHER, Harness, pass_by, reply, status, until
from tests.redact.fakes import made

pytestmark = pytest.mark.anyio


async def opened(store: SqliteStore, *sessions: str) -> None:
    for session in sessions or ("s",):
        await store.sessions.open(session, project=None, parent_session_id=None, now_ms=1)


async def memory(store: SqliteStore) -> list[bytes]:
    return await store._engine.read(
        lambda connection: [text for (text,) in connection.execute("SELECT text FROM memo ORDER BY memo")], key="s"
    )


# -- memory


async def test_a_completion_is_never_paid_for_twice(open_again: Opener) -> None:
    """Also not after a restart, nor in another session."""
    store = open_again()
    await opened(store, "s", "other")
    first = await Harness(store, reply("the answer")).ask()
    again = Harness(open_again(), reply("another answer"))
    for session in ("s", "other"):
        completion = await again.ask(session_id=session)
        assert (completion.text, completion.model, completion.stop_reason, completion.usage) == (
            "the answer", MODEL, "stop", None,
        )  # fmt: skip
    assert again.provider.prompts == []
    assert first.usage is not None


@pytest.mark.parametrize(
    "other",
    [
        {"purpose": "recap"},
        {"prompt_version": "2"},
        {"model": OTHER},
        {"max_tokens": 200},
        {"reasoning": "default"},
        {"messages": [PromptMessage("user", "rules"), PromptMessage("user", "a prompt")]},
        {"messages": [PromptMessage("system", "rulesa"), PromptMessage("user", " prompt")]},
        {"messages": [PromptMessage("system", "rules")]},
        {"fresh": True},
    ],
    ids=str,
)
async def test_what_makes_it_another_call(store: SqliteStore, other: dict[str, object]) -> None:
    await opened(store)
    harness = Harness(store)
    await harness.ask()
    await harness.ask(**other)
    assert len(harness.provider.prompts) == 2


@pytest.mark.parametrize("same", [{"max_calls": 1}, {"background": True}, {"total_timeout_ms": 5}, {}], ids=str)
async def test_what_does_not(store: SqliteStore, same: dict[str, object]) -> None:
    await opened(store)
    harness = Harness(store)
    await harness.ask()
    await harness.ask(**same)
    assert len(harness.provider.prompts) == 1


async def test_a_fresh_answer_takes_the_place_of_the_old_one(store: SqliteStore) -> None:
    await opened(store)
    harness = Harness(store, reply("old"), reply("new"))
    await harness.ask()
    assert (await harness.ask(fresh=True)).text == "new"
    assert (await harness.ask()).text == "new"
    assert len(await memory(store)) == 1


async def test_the_fallbacks_answer_is_remembered_too(store: SqliteStore) -> None:
    await opened(store)
    harness = Harness(
        store, lambda prompt: status(401) if prompt.model == MODEL else reply(model=OTHER), fallback_model=OTHER
    )
    await harness.ask()
    calls = len(harness.provider.prompts)
    assert (await harness.ask()).model == OTHER
    assert len(harness.provider.prompts) == calls


async def test_c02_nothing_of_a_bad_reply_is_kept(store: SqliteStore) -> None:
    """Case C02: cut, empty, only thinking, stopped by an error: in no table."""
    await opened(store)
    for bad in [reply("half of a", stop="length"), reply(""), reply(" \n"), reply("<think>half"),
                *(reply("half", stop=stop) for stop in ("error", "aborted", "tool_use"))]:  # fmt: skip
        await Harness(store, bad).ask()
    assert await memory(store) == []


async def test_deleting_the_session_deletes_it(store: SqliteStore) -> None:
    await opened(store)
    harness = Harness(store)
    await harness.ask()
    await store.sessions.delete("s", now_ms=2)
    assert await memory(store) == []
    await harness.ask()
    assert len(harness.provider.prompts) == 2


async def test_what_comes_after_the_deletion_is_not_kept(store: SqliteStore) -> None:
    await opened(store)
    harness = Harness(store)
    harness.provider.gate.clear()
    task = asyncio.create_task(harness.ask())
    await until(lambda: harness.provider.running == 1)
    await store.sessions.delete("s", now_ms=2)
    await opened(store)
    harness.provider.gate.set()
    assert (await task).text == "fine"
    assert await memory(store) == []


async def test_it_is_bounded_in_age_and_number(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert KEPT_ROWS == 2000
    await opened(store)
    harness = Harness(store)
    await harness.ask("old")
    harness.clock.ms += KEPT_MS + 1
    await harness.ask("old")
    assert len(harness.provider.prompts) == 2
    assert len(await memory(store)) == 1
    monkeypatch.setattr("afterturn.store.sqlite.memo.KEPT_ROWS", 3)
    for number in range(6):
        harness.provider.script = [reply(f"answer {number}")]
        await harness.ask(f"{number}")
    assert [text[1:] for text in await memory(store)] == [b"answer 3", b"answer 4", b"answer 5"]


# -- cut and empty replies


@pytest.mark.parametrize(
    "bad", [reply("half", stop="length"), reply(""), reply(" \n "), reply("<think>\nall of it went into this")]
)
async def test_a_cut_or_empty_reply_is_retried_once_with_more_room(store: SqliteStore, bad: object) -> None:
    harness = Harness(store, bad, reply("whole"))
    completion = await harness.ask(purpose="recap", max_tokens=256)
    assert (completion.text, completion.stop_reason) == ("whole", "stop")
    assert [prompt.max_tokens for prompt in harness.provider.prompts] == [256, 512]


async def test_one_that_is_still_cut_comes_as_it_is(store: SqliteStore) -> None:
    harness = Harness(store, reply("half", stop="length"), reply("half again", stop="length"))
    completion = await harness.ask()
    assert (completion.text, completion.stop_reason, len(harness.provider.prompts)) == ("half again", "length", 2)


@pytest.mark.parametrize("after", [status(500), status(400)])
async def test_a_retry_that_fails_leaves_the_first_reply(store: SqliteStore, after: Exception) -> None:
    harness = Harness(store, reply("half", stop="length"), after)
    completion = await harness.ask()
    assert (completion.text, completion.stop_reason) == ("half", "length")
    assert completion.usage is not None
    assert completion.usage.calls == 1


@pytest.mark.parametrize(
    ("bad", "given"),
    [
        (reply("half", stop="length"), {"max_calls": 1}),
        (reply("half", stop="length"), {"max_tokens": MOST_REPLY_TOKENS}),
        (reply("half", stop="error"), {}),
        (reply("", stop="aborted"), {}),
        (reply("half", stop="tool_use"), {}),
    ],
)
async def test_when_it_is_not_retried(store: SqliteStore, bad: object, given: dict[str, object]) -> None:
    harness = Harness(store, bad, reply())
    await harness.ask(**given)
    assert len(harness.provider.prompts) == 1


@pytest.mark.parametrize(
    ("said", "means"),
    [
        *(("stop", "stop"), ("length", "length"), ("error", "error"), ("aborted", "aborted")),
        *(("tool_use", "error"), ("toolUse", "error"), ("end_turn", "error"), ("Stop", "error"), ("", "error")),
    ],
)
async def test_only_stop_counts_as_an_answer(store: SqliteStore, said: str, means: str) -> None:
    """spec/server-requests.md, for every job."""
    completion = await Harness(store, reply("a text", stop=said)).ask(max_calls=1)
    assert (completion.text, completion.stop_reason) == ("a text", means)


async def test_reasoning_is_off_where_the_job_says_so(store: SqliteStore) -> None:
    harness = Harness(store)
    await harness.ask()
    await harness.ask(reasoning="default")
    assert [prompt.reasoning for prompt in harness.provider.prompts] == ["off", "default"]


# -- secrets


SECRETS = [
    made("AKIA", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    made("ghp_", 36),
    made("sk-ant-api03-", 93) + "AA",
    made("sk-proj-", 48),
    made("AIza", 35),
    made("xoxb-123456789012-123456789012-", 24),
    made("glpat-", 20),
    made("npm_", 36),
    made("hf_", 34),
    made("sk_live_", 24),
    made("Authorization: Bearer ", 40),
    made("postgres://app:", 20) + "@db.example.org/app",
]


@pytest.mark.parametrize("place", ["prompt", "reply"])
@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:8])
async def test_s04_twelve_kinds_of_keys_are_seen_nowhere(
    store: SqliteStore, secret: str, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Case S04 at the pool: no prompt, no memo row, no reply, no log at any level."""
    caplog.set_level(logging.DEBUG)
    await opened(store)
    text = f"the tool said\n{secret}\nand went on"
    harness = Harness(store, reply(text if place == "reply" else "fine"))
    prompt = text if place == "prompt" else "tell me"
    completion = await harness.ask(messages=[PromptMessage("system", prompt), PromptMessage("user", prompt)])
    bare = secret.rpartition(" ")[2].rpartition("@")[0].rpartition(":")[2] or secret.rpartition(" ")[2]
    seen = [message.content for prompt in harness.provider.prompts for message in prompt.messages]
    assert len(bare) > 15
    assert bare not in "\n".join([*seen, completion.text, caplog.text])
    assert all(bare.encode() not in row for row in await memory(store))
    assert "REDACTED" in (completion.text if place == "reply" else seen[0])


async def test_c05_literals_come_through_as_they_are(store: SqliteStore) -> None:
    """Case C05 at the pool: what is no secret is the same char for char in prompt, reply and memory."""
    literals = "src/auth/jwt.ts:142 TS2345 exit 137 a3f9c1d `npm run build` \u6f22\u5b57 \U0001f680 \ud83d"
    await opened(store)
    harness = Harness(store, reply(literals))
    first, again = await harness.ask(literals), await harness.ask(literals)
    assert [harness.provider.prompts[0].messages[1].content, first.text, again.text] == [literals] * 3


async def test_a_heavy_prompt_is_redacted_too(store: SqliteStore) -> None:
    harness = Harness(store)
    await harness.ask("x " * 50_000 + SECRETS[1])
    assert SECRETS[1] not in harness.provider.prompts[0].messages[1].content


async def test_a_reply_is_bounded(store: SqliteStore) -> None:
    harness = Harness(store, reply("y" * (MAX_REPLY_CHARS + 1)))
    assert len((await harness.ask()).text) == MAX_REPLY_CHARS


# -- nothing configured


@pytest.mark.parametrize(
    "settings", [{"model": None}, {"provider": "none"}, {"provider": "host"}, {"provider": "litellm", "model": None}]
)
async def test_s06_without_a_provider_nothing_is_made_or_asked(store: SqliteStore, settings: dict[str, object]) -> None:
    """Cases S06, P01 at the pool: no provider is even constructed, so nothing is loaded and no socket opened."""
    harness = Harness(store, **settings)
    lazy = LazyCompleter(lambda: harness.settings, lambda: False, lambda: harness.pool)
    assert not lazy.available("s", None)
    with pytest.raises(CompleterError) as caught:
        await harness.ask()
    assert (caught.value.kind, caught.value.retryable, caught.value.called) == ("provider_unavailable", False, False)
    assert harness.made == []
    assert not (store.place.file).exists()


async def test_a_provider_is_made_once_and_closed(store: SqliteStore) -> None:
    harness = Harness(store)
    await harness.ask("one")
    await harness.ask("two")
    assert harness.made == ["litellm"]
    await harness.pool.close()
    assert harness.provider.closed
    await pass_by()


async def test_without_a_store_nothing_is_asked(store: SqliteStore) -> None:
    await store.close()
    harness = Harness(store)
    with pytest.raises(CompleterError) as caught:
        await harness.ask()
    assert (caught.value.kind, caught.value.called, harness.provider.prompts) == ("store_unavailable", False, [])
