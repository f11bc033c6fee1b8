"""Search: full text and vectors, joined by reciprocal rank (capture/ports.py, `TraceSearch`; store.md, 'Search')."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from afterturn.capture.ports import Found, SearchQuery
from afterturn.store.sqlite.bits import BitMatrix, cosines
from afterturn.store.sqlite.documents import scope_word
from afterturn.store.sqlite.projects import projects_in
from afterturn.store.sqlite.trace_rows import traces_where
from afterturn.store.sqlite.values import encoded
from afterturn.store.sqlite.vectors import FLOAT_BYTES
from afterturn.store.sqlite.words import is_single_pair_character, query_words
from afterturn_protocol.traces import HitScores, Trace, TraceHit

if TYPE_CHECKING:
    from sqlite3 import Connection

    from afterturn.store.sqlite.engine import Engine

RANK_CONSTANT = 10
"""Of reciprocal rank fusion: how little the first places of one list weigh against being in several.

With the usual 60, and all lists alike, two vectors that know little outvote the words: of 300 queries made of words of
2,900 real steps the step was among the first five for 74 %, so for 93 %.
"""

WEIGHTS = {"text": 1.0, "summary": 0.5, "action": 0.5}
"""What a list counts: the vectors together as much as the words."""

CANDIDATES = 100
"""How many of each list are joined; never fewer than four times the limit."""

RESCORED = 400
"""How many of the nearest by signs are compared by their cosine; never fewer than four times the candidates."""

QUERY_WORDS = 32
SEEN_WEIGHT = 0.5
"""What a word in a tool's output weighs against one that somebody wrote."""

RANKED_ROWS = 20_000
"""Words that together stand in more rows than this, the most frequent ones, are not asked for: every row that a query
matches is scored, and words that stand everywhere tell the least."""

HELD_MATRICES = 32


class SqliteTraceSearch:
    """`TraceSearch` on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._matrices = _Matrices()

    async def search(self, query: SearchQuery) -> Found:
        """The best hits. Raises StoreUnavailable."""
        return await self._engine.read(lambda connection: _search(connection, self._matrices, query), key=self)


class _Ranked(Struct, frozen=True):
    """One list: which score it gives, and (trace, score), best first."""

    name: str
    traces: Sequence[tuple[int, float]]


class _Matrices:
    """The signs of the projects searched last. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[tuple[int | None, int], BitMatrix] = {}

    def nearest(
        self, connection: Connection, projects: Sequence[int] | None, query: SearchQuery, embedder: int, count: int
    ) -> tuple[dict[str, list[int]], int]:
        """For each kind the traces nearest by signs, and how many rows there are of other models."""
        assert query.vector is not None
        found: dict[str, list[int]] = {kind: [] for kind in query.kinds}
        others = 0
        with self._lock:
            for project in [None] if projects is None else projects:
                matrix = self._matrix(project, embedder, len(query.vector) // FLOAT_BYTES)
                matrix.keep_up(connection)
                others += matrix.others
                for kind in query.kinds:
                    found[kind] += matrix.nearest(query.vector, kind, count)
        return found, others

    def _matrix(self, project: int | None, embedder: int, dimension: int) -> BitMatrix:
        key = (project, embedder)
        matrix = self._held.pop(key, None) or BitMatrix(project, embedder, dimension)
        self._held[key] = matrix  # the one used last stands last
        if len(self._held) > HELD_MATRICES:
            del self._held[next(iter(self._held))]
        return matrix


def _search(connection: Connection, matrices: _Matrices, query: SearchQuery) -> Found:
    projects = projects_in(connection, query.scope)
    lists: list[_Ranked] = []
    stale = None
    count = max(CANDIDATES, 4 * query.limit)
    if projects is None or projects:
        words = query_words(query.text or "", QUERY_WORDS)
        if words:
            lists.append(_Ranked("text", _by_words(connection, projects, words, count)))
        if query.vector is not None:
            ranked, stale = _by_vector(connection, matrices, projects, query, count)
            lists += ranked
    elif query.vector is not None:
        stale = 0
    return Found(hits=_hits(connection, lists, query.limit), stale=stale)


def _by_words(
    connection: Connection, projects: Sequence[int] | None, words: Sequence[str], count: int
) -> list[tuple[int, float]]:
    terms = [f'"{word}"*' if is_single_pair_character(word) else f'"{word}"' for word in words]
    scope = None
    if projects is not None:
        scope = "scope : (" + " OR ".join(f'"{scope_word(project)}"' for project in projects) + ")"
    if scope is None or _matched(connection, scope) > RANKED_ROWS:
        terms = _telling(connection, terms)
    match = f"{{said seen}} : ({' OR '.join(terms)})"
    rows = connection.execute(
        "SELECT d.trace, -f.score FROM (SELECT rowid AS document, rank AS score FROM trace_text"
        f" WHERE trace_text MATCH ? AND rank MATCH 'bm25(0.0, 1.0, {SEEN_WEIGHT})' ORDER BY rank LIMIT ?) f"
        " JOIN documents d ON d.document = f.document WHERE d.trace IS NOT NULL ORDER BY f.score, d.trace DESC",
        (match if scope is None else f"{scope} AND {match}", count),
    )
    return rows.fetchall()


def _telling(connection: Connection, terms: Sequence[str]) -> list[str]:
    """The rarest terms, as many as stand in few enough rows together; the rarest one always."""
    found = sorted(((_matched(connection, term), place) for place, term in enumerate(terms)))
    kept: list[str] = []
    matched = 0
    for rows, place in found:
        matched += rows
        if kept and matched > RANKED_ROWS:
            break
        if rows:
            kept.append(terms[place])
    return kept or list(terms[:1])


def _matched(connection: Connection, match: str) -> int:
    """How many rows match; not counted further than matters."""
    count: int = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM trace_text WHERE trace_text MATCH ? LIMIT ?)", (match, RANKED_ROWS + 1)
    ).fetchone()[0]
    return count


