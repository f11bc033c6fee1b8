"""Real agent sessions to run, test and measure on: one reader for each harness's format.

`files()` finds them in the folder that AFTERTURN_TRANSCRIPTS names, else in ``../shared/transcripts`` beside the
checkout; where there is none it returns [], and callers then have nothing to do. `read(file)` gives the sessions.
`python -m bench.transcripts` compares what was read with the counts in the folder's MANIFEST.tsv.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from afterturn.cli.claude_code import read_claude_code
from afterturn.cli.transcript import Call, Session, Turn

from .aider import read_aider
from .amp import read_amp
from .codex import read_codex
from .gemini_cli import read_gemini_cli
from .kimi_cli import read_kimi_cli
from .mini_swe_agent import read_mini_swe_agent
from .opencode import read_opencode
from .openhands import read_openhands
from .pi import read_pi
from .swe_agent import read_swe_agent

__all__ = ["READERS", "Call", "Session", "TranscriptFile", "Turn", "files", "folder", "read"]

READERS: dict[str, Callable[[str], list[Session]]] = {
    "aider": read_aider,
    "amp": read_amp,
    "claude-code": read_claude_code,
    "codex": read_codex,
    "gemini-cli": read_gemini_cli,
    "kimi-cli": read_kimi_cli,
    "mini-swe-agent": read_mini_swe_agent,
    "opencode": read_opencode,
    "openhands": read_openhands,
    "pi": read_pi,
    "swe-agent": read_swe_agent,
}


class TranscriptFile(NamedTuple):
    harness: str
    name: str
    """Path below the transcripts folder, ``harness/file``."""
    path: Path


def folder() -> Path:
    """Where the transcripts are looked for; it need not exist."""
    named = os.environ.get("AFTERTURN_TRANSCRIPTS")
    return Path(named) if named else Path(__file__).resolve().parents[2].parent / "shared" / "transcripts"


def files(harness: str | None = None) -> list[TranscriptFile]:
    """Every transcript, by harness and name, or those of one harness; [] where there are none."""
    root = folder()
    return [
        TranscriptFile(name, f"{name}/{path.name}", path)
        for name in sorted(READERS)
        if harness in (None, name)
        for path in sorted((root / name).glob("*"))
        if path.is_file()
    ]


def read(file: TranscriptFile) -> list[Session]:
    """The sessions of one transcript.

    Raises ValueError for text that is not of the harness's format, OSError when the file cannot be read.
    """
    return READERS[file.harness](file.path.read_text(encoding="utf-8"))
