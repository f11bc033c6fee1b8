"""traces/*: scope, limits and refusals (protocol.md, 'capture and traces'). What the store finds: tests/store."""

from typing import Any

import anyio
import msgspec
import pytest

from afterturn.capture import recall
from afterturn.capture.embedder import EmbeddingError
from afterturn.capture.refusals import RefusedError
from afterturn.misfits import InvalidInputError
from afterturn_protocol.traces import (
    TracesDeleteParams,
    TracesGetParams,
    TracesListParams,
    TracesSearchParams,
    TracesUpdateScoreParams,
)
from tests.capture.conftest import Opener, Starter
from tests.capture.harness import FakeEmbedder, says, user
from tests.capture.service_harness import Process

pytestmark = pytest.mark.anyio

EPISODES = [("a1", "sa", "/a"), ("a2", "sa2", "/a"), ("b1", "sb", "/b"), ("n1", "sn", None)]


@pytest.fixture
async def filled(start: Starter, stores: Opener) -> Process:
    """Two sessions of one project, one of another, one of none: each with one trace that says "common" and its name."""
    store = stores()
    process = start(store.capture, embedder=FakeEmbedder())
    for episode, session, project in EPISODES:
        await store.sessions.open(session, project=project, parent_session_id=None, now_ms=1)
        await process.finalize(episode, user(f"common {episode}"), says(f"answer {episode}"), session=session)
        await process.done()
    while await process.store.text_index.catch_up():
        pass
    process.used.clear()
    return process


async def listed(process: Process, **which: Any) -> str:
    params = msgspec.convert(which, TracesListParams)
    return " ".join(sorted(trace.episode_id for trace in (await process.recall.list(params)).traces))


async def searched(process: Process, **which: Any) -> str:
    params = msgspec.convert({"query": "common", **which}, TracesSearchParams)
    return " ".join(sorted(hit.trace.episode_id for hit in (await process.recall.search(params)).hits))


SCOPES = [
    pytest.param("", {}, "", id="nothing used"),
    pytest.param("sa", {}, "a1 a2", id="the project of a used session"),
    pytest.param("sn", {}, "n1", id="a session without project is one of its own"),
    pytest.param("sa sn", {}, "a1 a2 n1", id="several"),
    pytest.param("", {"project": "/a"}, "a1 a2", id="given"),
    pytest.param("sb", {"project": "/a"}, "a1 a2", id="given, though another is used"),
    pytest.param("sa", {"project": "/c"}, "", id="one that is not there"),
    pytest.param("", {"project": "*"}, "a1 a2 b1 n1", id="all"),
]


@pytest.mark.req("traces.scope")
@pytest.mark.parametrize(("used", "which", "episodes"), SCOPES)
async def test_scope(filled: Process, used: str, which: dict[str, Any], episodes: str) -> None:
    """Case M12: no project sees another's, by words or by vectors."""
    for session in used.split():
        filled.used[session] = 0
    assert await listed(filled, **which) == episodes
    for mode in ("hybrid", "text", "vector"):
        assert await searched(filled, mode=mode, **which) == episodes


@pytest.mark.req("traces.list", "traces.search")
@pytest.mark.parametrize(
    ("which", "lists", "finds"),
    [
        pytest.param({"sessionId": "sa"}, "a1", "a1 a2", id="a session: its own rows, its project's hits"),
        pytest.param({"sessionId": "sn"}, "n1", "n1", id="a session without project"),
        pytest.param({"sessionId": "sa", "project": "/b"}, "", "b1", id="a session and another project"),
        pytest.param({"sessionId": "nobody"}, "", "", id="an unknown session"),
    ],
)
async def test_scope_of_a_session(filled: Process, which: dict[str, Any], lists: str, finds: str) -> None:
    assert await listed(filled, **which) == lists
    assert await searched(filled, **which) == finds


