"""`afterturn traces` and `afterturn reembed`, as people run them."""

import json
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from afterturn.capture.embedder import EmbeddingError
from afterturn.cli.reembed import reembed
from afterturn.cli.table import aligned
from afterturn.store import StorePlace
from afterturn.store.sqlite.store import SqliteStore
from afterturn.text import width
from tests.e2e.server import Server

SETTINGS = "AFTERTURN_SETTINGS"


def run(home: Path, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", *args],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(home), "COLUMNS": "200", **env},
    )


STEPS = {
    "/a": ["fix the login cache", "修复登录缓存的问题", "rename parse_config to loadConfig"],
    "/b": ["deploy the zeppelin service"],
}


def captured(home: Path, provider: str = "local") -> list[str]:
    """Four episodes of one step in two projects; their trace ids."""
    ids: list[str] = []
    with Server(home) as server:
        server.initialize(initializationOptions={"embeddings": {"provider": provider}})
        number = 0
        for project, asked in STEPS.items():
            for text in asked:
                number += 1
                call = {"name": "bash", "input": {"command": f"run {number}"}, "output": f"out {number}"}
                meta = {"reflection": f"Because of reason {number}", "toolCalls": [call]}
                turns = [
                    {"role": "user", "ts": number * 1000, "content": text},
                    {"role": "assistant", "ts": number * 1000 + 1, "content": f"did {number}\u001b[31m", "meta": meta},
                ]
                episode = {"id": f"e{number}", "sessionId": f"s{project}", "startedAt": 1, "turns": turns}
                server.call("capture/episodeFinalized", {"episode": episode, "project": project})
                ids += server.event("capture.done")["result"]["traceIds"]
        server.call("capture/drain", {"timeoutMs": 5000})
        # The full-text index follows a moment later.
        while not server.call("traces/search", {"query": "zeppelin", "project": "*", "mode": "text"})["hits"]:
            pass
        server.close_stdin()
        assert server.wait_exit() == 0
    return ids


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with four traces, which no test changes."""
    folder = tmp_path_factory.mktemp("home")
    captured(folder)
    return folder


def test_list(home: Path) -> None:
    done = run(home, "traces", "list")
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows, last = done.stdout.splitlines()
    assert head.split() == ["WHEN", "TRACE", "ALPHA", "TOOLS", "WHAT"]
    assert last == "4 traces"
    assert [row.partition("bash")[2].strip() for row in rows] == [
        "deploy the zeppelin service -> did 4",
        "rename parse_config to loadConfig -> did 3",
        "修复登录缓存的问题 -> did 2",
        "fix the login cache -> did 1",
    ]
    assert {width(row.partition("0.50")[0]) for row in rows} == {head.index("ALPHA")}
    assert run(home, "traces", "list", "--limit", "2").stdout.endswith("2 traces; more with --limit\n")
    assert run(home, "traces", "list", "--project", "/b").stdout.count("did") == 1
    assert run(home, "traces", "list", "--session", "s/a").stdout.count("did") == 3
    assert run(home, "traces", "list", "--project", "/c").stdout == "0 traces\n"


def test_list_and_search_for_programs(home: Path) -> None:
    traces = json.loads(run(home, "traces", "list", "--json").stdout)
    assert [trace["episodeId"] for trace in traces] == ["e4", "e3", "e2", "e1"]
    hits = json.loads(run(home, "traces", "search", "zeppelin", "--json").stdout)
    assert hits[0]["trace"]["episodeId"] == "e4"
    assert hits[0]["scores"]["text"] > 0


@pytest.mark.parametrize(
    ("query", "number"), [("zeppelin", 4), ("登录缓存", 2), ("loadConfig", 3), ("parse config", 3), ("login cache", 1)]
)
def test_search(home: Path, query: str, number: int) -> None:
    done = run(home, "traces", "search", query)
    assert (done.returncode, done.stderr) == (0, "")
    head, first, *_ = done.stdout.splitlines()
    assert head.split() == ["SCORE", "BY", "TRACE", "WHAT"]
    assert f"did {number}" in first
    assert "words" in first


LIST = ["WHEN", "TRACE", "ALPHA", "TOOLS", "WHAT"]
SEARCH = ["SCORE", "BY", "TRACE", "WHAT"]


@pytest.mark.parametrize(
    ("command", "columns", "head"),
    [
        ("list", 100, LIST),
        # the widths of columns are 16, 29, 5, and 5, each with a gap of 2, and 20 for the last
        ("list", 83, LIST),
        ("list", 82, ["WHEN", "TRACE", "ALPHA", "WHAT"]),
        ("list", 76, ["WHEN", "TRACE", "ALPHA", "WHAT"]),
        ("list", 75, ["WHEN", "TRACE", "WHAT"]),
        ("list", 69, ["WHEN", "TRACE", "WHAT"]),
        ("list", 68, ["TRACE", "WHAT"]),
        ("list", 51, ["TRACE", "WHAT"]),
        ("list", 50, ["WHAT"]),
        ("list", 20, ["WHAT"]),
        ("search 登录缓存", 100, SEARCH),
        ("search 登录缓存", 80, ["SCORE", "TRACE", "WHAT"]),
        ("search 登录缓存", 56, ["TRACE", "WHAT"]),
        ("search 登录缓存", 40, ["WHAT"]),
    ],
)
def test_a_table_fits_the_terminal(home: Path, command: str, columns: int, head: list[str]) -> None:
    lines = run(home, "traces", *command.split(), COLUMNS=str(columns)).stdout.splitlines()
    assert lines[0].split() == head
    assert max(map(width, lines)) <= columns


def test_a_table_in_a_file_is_whole(tmp_path: Path) -> None:
    text = "why " * 90
    with Server(tmp_path) as server:
        server.initialize(initializationOptions={"embeddings": {"provider": "none"}})
        episode = {"id": "e1", "sessionId": "s", "startedAt": 1, "turns": [{"role": "user", "content": text}]}
        server.call("capture/episodeFinalized", {"episode": episode})
        server.event("capture.done")
    head, row, _ = run(tmp_path, "traces", "list", COLUMNS="0").stdout.splitlines()
    assert head.split() == LIST
    assert row.endswith(text.rstrip())


def test_search_in_a_project_and_without_an_embedder(home: Path) -> None:
    assert "did 4" not in run(home, "traces", "search", "zeppelin", "--project", "/a").stdout
    settings = json.dumps({"embeddings": {"provider": "local", "model": "no-such"}})
    done = run(home, "traces", "search", "zeppelin", **{SETTINGS: settings})
    assert "did 4" in done.stdout
    assert "looking for words only" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_show(home: Path) -> None:
    trace_id = json.loads(run(home, "traces", "search", "登录缓存", "--json").stdout)[0]["trace"]["traceId"]
    done = run(home, "traces", "show", trace_id)
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        "USER\n  修复登录缓存的问题",
        "CALL 1: bash",
        "run 2",
        "out 2",
        "AGENT\n  did 2\n",
        "Because of reason 2",
    ):
        assert said in done.stdout
    assert "\u001b" not in done.stdout
    assert json.loads(run(home, "traces", "show", trace_id, "--json").stdout)[0]["traceId"] == trace_id
    missing = run(home, "traces", "show", "tr_nobody")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == "afterturn: there is no trace 'tr_nobody'\n"


def test_export(home: Path) -> None:
    lines = [json.loads(line) for line in run(home, "traces", "export").stdout.splitlines()]
    assert [line["episodeId"] for line in lines] == ["e4", "e3", "e2", "e1"]
    assert all("toolCalls" in line and "reflection" in line for line in lines)
    some = run(home, "traces", "export", "--project", "/a").stdout.splitlines()
    assert len(some) == 3


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ("traces list", 1, "there is no store at"),
        ("reembed", 1, "there is no store at"),
        ("traces", 2, "ACTION"),
        ("traces list --limit 0", 2, "--limit: a whole number from 1 is needed, not '0'"),
        ("traces list --limit x", 2, "--limit: a whole number from 1 is needed, not 'x'"),
        ("traces show", 2, "TRACE"),
        ("traces search", 2, "QUERY"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(tmp_path: Path, args: str, code: int, said: str) -> None:
    done = run(tmp_path, *args.split())
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_there_is_something_to_look_for(home: Path) -> None:
    for query in ("", "  "):
        done = run(home, "traces", "search", query)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "afterturn: there is nothing to look for: QUERY is blank\n"


def vectors(home: Path) -> dict[str, int]:
    """How many rows have vectors of which model."""
    connection = sqlite3.connect(home / "afterturn.db")
    try:
        rows = connection.execute(
            "SELECT CAST(e.model AS TEXT), count(*) FROM traces t JOIN embedders e USING (embedder) GROUP BY 1"
        ).fetchall()
    finally:
        connection.close()
    return dict(rows)


def test_reembed_makes_what_is_missing_and_what_is_stale(tmp_path: Path) -> None:
    """Case M08: says how many there are of each, can be run again, and loses nothing."""
    captured(tmp_path, "none")
    assert vectors(tmp_path) == {}
    connection = sqlite3.connect(tmp_path / "afterturn.db")
    connection.execute("UPDATE traces SET embed_tries = 6 * (trace % 2)")
    connection.commit()
    done = run(tmp_path, "reembed")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "wordllama-256: 0 current, 0 stale, 4 missing",
        "4 traces have new vectors; 0 stale, 0 missing",
    ]
    assert vectors(tmp_path) == {"wordllama-256": 4}
    connection.execute("INSERT INTO embedders (model, dimension) VALUES (CAST('old' AS BLOB), 256)")
    connection.execute("UPDATE traces SET embedder = (SELECT max(embedder) FROM embedders) WHERE trace > 1")
    connection.commit()
    connection.close()
    done = run(tmp_path, "reembed")
    assert done.stdout.splitlines() == [
        "wordllama-256: 1 current, 3 stale, 0 missing",
        "3 traces have new vectors; 0 stale, 0 missing",
    ]
    assert vectors(tmp_path) == {"wordllama-256": 4}
    assert run(tmp_path, "reembed").stdout.splitlines()[-1] == "0 traces have new vectors; 0 stale, 0 missing"
    hits = json.loads(run(tmp_path, "traces", "search", "zeppelin", "--json").stdout)
    assert hits[0]["trace"]["episodeId"] == "e4"
    assert "summary" in hits[0]["scores"]


class RefusesOne:
    """An embedder that does not take one of the texts."""

    model = "picky"
    dimension = 1

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if any("zeppelin" in text for text in texts):
            raise EmbeddingError("refused", of_text=True)
        return [struct.pack("<f", 1.0) for _ in texts]


def test_reembed_goes_on_behind_a_text_that_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    captured(tmp_path, "none")

    async def made() -> int:
        store = SqliteStore(StorePlace(file=tmp_path / "afterturn.db", own_folder=True))
        code = await reembed(store, RefusesOne())
        await store.close(timeout_ms=10_000)
        return code

    assert anyio.run(made) == 1
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == "3 traces have new vectors; 0 stale, 1 missing"
    assert said.err == "afterturn: traces whose text the embedder refuses: 1\n"
    assert vectors(tmp_path) == {"picky": 3}


@pytest.mark.parametrize("embeddings", [{"provider": "none"}, {"model": "no-such"}])
def test_reembed_without_an_embedder(home: Path, embeddings: dict[str, Any]) -> None:
    done = run(home, "reembed", **{SETTINGS: json.dumps({"embeddings": embeddings})})
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("afterturn: embeddings.")


def test_columns_stand_under_each_other() -> None:
    rows = [["a", "漢字", "x" * 50], ["bbb", "c", "漢" * 30], ["", "e\u0301", ""]]
    lines = aligned(rows, 40)
    assert [width(line) for line in lines] == [40, 40, 6]
    assert lines[0].startswith("a    漢字  x")
    assert lines[1].startswith("bbb  c     漢")
    assert max(width(line) for line in aligned(rows, 10, shortest_last=5)) == 16
    assert aligned([], 40) == []
    assert aligned([["only"]], None) == ["only"]
