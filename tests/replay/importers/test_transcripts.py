"""The real sessions beside the checkout, where they are, as the manifest counts them, corrected by hand."""

from pathlib import Path

import pytest

from afterturn.replay.reading import UnreadableError
from afterturn.replay.stream import SessionStart
from bench import transcripts
from bench.transcripts.manifest import CORRECTIONS, counted, right, said
from tests.replay.importers.made import events_of

FILES = transcripts.files()

if FILES:
    FIGURES = said()

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
    def test_a_transcript_holds_what_the_manifest_says(file: transcripts.TranscriptFile) -> None:
        sessions = transcripts.read(file)
        got = counted(sessions)
        assert got | right(file.name, FIGURES[file.name]) == got
        assert {session.start.harness for session in sessions if session.start} == {file.harness}
        assert [session.skipped for session in sessions if session.skipped] == []
        stamps = [call.result_timestamp for session in sessions for call in session.calls]
        assert all(stamp is None or stamp > 1_600_000_000_000 for stamp in stamps)

    @pytest.mark.parametrize("name", CORRECTIONS)
    def test_a_correction_corrects_something(name: str) -> None:
        assert right(name, FIGURES[name]) != FIGURES[name]

    @pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
    def test_half_a_transcript_is_still_of_its_harness(file: transcripts.TranscriptFile) -> None:
        raw = file.path.read_bytes()
        try:
            found = events_of(raw[: len(raw) // 2])
        except UnreadableError as problem:  # of one with two lines, the first is a title
            assert problem.reason.startswith(f"is of {file.harness}, but no turn")
        else:
            assert {event.harness for event in found if isinstance(event, SessionStart)} == {file.harness}


def test_without_the_folder_there_is_nothing_to_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AFTERTURN_TRANSCRIPTS", str(tmp_path / "absent"))
    assert transcripts.files() == []
