"""`afterturn replay`, as people run it, over the real process."""

import gzip
import json
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.provider.answers import says
from tests.provider.server import ScriptedProvider
from tests.replay.sessions import START_MS, PiSession, left_behind, log, replay

SECRET = "ghp_" + "a1B2" * 9


def two_requests() -> PiSession:
    """Two requests with a pause of an hour between them, five calls, of which one failed and one has no answer."""
    session = (
        PiSession()
        .user("Please make the parser faster")
        .calls(("read", {"path": "src/parser.py"}, log("parser")), ("bash", {"command": "make"}, "Error: no rule"))
    )
    session.calls(("read", {"path": "src/lexer.py"}, log("lexer"))).says("The lexer is slow. Shall I change it?")
    session.later(3600).user("Yes, do that").calls(("read", {"path": "src/lexer.py"}, log("again")))
    return session.calls(("edit", {"path": "src/lexer.py"}, None)).says("Done.")


def found(home: Path, *args: str | Path, **env: str) -> list[dict[str, Any]]:
    done = replay(home, *args, "--json", **env)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_for_programs(tmp_path: Path) -> None:
    file = two_requests().write(tmp_path / "s.jsonl")
    (report,) = found(tmp_path, file)
    raw = sum(map(len, (log("parser"), "Error: no rule", log("lexer"), log("again"))))
    counted = {
        "harness": "pi",
        "file": str(file),
        "sessions": 1,
        "turns": 6,
        "requests": 2,
        "toolCalls": 5,
        "results": 4,
        "errors": 1,
        "refs": 4,
        "rawChars": raw,
        "compactions": 0,
        "failedTurns": 0,
        "warnings": [],
        "usage": None,
        "newTraces": None,
    }
    assert {name: report[name] for name in counted} == counted
    assert 0 < report["keptChars"] < raw / 4
    assert report["tools"]["read"]["calls"] == 3
    assert report["tools"]["bash"]["errors"] == 1
    away, end = report["recaps"]
    assert (away["awayMs"], away["turn"], end["awayMs"], end["turn"]) == (3_601_000, 3, None, 6)
    assert "parser" in away["text"]
    assert len(report["traces"]) == 2
    assert report["traces"][0]["asked"] == "Please make the parser faster"
    (session,) = report["perSession"]
    assert (session["cwd"], session["started"]) == ("/home/someone/project", START_MS)


def test_the_context_turn_by_turn(tmp_path: Path) -> None:
    """As long as a request goes on its results stay; with its end they are replaced."""
    file = two_requests().compaction().user("Thanks").says("Bye").write(tmp_path / "s.jsonl")
    (report,) = found(tmp_path, file)
    context = report["perSession"][0]["context"]
    turns, _, before, after = zip(*context, strict=True)
    assert turns == (0, 1, 2, 3, 4, 5, 6)
    assert before[1] == after[1]
    assert after[2] < before[2] / 4
    assert after[5] < before[5] / 4
    assert before[6] == after[6] == len("Thanks") + len("Bye")
    assert report["compactions"] == 1
    assert report["perSession"][0]["compactedAt"] == [6]


def test_a_long_request_is_condensed_on_the_way(tmp_path: Path) -> None:
    """Else a session of one request would have nothing of it until its end."""
    session = PiSession().user("Read everything")
    for number in range(30):
        session.calls(("read", {"path": f"{number}.py"}, log(f"part-{number}")))
    context = found(tmp_path, session.write(tmp_path / "s.jsonl"))[0]["perSession"][0]["context"]
    assert context[15][3] < context[15][2] / 2
    assert max(after for _, _, _, after in context) < 130_000


def test_failed_turns_are_left_out(tmp_path: Path) -> None:
    session = PiSession().user("Do it").says("", stop_reason="error").says("Done")
    (report,) = found(tmp_path, session.write(tmp_path / "s.jsonl"))
    assert (report["turns"], report["failedTurns"], len(report["perSession"][0]["context"])) == (2, 1, 1)
    assert [trace["asked"] for trace in report["traces"]] == ["Do it"]


