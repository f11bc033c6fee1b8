"""`python -m bench.search [--traces N] [--queries N]`: builds a store in a temporary folder, then measures.

The peer of a search is what the same machine needs, in the same run and query by query in turn, for a numpy scan of the
same vectors and one query of the same FTS5 index. Times are medians.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from afterturn.capture.ports import NewEpisode, Put, Scope, SearchQuery
from afterturn.capture.rows import TraceRow
from afterturn.embeddings.local import LocalEmbedder
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.capture import CaptureResult, LlmCalls, StageTimings
from bench.search import corpus
from bench.search.floors import Floor


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def ms(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {statistics.median(ordered) * 1000:7.2f} ms   p95 {ordered[int(len(ordered) * 0.95)] * 1000:7.2f} ms"


def put_of(rows: list[TraceRow]) -> Put:
    def result() -> CaptureResult:
        return CaptureResult(
            episode_id=rows[0].trace.episode_id, session_id="s", trace_ids=[row.trace.trace_id for row in rows],
            traces=[], started_at=0, completed_at=0,
            stage_timings=StageTimings(extract=0, normalize=0, reflect=0, alpha=0, embed=0, persist=0),
            llm_calls=LlmCalls(reflection_synth=0, alpha_scoring=0, batched_reflection=0),
            usage=None, warnings=[], state="done", redactions=0,
        )  # fmt: skip

    return Put(rows=rows, superseded=[], missing=[], result=result, full=True)


async def fill(store: SqliteStore, rows: list[TraceRow], times: dict[str, list[float]]) -> None:
    """One episode of fifty steps, from intake to index."""
    jobs = store.capture.jobs
    number = rows[0].trace.episode_id
    snapshot = "".join(f"{row.trace.user_text}{row.trace.agent_text}{row.trace.tool_calls}" for row in rows)
    new = NewEpisode(
        job_id=number, episode_id=number, session_id="s", project="p", content_hash=number.encode().ljust(32),
        snapshot=snapshot.encode("utf-8", "replace"), options=b"{}", with_completer=False,
    )  # fmt: skip
    clock = time.perf_counter
    start = clock()
    await jobs.take_in(new, owner="bench", max_queued=10, now_ms=1)
    times["intake"].append(clock() - start)
    start = clock()
    work = (await jobs.claim(owner="bench", has_completer=False, lease_ms=10**6, now_ms=1)).work
    times["claim"].append(clock() - start)
    assert work is not None
    start = clock()
    await jobs.finish(work, put_of(rows), now_ms=1)
    times["finish"].append(clock() - start)
    start = clock()
    while await store.capture.text_index.catch_up():
        pass
    times["index"].append(clock() - start)


async def build(store: SqliteStore, embedder: LocalEmbedder, count: int, material: list[str]) -> list[TraceRow]:
    times: dict[str, list[float]] = {name: [] for name in ("intake", "claim", "finish", "index")}
    kept: list[TraceRow] = []
    dice = random.Random(3)
    source = corpus.traces(count, material, seed=1)
    while batch := [trace for _, trace in zip(range(50), source, strict=False)]:
        rows = await corpus.with_vectors(batch, embedder)
        await fill(store, rows, times)
        kept.append(dice.choice(rows))
    await store.retention.outbox_step(outbox_days=7, now_ms=1, limit=10**6)
    for name, each in times.items():
        say(f"{name + ' of 50 steps':<24} first tenth {ms(each[: len(each) // 10 or 1])}")
        say(f"{'':<24} last tenth  {ms(each[-(len(each) // 10 or 1) :])}")
    return kept


async def search(store: SqliteStore, embedder: LocalEmbedder, file: Path, asked: list[str]) -> None:
    clock = time.perf_counter
    vectors = await embedder.embed(asked)
    queries = [
        SearchQuery(scope=Scope(project="p"), limit=10, text=text, vector=vector, model=embedder.model)
        for text, vector in zip(asked, vectors, strict=True)
    ]
    start = clock()
    await store.capture.search.search(queries[0])
    say(f"first search, with the signs loaded: {(clock() - start) * 1000:.0f} ms")
    floor = Floor(file, embedder.dimension)
    times: dict[str, list[float]] = {name: [] for name in ("search", "scan", "fts", "words only", "vectors only")}
    agreed = 0.0
    for query in queries:
        assert query.vector is not None
        start = clock()
        await store.capture.search.search(query)
        times["search"].append(clock() - start)
        start = clock()
        near = floor.scan(query.vector)
        times["scan"].append(clock() - start)
        start = clock()
        floor.text(query.text or "")
        times["fts"].append(clock() - start)
        for name, part in (("words only", {"vector": None}), ("vectors only", {"text": None})):
            start = clock()
            found = await store.capture.search.search(
                SearchQuery(**{name: getattr(query, name) for name in query.__struct_fields__} | part)
            )
            times[name].append(clock() - start)
        true = {hit for hits in near for hit in hits[:5]}
        agreed += len({hit.trace.ts for hit in found.hits} & true) / len(true)
    for name, each in times.items():
        say(f"{name:<24} {ms(each)}")
    peer = [scan + fts for scan, fts in zip(times["scan"], times["fts"], strict=True)]
    ratio = statistics.median(times["search"]) / statistics.median(peer)
    say(f"hybrid search {ratio:.2f} x (numpy scan + FTS5), to reach <= 2")
    say(f"of the five nearest by each kind, found among ten: {agreed / len(queries):.0%}")
    for name in ("trace_text", "documents", "traces", "vectors", "vector_bits", "capture_jobs"):
        say(f"{name:<24} {floor.pages(name) / 1e6:8.1f} MB")


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=60)
    chosen = parser.parse_args()
    material = corpus.pieces()
    if not material:
        say("no transcripts found; set AFTERTURN_TRANSCRIPTS to their folder")
        return
    dice = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="afterturn-bench-") as folder:
        file = Path(folder) / "store" / "afterturn.db"
        store = SqliteStore(StorePlace(file=file, own_folder=True))
        embedder = LocalEmbedder()
        kept = await build(store, embedder, chosen.traces, material)
        asked: list[str] = []
        while len(asked) < chosen.queries:
            words = dice.choice(kept).trace.agent_text.split()
            start = dice.randrange(max(1, len(words) - 8))
            asked.append(" ".join(words[start : start + dice.randrange(3, 9)]))
        await search(store, embedder, file, asked)
        await store.close(timeout_ms=60_000)


if __name__ == "__main__":
    asyncio.run(main())
