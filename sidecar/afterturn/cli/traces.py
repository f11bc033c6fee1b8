"""`afterturn traces list|show|search|export`: what was captured, read straight from the store."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio

from afterturn.capture.embedder import EmbeddingError
from afterturn.capture.normalising import json_text
from afterturn.capture.ports import Scope, SearchQuery, TraceFilter
from afterturn.capture.snapshots import packed
from afterturn.cli.embedder import user_embedder
from afterturn.cli.place import file_settings, user_store
from afterturn.cli.table import aligned, fitting
from afterturn.storage import store_status
from afterturn.store.sqlite.store import SqliteStore
from afterturn.store_error import StoreError
from afterturn.text import clean, cut_width, one_line
from afterturn_protocol.traces import ToolCallDTO, Trace, TraceHit

PAGE = 200
SHORTEST_TEXT = 20
GIST_CHARS = 400
INDENT = "  "


def run(options: argparse.Namespace) -> int:
    """Do one of the four; 1 where there is no store, no such trace, or a store that cannot be read; 2 for no query."""
    if options.action == "search" and not options.query.strip():
        sys.stderr.write("afterturn: there is nothing to look for: QUERY is blank\n")
        return 2
    try:
        return anyio.run(_run, options)
    except StoreError as problem:
        sys.stderr.write(f"afterturn: {problem}\n")
        return 1


async def _run(options: argparse.Namespace) -> int:
    store = user_store(os.environ)
    if store_status(store).bytes is None:
        sys.stderr.write(f"afterturn: there is no store at {store.place.file}\n")
        return 1
    try:
        return await {"list": _list, "show": _show, "search": _search, "export": _export}[options.action](
            store, options
        )
    finally:
        await store.close()


def _scope(options: argparse.Namespace) -> Scope:
    return Scope(project="*" if options.project is None else options.project)


async def _pages(store: SqliteStore, options: argparse.Namespace, most: int | None) -> AsyncGenerator[Trace]:
    """The traces that the options pick, newest first, at most so many."""
    which = TraceFilter(scope=_scope(options), session_id=options.session, episode_id=options.episode)
    cursor: str | None = None
    left = most
    while left is None or left > 0:
        limit = PAGE if left is None else min(left, PAGE)
        page, cursor = await store.capture.traces.page(which, cursor=cursor, limit=limit)
        for trace in page:
            yield trace
        if left is not None:
            left -= len(page)
        if cursor is None:
            return


# -- list and search ----------------------------------------------------------------------------------------------


async def _list(store: SqliteStore, options: argparse.Namespace) -> int:
    traces = [trace async for trace in _pages(store, options, options.limit)]
    if options.json:
        return _print_json(traces)
    rows = [_cells(trace) for trace in traces]
    _print_table(["WHEN", "TRACE", "ALPHA", "TOOLS", "WHAT"], rows, expendable=(3, 2, 0, 1))
    count = f"{len(traces):,} trace{'s' * (len(traces) != 1)}"
    more = "; more with --limit" if options.limit is not None and len(traces) == options.limit else ""
    sys.stdout.write(f"{count}{more}\n")
    return 0


async def _search(store: SqliteStore, options: argparse.Namespace) -> int:
    vector, model = await _meaning(store, options.query)
    query = SearchQuery(scope=_scope(options), limit=options.limit, text=options.query, vector=vector, model=model)
    found = await store.capture.search.search(query)
    if options.json:
        return _print_json(found.hits)
    rows = [[f"{hit.score:.4f}", _why(hit), *_cells(hit.trace)[1:2], _gist(hit.trace)] for hit in found.hits]
    _print_table(["SCORE", "BY", "TRACE", "WHAT"], rows, expendable=(1, 0, 2))
    sys.stdout.write(f"{len(found.hits):,} hit{'s' * (len(found.hits) != 1)}\n")
    if found.stale:
        sys.stderr.write(
            f"afterturn: {found.stale:,} traces have vectors of another model and were looked for by words only; "
            "`afterturn reembed` makes them anew\n"
        )
    return 0


async def _meaning(store: SqliteStore, query: str) -> tuple[bytes | None, str | None]:
    try:
        async with user_embedder(file_settings(os.environ), os.environ, store) as embedder:
            if embedder is None:
                return None, None
            return (await embedder.embed([query]))[0], embedder.model
    except (EmbeddingError, ValueError) as problem:
        sys.stderr.write(f"afterturn: looking for words only: {problem}\n")
        return None, None


def _why(hit: TraceHit) -> str:
    scores = {"words": hit.scores.text, "state": hit.scores.summary, "action": hit.scores.action}
    return ", ".join(f"{name} {score:.2f}" for name, score in scores.items() if score is not None)


def _cells(trace: Trace) -> list[str]:
    reflection = trace.reflection
    alpha = f"{reflection.alpha:.2f}" if reflection.text is not None else "-"
    return [_when(trace.ts), trace.trace_id, alpha, _tools(trace), _gist(trace)]


def _when(ms: int) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(ms / 1000))
    except (OverflowError, OSError, ValueError):  # a host may have sent any number
        return str(ms)


def _tools(trace: Trace) -> str:
    names = list(dict.fromkeys(call.name for call in trace.tool_calls))
    return cut_width(_begin(", ".join(names)), 20) or "-"


def _gist(trace: Trace) -> str:
    gone = "(superseded) " if trace.superseded else ""
    asked, said = _begin(trace.user_text), _begin(trace.agent_text)
    return gone + (f"{cut_width(asked, 60)} -> {said}" if asked and said else asked or said or "-")


def _begin(text: str) -> str:
    return one_line(clean(text[:GIST_CHARS]))


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]], expendable: Sequence[int]) -> None:
    """As wide as the terminal, or COLUMNS, says; whole where neither does. The id goes last, since `show` takes it."""
    if rows:
        columns = shutil.get_terminal_size((0, 0)).columns or None
        table = fitting([head, *rows], columns, expendable=expendable, shortest_last=SHORTEST_TEXT)
        lines = aligned(table, columns, shortest_last=SHORTEST_TEXT)
        sys.stdout.write("".join(f"{line}\n" for line in lines))


# -- show and export ----------------------------------------------------------------------------------------------


async def _show(store: SqliteStore, options: argparse.Namespace) -> int:
    found = await store.capture.traces.get([options.trace])
    if not found:
        sys.stderr.write(f"afterturn: there is no trace {options.trace!r}\n")
        return 1
    if options.json:
        return _print_json(found)
    sys.stdout.write("".join(f"{line}\n" for line in _lines(found[0])))
    return 0


def _lines(trace: Trace) -> list[str]:
    reflection = trace.reflection
    vectors = [
        name for name, is_there in (("state", trace.vectors.summary), ("action", trace.vectors.action)) if is_there
    ]
    facts = [
        ("trace", trace.trace_id + (" (superseded)" if trace.superseded else "")),
        ("episode", f"{trace.episode_id}, step {trace.step_index}, turn {trace.turn_id}"),
        ("session", trace.session_id),
        ("project", trace.project or "-"),
        ("when", _when(trace.ts)),
        ("depth", f"{trace.depth}{', sub-agent' if trace.is_subagent else ''}"),
        ("tags", ", ".join(trace.tags) or "-"),
        ("errors", ", ".join(trace.error_signatures) or "-"),
        ("scores", f"value {trace.value:g}, priority {trace.priority:g}, rating {trace.r_human or '-'}"),
        ("vectors", f"{', '.join(vectors)} ({trace.vectors.model})" if vectors else "none"),
    ]
    lines = aligned(facts, None)
    lines += _part("USER", trace.user_text) + _part("THINKING", trace.agent_thinking or "")
    for number, call in enumerate(trace.tool_calls, 1):
        lines += _call(number, call)
    lines += _part("AGENT", trace.agent_text)
    worth = f"alpha {reflection.alpha:.2f}, {'usable' if reflection.usable else 'not usable'}, {reflection.source}"
    lines += _part(f"REFLECTION ({worth})", reflection.text or "")
    return lines + (_part("WHY THIS ALPHA", reflection.reason) if reflection.reason else [])


def _call(number: int, call: ToolCallDTO) -> list[str]:
    failed = f", failed: {call.error_code}" if call.error_code else ""
    output = call.output if isinstance(call.output, str) else json_text(call.output)
    return _part(f"CALL {number}: {call.name}{failed}", f"{json_text(call.input)}\n{output or ''}")


def _part(title: str, text: str) -> list[str]:
    if not text.strip():
        return []
    return ["", one_line(title), *(INDENT + line for line in clean(text).strip("\n").split("\n"))]


async def _export(store: SqliteStore, options: argparse.Namespace) -> int:
    async for trace in _pages(store, options, None):
        sys.stdout.write(packed(trace).decode() + "\n")
    return 0


def _print_json(values: Sequence[Any]) -> int:
    """One JSON array, a value a line, so that it reads and can be cut."""
    sys.stdout.write("[" + ",".join(f"\n{packed(value).decode()}" for value in values) + "\n]\n")
    return 0