def test_for_people(tmp_path: Path) -> None:
    file = two_requests().write(tmp_path / "s.jsonl")
    done = replay(tmp_path, file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout, "no colours where there is no terminal"
    for said in (
        "pi  Please make the parser faster",
        "/home/someone/project \u00b7 m \u00b7 2026-01-01 00:00, 1 h",
        "6 turns for 2 requests \u00b7 5 tool calls (1 failed, 1 unanswered)",
        "CONTEXT",
        "TOOL RESULTS",
        "RECAPS",
        "after 1 h",
        "TRACES  2 steps",
        "Nothing is kept.",
    ):
        assert said in done.stdout
    assert left_behind(tmp_path) == ["s.jsonl"], "nothing is kept"


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 300])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    session = two_requests().user("\u6f22\u5b57" * 200).says("\u6f22\u5b57" * 300)
    done = replay(tmp_path, session.write(tmp_path / "s.jsonl"), COLUMNS=str(columns))
    from afterturn.text import width

    assert max(width(line) for line in done.stdout.splitlines()) <= min(columns, 120)


def test_control_characters_of_a_session_do_not_reach_the_terminal(tmp_path: Path) -> None:
    session = PiSession().user("\x1b[2J\x1b]0;title\x07 [bold]do[/bold] it \u202e now").says("[red]x")
    done = replay(tmp_path, session.write(tmp_path / "s.jsonl"))
    assert "[bold]do[/bold] it" in done.stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout)


def test_a_lone_surrogate_survives(tmp_path: Path) -> None:
    session = (
        PiSession().user("half \ud83d of it").calls(("read", {"path": "\ud83d"}, "\ud83d" + log("a"))).says("\ud83d")
    )
    file = session.write(tmp_path / "s.jsonl")
    assert replay(tmp_path, file, "--html", tmp_path / "o.html").returncode == 0
    assert found(tmp_path, file)[0]["traces"][0]["asked"] == "half \ud83d of it"


def test_deep_args_cost_at_most_their_own_turn(tmp_path: Path) -> None:
    file = two_requests().write(tmp_path / "s.jsonl")
    deep = file.read_text("utf-8").replace('"src/parser.py"', "[" * 900 + "]" * 900)
    file.write_text(deep, "utf-8")
    assert found(tmp_path, file)[0]["toolCalls"] == 5


def test_secrets_are_in_no_report(tmp_path: Path) -> None:
    session = (
        PiSession()
        .user(f"Use the token {SECRET}")
        .calls(("bash", {"command": f"echo {SECRET}"}, f"{SECRET}\n" + log("a")))
    )
    file = session.says(f"It is {SECRET}.").write(tmp_path / "s.jsonl")
    page = tmp_path / "o.html"
    said = replay(tmp_path, file, "--html", page).stdout + replay(tmp_path, file, "--json").stdout
    assert SECRET not in said + page.read_text("utf-8")


# -- files ---------------------------------------------------------------------------------------------------------


def unreadable(folder: Path) -> dict[str, Path]:
    files = {
        "empty": b"",
        "foreign": b'{"hello": 1}\n',
        "text": b"Dear diary\n",
        "gzip": gzip.compress(b"x" * 100),
        "binary": bytes(range(256)) * 10,
        "truncated": b'{"type":"session","id":"x","ti',
    }
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return {name: folder / name for name in files}


