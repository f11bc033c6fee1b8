"""Real sessions of every harness through the real process: the one that ships, and all beside the checkout."""

import json
import os
from pathlib import Path

import pytest

from afterturn.replay.reading import events
from afterturn.replay.stream import Compaction, SessionStart, Turn
from tests.replay.sessions import left_behind, replay

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "sidecar" / "afterturn" / "cli" / "demo_session"
BESIDE = Path(os.environ.get("AFTERTURN_TRANSCRIPTS") or ROOT.parent / "shared" / "transcripts")
FOLDERS = [SHIPPED, *sorted(path for path in BESIDE.glob("*") if path.is_dir())]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_replays(folder: Path, tmp_path: Path) -> None:
    """What the report counts is what the files hold."""
    done = replay(tmp_path, folder, "--json")
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if "NOTICE" not in line] == []
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert reports
    for report in reports:
        held = list(events(Path(report["file"])))
        turns = [event for event in held if isinstance(event, Turn)]
        calls = [call for turn in turns for call in turn.calls]
        assert report["sessions"] == sum(isinstance(event, SessionStart) for event in held)
        assert report["turns"] == len(turns)
        assert report["toolCalls"] == len(calls)
        assert report["results"] == sum(call.result is not None for call in calls)
        assert report["errors"] == sum(call.is_error for call in calls)
        assert report["compactions"] == sum(isinstance(event, Compaction) for event in held)
        assert report["rawChars"] == sum(len(call.result_text or "") for call in calls)
        assert report["keptChars"] <= report["rawChars"]
        assert [
            w for w in report["warnings"] if "did not end" in w["message"] or "without an answer" in w["message"]
        ] == []
    assert left_behind(tmp_path) == []
