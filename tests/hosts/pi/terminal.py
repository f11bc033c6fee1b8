"""pi in a real terminal: a tmux of the test's own, whose keys and focus bytes go straight to pi."""

import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from tests.hosts.pi.host import Home
from tests.hosts.pi.rpc import PATIENCE_SECONDS, until

FOCUS_IN = "1b 5b 49"
FOCUS_OUT = "1b 5b 4f"
COLUMNS, ROWS = 110, 40


class Terminal:
    """`with Terminal(home, *args) as terminal:`; leaving it kills the tmux, as closing a window does."""

    def __init__(self, home: Home, *args: str) -> None:
        self.home = home
        self._started = False
        self._folder = tempfile.TemporaryDirectory()
        self._tmux = ["tmux", "-S", f"{self._folder.name}/tmux", "-f", "/dev/null"]
        variables = [f"{name}={value}" for name, value in home.environment.items() if name != "TMUX"]
        command = "exec " + shlex.join(["env", "-i", *variables, "TERM=tmux-256color", *home.command(*args)])
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        self._run("new-session", "-d", *size, "-c", str(home.project), command)
        self.pid = int(self._run("display-message", "-p", "#{pane_pid}"))

    def __enter__(self) -> "Terminal":
        # The footer names the model; keys that come before it is drawn are lost.
        self.shows("agent")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._folder.cleanup()

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, timeout=PATIENCE_SECONDS)

    def type(self, text: str) -> None:
        """Type a line and send it. While it starts, pi draws already and leaves in the editor what is sent."""
        self._run("send-keys", "-l", text)
        self._run("send-keys", "Enter")
        if not self._started:
            until(lambda: self._taken(text), "end of pi's start")
            self._started = True

    def key(self, name: str) -> None:
        self._run("send-keys", name)

    def bytes(self, hexadecimal: str) -> None:
        """What a terminal would send by itself."""
        self._run("send-keys", "-H", *hexadecimal.split())

    def record(self, file: Path) -> None:
        """Write what pi sends to the terminal from now on into a file, too."""
        self._run("pipe-pane", "-O", f"exec cat >> {shlex.quote(str(file))}")

    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    def shows(self, text: str) -> str:
        """The screen, once the text is on it."""
        try:
            return until(lambda: self.screen() if self._has(text) else None, "that")
        except AssertionError as error:
            raise AssertionError(f"no “{text}” on the screen:\n{self.screen()}") from error

    def hides(self, text: str) -> None:
        until(lambda: not self._has(text), f"screen without “{text}”")

    def _taken(self, text: str) -> bool:
        """Whether the line has left the editor, which stands between two rules; else it is sent again."""
        screen = self.screen()
        if text not in [part.strip() for part in re.split("^─+$", screen, flags=re.MULTILINE)]:
            return True
        if "Startup is still in progress" in screen:
            self._run("send-keys", "Enter")
        return False

    def _has(self, text: str) -> bool:
        """Whether the text is on the screen, wherever its lines break."""
        return text in " ".join(self.screen().split())

    def _run(self, *args: str) -> str:
        done = subprocess.run([*self._tmux, *args], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        assert done.returncode == 0, done.stderr
        return done.stdout
