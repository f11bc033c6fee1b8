"""Real agent sessions to run, test and measure on.

`files()` finds them in the folder that AFTERTURN_TRANSCRIPTS names, else in ``../shared/transcripts`` beside the
checkout; where there is none it returns [], and callers then have nothing to do. `read(file)` gives the sessions.
`python -m bench.transcripts` compares what was read with the counts in the folder's MANIFEST.tsv.
"""

import os
from pathlib import Path
from typing import NamedTuple

from afterturn.replay.reading import HARNESSES
from afterturn.replay.sessions import Session, sessions


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
        for name in sorted(HARNESSES)
        if harness in (None, name)
        for path in sorted((root / name).glob("*"))
        if path.is_file()
    ]


def read(file: TranscriptFile) -> list[Session]:
    """The sessions of one transcript. Raises UnreadableError."""
    return sessions(file.path)
