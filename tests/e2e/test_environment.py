"""Hostile surroundings: bare PATH, shadowing modules, odd locales, foreign folders (cases I01, I02, L07, L10, L16)."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.server import Server

SCRIPT = str(Path(sys.executable).parent / "afterturn")
MODULE = [sys.executable, "-m", "afterturn", "--stdio"]
HEAVY = {"litellm", "openai", "httpx", "numpy", "pygls", "lsprotocol", "typer", "rich"}


@pytest.mark.req("install.bare-path")
def test_a_bare_environment_is_enough(tmp_path: Path) -> None:
    """Case I01: what a graphical program hands down."""
    process = subprocess.run(
        ["env", "-i", "PATH=/usr/bin:/bin", SCRIPT, "--framing=ndjson"],
        input=b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n',
        capture_output=True,
        timeout=20,
        cwd=tmp_path,
    )
    assert process.returncode == 0
    assert process.stderr == b""
    assert b'"serverInfo"' in process.stdout


@pytest.mark.req("install.isolated-imports")
@pytest.mark.parametrize("command", [[SCRIPT, "--stdio"], MODULE], ids=["script", "module"])
def test_modules_of_the_users_project_are_not_ours(tmp_path: Path, command: list[str]) -> None:
    """Case I02: the folder and PYTHONPATH hold modules that raise when imported."""
    for name in ("json", "msgspec", "asyncio", "anyio", "logging", "sqlite3", "tomllib", "zstandard"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('the wrong module')\n")
    home = tmp_path / "home"
    with Server(home, command=command, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "LC_ALL": "C"}) as server:
        server.initialize()
        assert server.call("session/open", {"sessionId": "s"}) == {"sessionId": "s", "known": False}
        # a lone surrogate takes the path through the standard library's json
        server.send(b'{"jsonrpc":"2.0","id":"x","method":"session/open","params":{"sessionId":"\\ud83d"}}')
        assert server.answer("x")["result"]["sessionId"] == "\ud83d"
        server.close_stdin()
        assert server.wait_exit() == 0
        assert server.stderr == ""


@pytest.mark.req("install.any-locale")
def test_any_locale(tmp_path: Path) -> None:
    """Case L10."""
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    with Server(tmp_path, "--log-level=debug", env=env) as server:
        server.initialize()
        text = "漢字 🚀 é " * 300
        batch = {
            "turnIndex": 0,
            "timestamp": 1,
            "toolCalls": [{"toolCallId": "c1", "toolName": "bäsh🚀", "args": {"x": "漢"}, "resultText": text}],
        }
        server.call("condense/summarize", {"sessionId": "s", "batch": batch})
        record = server.call("condense/resolveRef", {"sessionId": "s", "refs": ["t1"]})["records"][0]
        assert record["text"] == text
        assert server.ask("未知/🚀")["error"]["code"] == -32601
        assert "Error" not in server.stderr


@pytest.mark.req("start.nothing-heavy")
def test_nothing_heavy_is_loaded(tmp_path: Path) -> None:
    """Case L07."""
    with Server(tmp_path) as server:
        server.initialize()
        status = server.call("afterturn/status")
        assert status["process"]["loadedModules"] == []
        assert status["process"]["pid"] == server.process.pid
        assert 0 < status["process"]["rssBytes"] < 80 * 1024 * 1024
        assert status["destinations"] == []


def test_the_start_path_loads_none_of_the_heavy_modules() -> None:
    probe = (
        "import sys, os; sys.argv = ['afterturn', '--framing=ndjson']; import atexit\n"
        "import afterturn.launch as launch\n"
        "exit_ = os._exit\n"
        "def report(code): os.write(2, repr(sorted(sys.modules)).encode()); exit_(code)\n"
        "os._exit = report\n"
        "launch.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", probe],
        input=b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n',
        capture_output=True,
        timeout=20,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(eval(done.stderr.decode().splitlines()[-1]))
    assert "afterturn.app" in loaded
    assert not loaded & HEAVY
    assert not loaded & {"anyio", "sqlite3", "argparse", "json"}, "not needed for initialize"


@pytest.mark.req("lifecycle.no-singleton")
def test_several_sidecars_start_while_one_ends(tmp_path: Path) -> None:
    """Case L16."""
    with Server(tmp_path) as ending:
        ending.initialize()
        ending.call("session/open", {"sessionId": "old"})
        ending.close_stdin()
        servers = [Server(tmp_path) for _ in range(5)]
        try:
            started = time.monotonic()
            for number, server in enumerate(servers):
                server.initialize()
                assert server.call("session/open", {"sessionId": f"s{number}"})["known"] is False
            assert time.monotonic() - started < 15
            for number, server in enumerate(servers):
                other = (number + 1) % 5
                assert server.call("session/open", {"sessionId": f"s{other}"})["known"] is True
        finally:
            for server in servers:
                server.__exit__()
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".pid", ".lock") or path.name.endswith(".sock")]


def test_nothing_goes_to_shared_temporary_folders(tmp_path: Path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    with Server(tmp_path / "home", env={"TMPDIR": str(shared)}) as server:
        server.initialize()
        server.call("session/open", {"sessionId": "s"})
        server.close_stdin()
        server.wait_exit()
    assert list(shared.iterdir()) == []


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = '{"jsonrpc":"2.0","id":1,"method":"session/open","params":{"sessionId":"s"}}'
    init = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
    script = f"rmdir '{gone}'; printf '%s\\n' '{init}' '{line}' | '{SCRIPT}' --framing=ndjson"
    done = subprocess.run(
        ["sh", "-c", script],
        capture_output=True,
        timeout=20,
        cwd=gone,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path / "home")},
    )
    assert done.returncode == 0, done.stderr
    assert b'"known":false' in done.stdout
    assert done.stderr == b""


@pytest.mark.req("install.isolated-imports")
@pytest.mark.parametrize("listed", ["{wrong}", ":/x", "{sidecar}:{protocol}", "{protocol}", "{site}"])
def test_any_pythonpath(tmp_path: Path, listed: str) -> None:
    (tmp_path / "msgspec.py").write_text("raise RuntimeError('the wrong module')\n")
    root = Path(__file__).parents[2]
    site = next(entry for entry in sys.path if entry.endswith("site-packages"))
    value = listed.format(wrong=tmp_path, sidecar=root / "sidecar", protocol=root / "protocol", site=site)
    with Server(tmp_path / "home", command=[SCRIPT, "--stdio"], cwd=tmp_path, env={"PYTHONPATH": value}) as server:
        assert server.initialize()["serverInfo"]["name"] == "afterturn"


def test_a_stderr_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    """Case L01: thousands of log lines into a pipe that is full."""
    read_end, write_end = os.pipe()
    bad = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1.5}}\n' * 20_000
    init = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n'
    done = subprocess.run(
        [SCRIPT, "--framing=ndjson", "--log-level=info"],
        input=init + bad + b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}\n',
        stdout=subprocess.PIPE,
        stderr=write_end,
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path)},
    )
    os.close(write_end)
    os.close(read_end)
    assert done.returncode == 0
    assert b'"id":2' in done.stdout