@pytest.mark.parametrize("name", ["empty", "foreign", "text", "gzip", "binary", "truncated", "missing"])
def test_a_file_that_is_no_session(tmp_path: Path, name: str) -> None:
    file = unreadable(tmp_path / "files").get(name, tmp_path / "missing")
    done = replay(tmp_path, file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert str(file) in done.stderr


def test_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    two_requests().write(folder / "below" / "a.jsonl")
    PiSession("other").user("Hello").says("Hi").write(folder / "b.jsonl")
    bad = unreadable(folder)
    done = replay(tmp_path, folder, "--json")
    assert done.returncode == 0
    assert [json.loads(line)["toolCalls"] for line in done.stdout.splitlines()] == [0, 5]
    assert sorted(line.split(": ")[1] for line in done.stderr.splitlines()) == sorted(map(str, bad.values()))
    said = replay(tmp_path, folder).stdout
    assert "2 files, 2 sessions, 7 turns, 5 tool calls" in said


def test_a_bad_file_among_good_ones(tmp_path: Path) -> None:
    good = two_requests().write(tmp_path / "a.jsonl")
    done = replay(tmp_path, unreadable(tmp_path / "files")["gzip"], good, "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["toolCalls"] == 5


def test_a_folder_without_any_session(tmp_path: Path) -> None:
    unreadable(tmp_path / "files")
    assert replay(tmp_path, tmp_path / "files").returncode == 2
    (tmp_path / "none").mkdir()
    done = replay(tmp_path, tmp_path / "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no session" in done.stderr


# -- what is kept --------------------------------------------------------------------------------------------------


def traces(home: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "traces", "list", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(home / "home")},
    )
    return json.loads(done.stdout)


def test_import_keeps_the_traces_once(tmp_path: Path) -> None:
    session = two_requests()
    file = session.write(tmp_path / "s.jsonl")
    assert found(tmp_path, file, "--import")[0]["newTraces"] == 2
    first = traces(tmp_path)
    assert {trace["project"] for trace in first} == {"/home/someone/project"}
    assert all(trace["vectors"].get("summary") for trace in first)
    assert found(tmp_path, file, "--import")[0]["newTraces"] == 0
    assert traces(tmp_path) == first
    session.user("One more thing").says("Yes?").write(file)
    assert found(tmp_path, file, "--import")[0]["newTraces"] == 1
    assert len(traces(tmp_path)) == 3
    assert "lexer line 7:" not in "".join(
        path.read_bytes().decode("latin-1") for path in (tmp_path / "home").rglob("*.db")
    ), "the originals are not kept"


# -- models --------------------------------------------------------------------------------------------------------


def configured(provider: ScriptedProvider) -> str:
    models = {"model": "openai/some-model", "apiBase": provider.openai_base, "apiKeyEnv": "REPLAY_TEST_KEY"}
    return json.dumps({"models": models, "embeddings": {"provider": "litellm", "model": "openai/embed"}})


def test_without_being_told_no_model_is_asked(tmp_path: Path) -> None:
    with ScriptedProvider() as provider:
        file = two_requests().write(tmp_path / "s.jsonl")
        (report,) = found(tmp_path, file, "--import", AFTERTURN_SETTINGS=configured(provider), REPLAY_TEST_KEY="k")
        assert provider.requests == []
    assert (report["usage"], report["warnings"]) == (None, [])
    assert {recap["origin"] for recap in report["recaps"]} == {"facts"}


def test_the_configured_model_is_asked_when_told(tmp_path: Path) -> None:
    with ScriptedProvider() as provider:
        provider.otherwise = says("- [[1:read]] read src/parser.py", usage=(10, 5))
        file = two_requests().write(tmp_path / "s.jsonl")
        (report,) = found(tmp_path, file, "--model", AFTERTURN_SETTINGS=configured(provider), REPLAY_TEST_KEY="k")
        asked = [request for request in provider.requests if "messages" in request.body]
        assert {request.key for request in asked} == {"k"}
    assert report["usage"]["calls"] == len(asked) > 0
    assert report["usage"]["models"] == ["openai/some-model"]
    assert left_behind(tmp_path) == ["s.jsonl"]


def test_a_model_that_is_not_configured(tmp_path: Path) -> None:
    done = replay(tmp_path, two_requests().write(tmp_path / "s.jsonl"), "--model")
    assert (done.returncode, done.stdout) == (1, "")
    assert "models.model" in done.stderr


# -- ends ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Sent once the bar on the terminal shows that the work has begun."""
    session = PiSession()
    for count in range(400):
        session.user(f"Step {count}").calls(("read", {"path": "a"}, log(f"part-{count}"))).says("Done")
    file = session.write(tmp_path / "s.jsonl")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    terminal, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "afterturn", "replay", str(file)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path / "home"), "TMPDIR": str(temporary), "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    while b"s.jsonl" not in shown:
        assert select.select([terminal], [], [], 60)[0], "a bar is shown"
        shown += os.read(terminal, 4096)
    assert list(temporary.iterdir()) != []
    process.send_signal(number)
    threading.Thread(target=drained, args=(terminal,), daemon=True).start()
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, b"")
    assert list(temporary.iterdir()) == []


def drained(terminal: int) -> None:
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the other side is closed
        os.close(terminal)


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    file = two_requests().write(tmp_path / "s.jsonl")
    done = replay(tmp_path, file, "--html", tmp_path / "nowhere" / "o.html")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nowhere" in done.stderr
