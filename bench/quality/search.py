"""Search over everything that was captured (evaluation.md, 'Quality'): is the right trace among the first five?

The queries stand in ``queries.jsonl``, one for each of a hundred episodes: what a person, or an agent in a later
session, would type to find that work again, written by someone who saw the episode and nothing of the search.
`python -m bench.quality.search` prints for each one that misses what was found instead.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from afterturn.replay.episodes import Episodes
from afterturn.replay.sessions import Session
from afterturn_protocol.capture import Episode

from .batches import sessions
from .server import Server

FIRST = 5
_QUERIES = Path(__file__).with_name("queries.jsonl")
_PROJECT = "/bench"
_SETTLE_SECONDS = 60


class Query(NamedTuple):
    """A text to look for, and the episode it means: its number, from 0, in a session of a file."""

    file: str
    session: int
    episode: int
    text: str


class Found(NamedTuple):
    """What a query found. place: that of its own trace among the hits, from 1, or None. hits: ids of episodes."""

    query: Query
    place: int | None
    hits: list[str]


def queries() -> list[Query]:
    """All of them."""
    rows = (json.loads(line) for line in _QUERIES.read_text(encoding="utf-8").splitlines())
    return [Query(row["file"], row["session"], row["episode"], row["query"]) for row in rows]


def episodes_of(session_id: str, session: Session) -> list[Episode]:
    """The episodes of a session, as `afterturn replay` sends them."""
    episodes = Episodes(session_id, 0)
    finished = [episode for turn in session.turns for episode in episodes.add(turn)]
    return [*finished, *episodes.close()]


def searched(home: Path, asked: Iterable[Query]) -> Iterator[Found]:
    """Captures every session through a real server without a model, then asks it."""
    server = Server(home)
    ids: dict[tuple[str, int], list[str]] = {}
    for each in sessions():
        server.request("session/open", {"sessionId": each.session_id, "project": _PROJECT})
        episodes = episodes_of(each.session_id, each.session)
        ids[each.file, each.number] = [episode.id for episode in episodes]
        for episode in episodes:
            server.request("capture/episodeFinalized", {"episode": json.loads(msgspec.json.encode(episode))})
    server.request("capture/drain", {"timeoutMs": 600_000})
    _settled(server)
    for query in asked:
        params = {"query": query.text, "project": _PROJECT, "limit": 4 * FIRST}
        hits = [hit["trace"]["episodeId"] for hit in server.request("traces/search", params)["hits"]]
        right = ids[query.file, query.session][query.episode]
        yield Found(query, hits.index(right) + 1 if right in hits else None, hits[:FIRST])
    server.close()


def _settled(server: Server) -> None:
    """The full-text index follows the rows a moment later: wait until the last of them can be found."""
    until = time.monotonic() + _SETTLE_SECONDS
    newest = server.request("traces/list", {"project": _PROJECT, "limit": 1})["traces"][0]
    words = " ".join(newest["agentText"].split()[:12]) or newest["userText"]
    while time.monotonic() < until:
        params = {"query": words, "project": _PROJECT, "mode": "text", "limit": 50}
        if any(hit["trace"]["traceId"] == newest["traceId"] for hit in server.request("traces/search", params)["hits"]):
            return
        time.sleep(0.1)
    raise TimeoutError("the full-text index did not catch up")


def main() -> int:
    """Prints the misses and the share that was found; 0 when there are no transcripts."""
    if not list(sessions()):
        sys.stderr.write("no transcripts found; set AFTERTURN_TRANSCRIPTS to their folder\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="afterturn-bench-") as folder:
        found = list(searched(Path(folder) / "home", queries()))
    for each in found:
        if each.place is None or each.place > FIRST:
            place = each.query
            sys.stdout.write(f"{place.file} {place.session} {place.episode} at {each.place}: {place.text}\n")
            sys.stdout.writelines(f"    {hit}\n" for hit in each.hits)
    near = sum(each.place is not None and each.place <= FIRST for each in found)
    sys.stdout.write(f"the right trace among the first {FIRST}: {near}/{len(found)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
