"""How a process starts and ends: every way, in its time, with its exit code, over real pipes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.e2e.server import Server, frame

END_SECONDS = 2.0
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"processId": None, "capabilities": {}}}


def ended_within(server: Server, code: int, seconds: float = END_SECONDS) -> None:
    """The process is gone within `seconds` (and a little for the machine), with this code and nobody left behind."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    assert server.wait_exit(seconds + 1.0) == code
    assert not [child for child in children if child.is_running()]


@pytest.mark.req("lifecycle.initialize")
def test_initialize(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        result = server.initialize()
        ours = result["capabilities"]["experimental"]["afterturn"]
        assert result["serverInfo"]["name"] == "afterturn"
        assert ours["protocolVersion"] == 1
        assert "condense/summarize" in ours["methods"]
        assert "condense.ready" in ours["events"]
        assert ours["limits"] == {"maxMessageBytes": 64 * 1024 * 1024, "maxInFlight": 1024}


@pytest.mark.req("lifecycle.protocol-version")
def test_a_version_we_do_not_speak_can_be_followed_by_one_we_do(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        params = {"capabilities": {"experimental": {"afterturn": {"protocolVersion": 2}}}}
        error = server.ask("initialize", params)["error"]
        assert error["code"] == -32803
        assert (error["data"]["kind"], error["data"]["supported"]) == ("protocol_version", [1])
        assert server.ask("afterturn/status")["error"]["code"] == -32002
        params["capabilities"]["experimental"]["afterturn"]["protocolVersion"] = 1
        assert "capabilities" in server.call("initialize", params)


@pytest.mark.req("lifecycle.shutdown")
@pytest.mark.req("lifecycle.exit-code")
def test_shutdown_then_exit(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        assert server.call("shutdown") == {}
        assert server.ask("afterturn/status")["error"]["code"] == -32600
        server.notify("exit")
        ended_within(server, 0)
        assert server.stderr == ""


def test_exit_without_shutdown(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        server.notify("exit")
        ended_within(server, 1)
    with Server(tmp_path) as server:
        server.notify("exit")
        ended_within(server, 1)


@pytest.mark.req("lifecycle.eof")
@pytest.mark.parametrize("initialized", [True, False])
def test_end_of_file(tmp_path: Path, initialized: bool) -> None:
    with Server(tmp_path) as server:
        if initialized:
            server.initialize()
        server.close_stdin()
        ended_within(server, 0)
        assert server.stderr == ""
        assert server.inbox == []


def test_end_of_file_in_the_middle_of_a_frame(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        server.send_bytes(b'Content-Length: 500\r\n\r\n{"jsonrpc"')
        server.close_stdin()
        ended_within(server, 0)


def test_what_was_read_before_end_of_file_is_answered(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.send(INITIALIZE)
        ids = [server.post("session/open", {"sessionId": f"s{n}"}) for n in range(20)]
        server.close_stdin()
        ended_within(server, 0)
        answers = {message["id"]: message for message in server.inbox}
        assert all("result" in answers[id] for id in ids)


@pytest.mark.req("lifecycle.signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals(tmp_path: Path, number: int, code: int) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        server.process.send_signal(number)
        ended_within(server, code)
        assert server.stderr == ""


@pytest.mark.req("lifecycle.signals")
def test_a_signal_while_everything_is_still_being_loaded(tmp_path: Path) -> None:
    probe = (
        "import os, signal, sys; sys.argv = ['afterturn', '--stdio']\n"
        "import afterturn.launch as launch\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'afterturn.app': os.kill(os.getpid(), signal.{name})\n"
        "sys.meta_path.insert(0, Finder())\n"
        "launch.main()\n"
    )
    for name, code in (("SIGTERM", 143), ("SIGINT", 130)):
        done = subprocess.run(
            [sys.executable, "-I", "-c", probe.replace("{name}", name)], input=b"", capture_output=True, timeout=20
        )
        assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.req("lifecycle.process-invisible")
@pytest.mark.parametrize("pid", [0, -1, 2**40, 2**62, os.getpid()])
def test_odd_process_ids_do_not_stop_the_start(tmp_path: Path, pid: int) -> None:
    with Server(tmp_path) as server:
        assert server.initialize(processId=pid)["serverInfo"]["name"] == "afterturn"
        server.close_stdin()
        ended_within(server, 0)


@pytest.mark.req("lifecycle.broken-stdout")
def test_broken_stdout_ends_the_process_even_if_it_has_nothing_to_say(tmp_path: Path) -> None:
    with Server(tmp_path) as server:
        server.initialize()
        read_end, write_end = os.pipe()
        quiet = subprocess.Popen(
            server.process.args,
            stdin=subprocess.PIPE,
            stdout=write_end,
            env={**os.environ, "AFTERTURN_HOME": str(tmp_path)},
        )
        os.close(write_end)
        assert quiet.stdin
        quiet.stdin.write(frame(INITIALIZE))
        quiet.stdin.flush()
        assert os.read(read_end, 65536)
        os.close(read_end)
        assert quiet.wait(END_SECONDS + 1) == 0
        quiet.stdin.close()


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)


@pytest.mark.req("lifecycle.process-watch")
@pytest.mark.req("invariant.dies-with-client")
@pytest.mark.parametrize("how", ["processId", "clientProcessId", "clientProcessId before initialize"])
def test_the_process_ends_with_its_client_while_the_pipe_stays_open(tmp_path: Path, how: str) -> None:
    """Case L01. The dead client stays a zombie until the end, which counts as gone."""
    client = sleeper()
    args = [] if how == "processId" else [f"--clientProcessId={client.pid}"]
    with Server(tmp_path, *args) as server:
        if how != "clientProcessId before initialize":
            server.initialize(processId=client.pid)
        else:
            assert server.ask("afterturn/status")["error"]["code"] == -32002
        client.kill()
        ended_within(server, 0, 10.0)
        assert client.stdin
        client.stdin.close()
        client.wait()


@pytest.mark.req("lifecycle.process-invisible")
def test_a_client_that_cannot_be_seen_is_not_watched(tmp_path: Path) -> None:
    gone = sleeper()
    gone.kill()
    gone.wait()
    assert gone.stdin
    gone.stdin.close()
    with Server(tmp_path) as server:
        server.initialize(processId=gone.pid)
        assert server.call("afterturn/status")["protocolVersion"] == 1
        server.close_stdin()
        ended_within(server, 0)
        assert "not visible" in server.stderr


@pytest.mark.req("transport.options")
@pytest.mark.parametrize(
    "args", [["--pipe=x"], ["--socket=5"], ["--node-ipc"], ["--framing=xml"], ["--stdio", "--what"]]
)
def test_what_is_not_supported_is_refused(tmp_path: Path, args: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", *args], capture_output=True, timeout=20, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert args[-1].partition("=")[0].encode() in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.req("transport.options")
def test_vscode_style_arguments_are_accepted(tmp_path: Path) -> None:
    with Server(
        tmp_path, f"--clientProcessId={os.getpid()}", command=[sys.executable, "-I", "-m", "afterturn", "--stdio"]
    ) as server:
        server.initialize(processId=os.getpid())
        server.close_stdin()
        ended_within(server, 0)


@pytest.mark.req("framing.ndjson")
def test_lines_instead_of_headers(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "--framing", "ndjson"],
        input=b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n\n'
        b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}\r\n{"jsonrpc":"2.0","method":"exit"}\n',
        capture_output=True,
        timeout=20,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path)},
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert [line.startswith(b"{") for line in lines] == [True, True]
    assert b'"id":2' in lines[1]


@pytest.mark.parametrize("stdin", ["file", "null", "closed"])
def test_stdin_that_the_event_loop_cannot_watch(tmp_path: Path, stdin: str) -> None:
    messages = tmp_path / "messages"
    messages.write_bytes(frame(INITIALIZE))
    shell = {
        "file": f"exec '{sys.executable}' -I -m afterturn --stdio < '{messages}'",
        "null": f"exec '{sys.executable}' -I -m afterturn --stdio < /dev/null",
        "closed": f"exec '{sys.executable}' -I -m afterturn --stdio <&-",
    }[stdin]
    done = subprocess.run(
        ["sh", "-c", shell], capture_output=True, timeout=20, env={**os.environ, "AFTERTURN_HOME": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"Content-Length: ") is (stdin == "file")
    assert done.stderr == b""


def test_stdout_may_be_a_file_or_closed_and_stderr_too(tmp_path: Path) -> None:
    env = {**os.environ, "AFTERTURN_HOME": str(tmp_path)}
    out = tmp_path / "out"
    for redirect in (f"> '{out}'", ">&-", f"> '{out}' 2>&-", f"> '{out}' 2>&1"):
        done = subprocess.run(
            ["sh", "-c", f"exec '{sys.executable}' -I -m afterturn --stdio {redirect}"],
            input=frame(INITIALIZE),
            timeout=20,
            env=env,
        )
        assert done.returncode == 0, redirect
    assert out.read_bytes().startswith(b"Content-Length: ")