@pytest.mark.req("traces.scope")
@pytest.mark.parametrize("which", [{}, {"sessionId": "never opened"}], ids=["the connection's", "the session's"])
async def test_a_session_has_the_project_that_its_episode_came_with(filled: Process, which: dict[str, Any]) -> None:
    """To list, to search and to delete, as if it had been opened with it: another of its project is found too."""
    for episode, session in (("c1", "never opened"), ("c2", "another")):
        await filled.finalize(episode, user(f"common {episode}"), session=session, project="/c")
        await filled.done()
    while await filled.store.text_index.catch_up():
        pass
    filled.used = {"never opened": 0}
    assert await listed(filled, **which) == ("c1" if which else "c1 c2")
    for mode in ("hybrid", "text", "vector"):
        assert await searched(filled, mode=mode, **which) == "c1 c2"
    given = {"before": 10**13, "session_id": which.get("sessionId")}
    assert await filled.delete(**given) == (1 if which else 2)
    assert await listed(filled, project="*") == ("a1 a2 b1 c2 n1" if which else "a1 a2 b1 n1")


async def test_an_episode_needs_no_session(filled: Process) -> None:
    assert await listed(filled, episodeId="b1") == "b1"
    assert await listed(filled, episodeId="b1", project="/a") == ""
    assert await listed(filled, episodeId="zz") == ""


async def test_pages(filled: Process) -> None:
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(4):
        page = await filled.recall.list(TracesListParams(project="*", limit=1, cursor=cursor))
        seen += [trace.episode_id for trace in page.traces]
        cursor = page.next_cursor
    assert cursor is None
    assert sorted(seen) == ["a1", "a2", "b1", "n1"]


@pytest.mark.parametrize(
    ("call", "params", "path"),
    [
        pytest.param("list", TracesListParams(limit=0), "$.limit", id="no rows"),
        pytest.param("list", TracesListParams(cursor="x"), "$.cursor", id="cursor"),
        pytest.param("search", TracesSearchParams(query=" \n"), "$.query", id="blank query"),
        pytest.param("search", TracesSearchParams(query="a", mode="fuzzy"), "$.mode", id="mode"),
        pytest.param("search", TracesSearchParams(query="a", vector="both"), "$.vector", id="vector"),
        pytest.param("search", TracesSearchParams(query="a", limit=0), "$.limit", id="no hits"),
        pytest.param("get", TracesGetParams(trace_ids=["x"] * 10_001), "$.traceIds", id="too many ids"),
        pytest.param("delete", TracesDeleteParams(), "$", id="no filter", marks=pytest.mark.req("traces.delete")),
        pytest.param("delete", TracesDeleteParams(trace_ids=["x"] * 10_001), "$.traceIds", id="too many to delete"),
    ],
)
async def test_refused(start: Starter, call: str, params: Any, path: str) -> None:
    process = start()
    more: dict[str, Any] = {"after_reply": lambda effect: None} if call == "delete" else {}
    with pytest.raises(InvalidInputError) as refused:
        await getattr(process.recall, call)(params, **more)
    assert refused.value.path == path


@pytest.mark.req("traces.get")
async def test_get_says_what_is_missing(filled: Process) -> None:
    ids = [trace.trace_id for trace in (await filled.recall.list(TracesListParams(project="*"))).traces]
    result = await filled.recall.get(TracesGetParams(trace_ids=[ids[2], "nobody", ids[0]]))
    assert [trace.trace_id for trace in result.traces] == [ids[2], ids[0]]
    assert result.missing == ["nobody"]
    assert (await filled.recall.get(TracesGetParams(trace_ids=[]))).missing == []