def _by_vector(
    connection: Connection, matrices: _Matrices, projects: Sequence[int] | None, query: SearchQuery, count: int
) -> tuple[list[_Ranked], int]:
    assert query.vector is not None
    row = connection.execute(
        "SELECT embedder FROM embedders WHERE model = ? AND dimension = ?",
        (encoded(query.model or ""), len(query.vector) // FLOAT_BYTES),
    ).fetchone()
    near, others = matrices.nearest(connection, projects, query, 0 if row is None else row[0], max(RESCORED, 4 * count))
    return [_Ranked(kind, _rescored(connection, query.vector, kind, near[kind], count)) for kind in query.kinds], others


def _rescored(
    connection: Connection, vector: bytes, kind: str, traces: Sequence[int], count: int
) -> list[tuple[int, float]]:
    offset = 0 if kind == "summary" else 1
    found: list[tuple[int, bytes]] = []
    for start in range(0, len(traces), 500):
        part = traces[start : start + 500]
        found += connection.execute(
            f"SELECT vector / 2, data FROM vectors WHERE vector IN ({','.join('?' * len(part))})",
            [2 * trace + offset for trace in part],
        )
    if not found:
        return []
    scores = cosines(vector, [data for _, data in found])
    ranked = sorted(zip((trace for trace, _ in found), scores, strict=True), key=lambda each: (-each[1], -each[0]))
    return ranked[:count]


def _hits(connection: Connection, lists: Iterable[_Ranked], limit: int) -> list[TraceHit]:
    fused: dict[int, float] = {}
    parts: dict[int, dict[str, float]] = {}
    for ranked in lists:
        for place, (trace, score) in enumerate(ranked.traces, 1):
            fused[trace] = fused.get(trace, 0.0) + WEIGHTS[ranked.name] / (RANK_CONSTANT + place)
            parts.setdefault(trace, {})[ranked.name] = score
    best = sorted(fused, key=lambda trace: (-fused[trace], -trace))[:limit]
    marks = ",".join("?" * len(best))
    traces: dict[int, Trace] = dict(traces_where(connection, f"t.trace IN ({marks}) AND t.superseded = 0", best))
    return [
        TraceHit(trace=traces[number], score=fused[number], scores=HitScores(**parts[number]))
        for number in best
        if number in traces
    ]
