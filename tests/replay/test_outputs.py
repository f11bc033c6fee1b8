"""What `afterturn replay` prints: for people and programs, whatever the session holds."""

import sys
from pathlib import Path

import pytest

from afterturn.replay.figures import ToolFigures
from afterturn.replay.numbers import short
from afterturn.replay.progress import bar
from afterturn.replay.terminal import make_console, print_tools
from afterturn.text import width
from tests.replay.sessions import PiSession, found, left_behind, log, replay, two_requests

SECRET = "ghp_" + "a1B2" * 9


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
    assert max(width(line) for line in done.stdout.splitlines()) <= min(columns, 120)


@pytest.mark.parametrize("asked", [True, False], ids=["a title", "the file's name as title"])
def test_control_characters_of_a_session_do_not_reach_the_terminal(asked: bool, tmp_path: Path) -> None:
    evil = "\x1b[2J\x1b]0;title\x07\x9b31m[bold]\u202e\r"
    session = PiSession(f"id{evil}", cwd=f"/w{evil}")
    session.lines[0]["modelId"] = f"m{evil}"
    if asked:
        session.user(f"Do {evil} it")
    args = {f"path{evil}": f"src/{evil}.py"}
    session.calls((f"read{evil}", args, f"{evil}\n" + log(evil)), (f"write{evil}", args, f"Error: {evil}"))
    file = session.says(f"Said {evil} [red]x").write(tmp_path / f"s{evil.replace('/', '')}.jsonl")
    bad = tmp_path / f"bad{evil}"
    bad.write_bytes(b"x")
    for args in ([file], [file, bad], [tmp_path]):
        done = replay(tmp_path, *args)
        assert "[bold]" in done.stdout
        assert not {"\x1b", "\x07", "\u202e", "\x9b", "\r"} & set(done.stdout + done.stderr)


def test_a_narrow_terminal_shows_whole_numbers(tmp_path: Path) -> None:
    done = replay(tmp_path, two_requests().write(tmp_path / "s.jsonl"), COLUMNS="40")
    (row,) = [line.split() for line in done.stdout.splitlines() if line.startswith("  read")]
    assert row[:2] == ["read", short(sum(map(len, (log("parser"), log("lexer"), log("again")))))]
    assert row[-1] == "%"
    assert not [cell for cell in row if "\u2026" in cell]


@pytest.mark.parametrize("columns", [40, 63, 64, 78, 80, 90, 120])
def test_only_a_tool_s_name_is_cut(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = {"mcp__private-journal__process_thoughts": ToolFigures(1234, 12, 12_345_678, 1_234_567)}
    monkeypatch.setenv("COLUMNS", str(columns))
    print_tools(make_console(), tools, 5)
    (row,) = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("  mcp__")]
    counts = ["1,234", "12"] if columns >= 64 else []
    numbers = [*counts, "12M", "1.2M", "10", "%"]
    assert row[1 : len(numbers) + 1] == numbers
    assert not "".join(row[1:]).count("\u2026"), "the bar is whole, too"


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
        PiSession(cwd=f"/home/someone/{SECRET}")
        .user(f"Use the token {SECRET}")
        .calls(("bash", {"command": f"echo {SECRET}"}, f"{SECRET}\n" + log("a")))
    )
    session.lines[0]["modelId"] = SECRET
    file = session.says(f"It is {SECRET}.").write(tmp_path / "s.jsonl")
    page = tmp_path / "o.html"
    said = replay(tmp_path, file, "--html", page).stdout + replay(tmp_path, file, "--json").stdout
    assert SECRET not in said + page.read_text("utf-8")


def test_a_secret_in_two_colours_is_in_no_report(tmp_path: Path) -> None:
    """Taken out before the colours are, it would be whole again after."""
    parted = "\x1b[31m".join((SECRET[:9], SECRET[9:17], SECRET[17:]))
    hidden = SECRET[:9] + "\u200b" + SECRET[9:]
    session = PiSession(cwd=f"/home/{hidden}").user(f"Use {hidden} and {parted}")
    session.lines[0]["modelId"] = parted
    session.calls(("bash", {"command": f"echo {hidden}", "env": parted}, f"{parted}\n{hidden}\n" + log("a")))
    file = session.says(f"It is {hidden}, or {parted}.").write(tmp_path / "s.jsonl")
    page = tmp_path / "o.html"
    said = replay(tmp_path, file, "--html", page).stdout + replay(tmp_path, file, "--json").stdout
    assert SECRET not in said + page.read_text("utf-8")


def test_no_bar_where_stderr_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with bar(10) as progress:
        progress.file("a.jsonl", 10)(5)
        with progress.hidden():
            pass