@pytest.mark.req("traces.update-score")
async def test_scores_are_set_and_stay(filled: Process) -> None:
    (trace,) = (await filled.recall.list(TracesListParams(episode_id="b1"))).traces
    updates = [{"traceId": trace.trace_id, "value": 0.5, "rHuman": -1}, {"traceId": "nobody", "value": 1}]
    result = await filled.recall.update_score(msgspec.convert({"updates": updates}, TracesUpdateScoreParams))
    assert result.updated == 1
    (after,) = await filled.traces([trace.trace_id])
    assert (after.value, after.r_human, after.priority) == (0.5, -1.0, 0.0)


@pytest.mark.req("traces.delete")
@pytest.mark.parametrize(
    ("which", "left", "count"),
    [
        pytest.param({"episode_id": "a1"}, "a2 b1 n1", 1, id="an episode"),
        pytest.param({"session_id": "sa"}, "a2 b1 n1", 1, id="a session"),
        pytest.param({"project": "/a"}, "b1 n1", 2, id="a project"),
        pytest.param({"project": "*"}, "", 4, id="everything"),
        pytest.param({"before": 0}, "a1 a2 b1 n1", 0, id="nothing so old"),
        pytest.param({"before": 10**13}, "a1 a2 b1 n1", 0, id="of the used sessions, and none is used"),
        pytest.param({"before": 10**13, "project": "/b"}, "a1 a2 n1", 1, id="a project's"),
        pytest.param({"trace_ids": []}, "a1 a2 b1 n1", 0, id="no ids"),
        pytest.param({"trace_ids": ["nobody"]}, "a1 a2 b1 n1", 0, id="an unknown id"),
    ],
)
async def test_delete(filled: Process, which: dict[str, Any], left: str, count: int) -> None:
    """Case M14: gone from list, words and vectors; again is 0, which is a count."""
    assert await filled.delete(**which) == count
    assert await listed(filled, project="*") == left
    for mode in ("text", "vector"):
        assert await searched(filled, project="*", mode=mode) == left
    assert await filled.delete(**which) == 0


async def test_search_without_an_embedder(filled: Process) -> None:
    """Case M09: words go on; vectors alone are refused, with the reason."""
    for embedder, why, retryable in (
        (None, "no embedder", False),
        (FakeEmbedder(EmbeddingError("refused by the host")), "by the host", True),
        (FakeEmbedder(EmbeddingError("a wrong key", retryable=False)), "a wrong key", False),
    ):
        filled.embedder = embedder
        assert await searched(filled, project="*") == "a1 a2 b1 n1"
        with pytest.raises(RefusedError, match=why) as refused:
            await searched(filled, project="*", mode="vector")
        assert (refused.value.kind, refused.value.retryable) == ("provider_unavailable", retryable)


async def test_words_do_not_wait_for_a_silent_embedder(filled: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """P06: a provider that hangs costs a search its vectors, not its answer."""
    monkeypatch.setattr(recall, "MEANING_SECONDS", 0.01)
    silent = FakeEmbedder()
    silent.embed = never  # type: ignore[method-assign]
    filled.embedder = silent
    assert await searched(filled, project="*") == "a1 a2 b1 n1"


async def test_another_model_leaves_rows_out_and_counts_them(filled: Process) -> None:
    """Case M08: capture goes on, and what cannot be compared is said."""
    other = FakeEmbedder(dimension=3)
    other.model = "fake-3"
    filled.embedder = other
    other.embed = three_components  # type: ignore[method-assign]
    await filled.finalize("c1", user("common c1"), says("answer c1"), session="sa")
    await filled.done()
    result = await filled.recall.search(TracesSearchParams(query="common", project="*", mode="vector"))
    assert [hit.trace.episode_id for hit in result.hits] == ["c1"]
    assert result.stale == 4
    while await filled.store.text_index.catch_up():
        pass
    assert await searched(filled, project="*", mode="text") == "a1 a2 b1 c1 n1"


async def never(texts: Any) -> list[bytes]:
    await anyio.sleep_forever()


async def three_components(texts: Any) -> list[bytes]:
    import struct

    return [struct.pack("<3f", 1.0, 0.0, 0.0) for _ in texts]
