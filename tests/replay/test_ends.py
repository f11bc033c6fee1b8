"""How `afterturn replay` ends, and that nothing is left then."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from afterturn.cli.ending import ended_well
from tests.replay.sessions import PiSession, left_behind, log, two_requests


@pytest.mark.parametrize("args", [[], ["{file}"], ["--json"]], ids=["one", "several", "json"])
def test_a_reader_who_has_seen_enough(args: list[str], tmp_path: Path) -> None:
    """`afterturn replay ... | head`: the end of the pipe is no failure of the command."""
    file = two_requests().write(tmp_path / "s.jsonl")
    theirs, ours = os.pipe()
    os.close(theirs)
    more = [each.format(file=file) for each in args]
    done = subprocess.run(
        [sys.executable, "-I", "-m", "afterturn", "replay", str(file), *more],
        stdout=ours,
        stderr=subprocess.PIPE,
        timeout=60,
        env={**os.environ, "AFTERTURN_HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)},
    )
    os.close(ours)
    assert (done.returncode, done.stderr) == (0, b"")
    assert left_behind(tmp_path) == ["s.jsonl"]


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


def test_cleaning_up_is_not_cut_short() -> None:
    """Ctrl+C twice, as people do it: what is temporary goes all the same, and then the signals are as before."""
    before = signal.getsignal(signal.SIGINT)
    cleaned: list[bool] = []

    def work() -> int:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            cleaned.append(True)
        return 0

    with pytest.raises(KeyboardInterrupt):
        ended_well(work)
    assert cleaned == [True]
    assert signal.getsignal(signal.SIGINT) is before


def drained(terminal: int) -> None:
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the other side is closed
        os.close(terminal)
