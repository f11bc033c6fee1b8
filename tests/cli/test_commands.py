"""The commands for people, as people run them."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.server import Server

ROOT = Path(__file__).parents[2]


def run(home: Path, *args: str, stdin: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", *args],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(home), **env},
    )


def archived(home: Path, *texts: str, tool: str = "bash") -> None:
    """A session `demo session` with archived results, all of one call id."""
    with Server(home) as server:
        server.initialize()
        batch = {
            "turnIndex": 3,
            "timestamp": 1,
            "toolCalls": [
                {"toolCallId": "c1", "toolName": tool, "resultText": text, "resultTimestamp": number}
                for number, text in enumerate(texts, 1)
            ],
        }
        server.call("condense/summarize", {"sessionId": "demo session", "batch": batch})
        server.close_stdin()
        assert server.wait_exit() == 0


def test_help_and_version(tmp_path: Path) -> None:
    for args in (["--help"], ["-h"], ["demo", "--help"]):
        done = run(tmp_path, *args)
        assert done.returncode == 0
        assert "usage: afterturn" in done.stdout
    assert "--stdio" in run(tmp_path, "--help").stdout
    assert run(tmp_path, "--version").stdout.startswith("afterturn 0.")


def test_an_unknown_command_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "frobnicate")
    assert done.returncode == 2
    assert "frobnicate" in done.stderr


@pytest.mark.req("spec.schema-printed")
def test_schema_prints_what_is_committed(tmp_path: Path) -> None:
    assert run(tmp_path, "schema").stdout == (ROOT / "spec" / "schema.json").read_text("utf-8")
    assert run(tmp_path, "schema", "--meta").stdout == (ROOT / "spec" / "meta.json").read_text("utf-8")


@pytest.mark.req("install.bare-path")
def test_doctor_gives_the_absolute_command_and_it_works(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", "--json", PATH="/usr/bin:/bin")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert Path(found["command"]).is_absolute()
    with Server(tmp_path, command=[found["command"], *found["args"]], env={"PATH": "/nowhere"}) as server:
        server.initialize()
    assert found["destinations"] == []
    assert found["settings"]["problems"] == []
    text = run(tmp_path, "doctor").stdout
    assert json.dumps(found["command"]) in text
    assert "nothing leaves this machine" in text


def test_doctor_names_bad_settings(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[condense]\nminBatchChars = 'x'\n")
    assert "condense.minBatchChars" in run(tmp_path, "doctor").stdout
    found = json.loads(run(tmp_path, "doctor", "--json").stdout)
    assert [problem["path"] for problem in found["settings"]["problems"]] == ["condense.minBatchChars"]


@pytest.mark.parametrize(
    "args",
    ["refs s", "traces list", "traces search x", "reembed", "wipe --yes", "recap s.json --facts", "replay s.json"],
)
def test_settings_that_cannot_be_used_are_said_once(args: str, tmp_path: Path) -> None:
    """They may be what keeps a secret out of what is printed, or what says which store is meant."""
    (tmp_path / "settings.toml").write_text("redaction = [")
    said = run(tmp_path, *args.split()).stderr.splitlines()
    (line,) = [line for line in said if line.startswith("afterturn: settings: $ is not TOML")]
    assert line.endswith(f"(from {tmp_path / 'settings.toml'})")


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "is not there"), ("", "nothing comes from"), ("condense = [", "nothing comes from")],
    ids=["missing", "empty", "broken"],
)
def test_doctor_says_why_the_defaults_hold(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / "settings.toml").write_text(text)
    (line,) = [line for line in run(tmp_path, "doctor").stdout.splitlines() if line.startswith("settings")]
    assert "defaults" in line
    assert said in line


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "wordllama-256, on this machine"),
        ({"model": "minilm"}, "minilm, on this machine"),
        ({"provider": "litellm", "model": "openai/vectors"}, "openai/vectors by litellm"),
        ({"provider": "none"}, "none: traces are searched by their words alone"),
        ({"model": "other"}, 'embeddings.model "other" is not a local model'),
    ],
    ids=["default", "minilm", "a provider", "none", "unknown"],
)
def test_doctor_says_who_embeds(tmp_path: Path, settings: dict[str, str], said: str) -> None:
    text = run(tmp_path, "doctor", AFTERTURN_SETTINGS=json.dumps({"embeddings": settings})).stdout
    (line,) = (line for line in text.splitlines() if line.startswith("vectors"))
    assert said in line


def test_demo_condenses_and_brings_back(tmp_path: Path) -> None:
    done = run(tmp_path, "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "the same, byte for byte." in done.stdout
    assert "`t" in done.stdout
    assert "context_tree_query" in done.stdout
    assert "pi install" in done.stdout
    assert list(tmp_path.iterdir()) == [], "the demo keeps nothing"


def test_refs(tmp_path: Path) -> None:
    text = "".join(f"line {number} 漢字\n" for number in range(500))
    archived(tmp_path, text)
    listed = run(tmp_path, "refs", "demo session").stdout
    assert "t1 " in listed
    assert "bash" in listed
    assert f"{len(text):,}" in listed
    assert run(tmp_path, "refs", "demo session", "t1").stdout == text
    assert "line 77" in run(tmp_path, "refs", "demo session", "t1", "--grep", "line 77").stdout
    missing = run(tmp_path, "refs", "demo session", "t9")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "t1..t1" in missing.stderr
    unknown = run(tmp_path, "refs", "other")
    assert unknown.returncode == 1
    assert "other" in unknown.stderr
    unsaid = run(tmp_path, "refs", "demo session", "--grep", "line 77")
    assert (unsaid.returncode, unsaid.stdout, unsaid.stderr.count("\n")) == (2, "", 1)
    assert "--grep" in unsaid.stderr


RAW = "no end\r\n\x00\x1b[31m\b\ud83d 漢字 é"


def output(home: Path, *args: str) -> bytes:
    """What a command writes to a file."""
    with (home / "output").open("wb") as file:
        subprocess.run(
            [sys.executable, "-I", "-m", "afterturn", *args],
            stdout=file,
            timeout=60,
            check=True,
            env={**os.environ, "AFTERTURN_HOME": str(home), "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        )
    return (home / "output").read_bytes()


def terminal(home: Path, *args: str) -> str:
    """What a command shows on a terminal; its line ends are those of files again."""
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", 0) as shown:
        command = [sys.executable, "-I", "-m", "afterturn", *args]
        with subprocess.Popen(command, stdout=theirs, env={**os.environ, "AFTERTURN_HOME": str(home)}) as process:
            os.close(theirs)
            data = b""
            with contextlib.suppress(OSError):  # what Linux says at the end
                while piece := shown.read(65_536):
                    data += piece
            assert process.wait(60) == 0
    return data.decode("utf-8").replace("\r\n", "\n")


@pytest.mark.parametrize(
    "text", ["x", "x\n", "x\n\n", "", RAW, "0123456789" * 250_001, "line\n" * 500_001], ids=range(7)
)
def test_an_original_is_written_byte_for_byte(tmp_path: Path, text: str) -> None:
    archived(tmp_path, text)
    assert output(tmp_path, "refs", "demo session", "t1") == text.encode("utf-8", "surrogatepass")


def test_what_is_no_one_original_ends_its_lines(tmp_path: Path) -> None:
    archived(tmp_path, "one\ntwo", "three\n")
    assert output(tmp_path, "refs", "demo session", "c1") == b"== c1@1\none\ntwo\n== c1@2\nthree\n"
    assert output(tmp_path, "refs", "demo session", "t1", "--grep", "tw") == b"1-one\n2:two\n"
    assert output(tmp_path, "refs", "demo session", "t1", "--grep", "four") == b""


@pytest.mark.parametrize(
    ("text", "shown"),
    [("x", "x\n"), ("x\n", "x\n"), ("", ""), ("a\x1b[2J\x1b]0;title\x07b\r\nc", "ab\nc\n"), ("\ud83d", "\\ud83d\n")],
    ids=range(5),
)
def test_a_terminal_is_shown_a_text_and_a_last_line_end(tmp_path: Path, text: str, shown: str) -> None:
    archived(tmp_path, text)
    assert terminal(tmp_path, "refs", "demo session", "t1") == shown


def test_a_tool_s_name_forges_no_row(tmp_path: Path) -> None:
    archived(tmp_path, "x", tool="b\x1b[2J\x1b]0;title\x07\u202e\nt9 forged")
    shown = terminal(tmp_path, "refs", "demo session")
    assert shown.split("\n")[0].startswith("t1      turn 3     b t9 forged              ok ")
    assert shown.split("\n")[1:] == ["1 originals of session demo session", ""]


@pytest.mark.parametrize(
    ("args", "settings", "said"),
    [
        ("refs s", {}, "there is no store at"),
        ("refs s", {"store": {"url": "postgres://u:pw@h/db"}}, "store.url"),
        ("wipe --yes", {"store": {"url": "postgres://u:pw@h/db"}}, "store.url"),
        ("doctor", {"store": {"url": "postgres://u:pw@h/db"}}, "store.url"),
    ],
)
def test_a_store_that_is_not_there_is_said_in_one_line(
    tmp_path: Path, args: str, settings: dict[str, object], said: str
) -> None:
    home = tmp_path / "home"
    done = run(home, *args.split(), AFTERTURN_SETTINGS=json.dumps(settings))
    assert done.returncode == 1
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "pw@" not in done.stdout + done.stderr
    assert not home.exists(), "looking leaves nothing behind"


@pytest.mark.parametrize("closed", ["", ">&-", "2>&-", ">&- 2>&-", "| true", "| head -c 1 >/dev/null"])
def test_closed_streams_and_readers_that_leave_are_no_failure(tmp_path: Path, closed: str) -> None:
    line = f'set -o pipefail; "$0" -I -m afterturn schema {closed}'
    done = subprocess.run(
        ["bash", "-c", line, sys.executable],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_behind_the_output_is_said(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "afterturn", "schema"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (1, "afterturn: No space left on device\n")


def test_wipe(tmp_path: Path) -> None:
    needle = "find-this-needle"
    archived(tmp_path, f"{needle} " * 400)
    (tmp_path / "settings.toml").write_text("")
    refused = run(tmp_path, "wipe")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    done = run(tmp_path, "wipe", "--yes")
    assert done.returncode == 0
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["settings.toml"]
    assert run(tmp_path, "refs", "demo session").returncode == 1
    again = run(tmp_path, "wipe", "--yes")
    assert (again.returncode, again.stdout) == (0, f"There is nothing at {tmp_path / 'afterturn.db'}.\n")


def test_wipe_of_a_store_behind_links(tmp_path: Path) -> None:
    disk, home = tmp_path / "disk", tmp_path / "home"
    (disk / "home").mkdir(parents=True)
    home.symlink_to(disk / "home")
    file, target = home / "afterturn.db", disk / "real.db"
    file.symlink_to(target)
    archived(home, "find-this-needle " * 400)
    assert b"find-this-needle" in target.read_bytes()
    done = run(home, "wipe", "--yes")
    assert (done.returncode, done.stdout) == (0, f"Erased {file} and {target}, to which it leads.\n")
    assert [path for path in disk.rglob("*") if path.is_file()] == []
    file.symlink_to(target)
    nowhere = run(home, "wipe", "--yes")
    assert (nowhere.returncode, nowhere.stdout) == (1, "")
    assert nowhere.stderr == f"afterturn: {file} is a link to {target}, which is not there; nothing was removed\n"
    target.write_text("my notes")
    foreign = run(home, "wipe", "--yes")
    assert (foreign.returncode, foreign.stdout) == (1, "")
    assert "no store of afterturn; nothing was removed" in foreign.stderr
    assert target.read_text() == "my notes"


def test_output_survives_any_locale_and_a_closed_pipe(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    piped = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -I -m afterturn schema | head -c 10"],
        capture_output=True,
        timeout=30,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path)},
    )
    assert len(piped.stdout) == 10
    assert b"Traceback" not in piped.stderr
