"""URIs of originals, and which project a document belongs to."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn.editor.meaning import projects_of
from afterturn.editor.places import document_of, document_uri

any_text = st.text(st.characters(codec=None, exclude_categories=[]), min_size=1)


@given(any_text, st.integers(1, 10**17))
def test_a_document_is_named_for_its_session_and_ref(session_id: str, number: int) -> None:
    assert document_of(document_uri(session_id, f"t{number}")) == (session_id, f"t{number}")


def test_its_form() -> None:
    assert document_uri("a/b c", "b3") == "afterturn://original/b3.txt?a%2Fb%20c"


@pytest.mark.parametrize(
    "uri", ["", "file:///a/t1.txt", "afterturn://original/t0.txt?a", "afterturn://original/t1.txt", "afterturn:a/t1"]
)
def test_other_uris_name_nothing(uri: str) -> None:
    assert document_of(uri) is None


def test_a_folder_is_known_as_path_and_as_uri(tmp_path: Path) -> None:
    uri = tmp_path.as_uri()
    assert projects_of([uri], None) == [uri, str(tmp_path), f"{tmp_path}/"]


def test_a_folder_behind_a_link_is_known_by_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    assert {str(link), str(tmp_path / "real")} <= set(projects_of([link.as_uri()], None))


def test_a_document_belongs_to_the_innermost_folder_that_holds_it() -> None:
    folders = ["file:///w", "file:///w/inner", "file:///other"]
    assert "/w/inner" in projects_of(folders, "file:///w/inner/a.md")
    assert "/w" not in projects_of(folders, "file:///w/inner/a.md")
    assert {"/w", "/w/inner", "/other"} <= set(projects_of(folders, "file:///elsewhere/a.md"))
    assert projects_of([], "file:///a.md") == []


def test_what_is_no_path_is_known_as_it_is() -> None:
    assert projects_of(["vscode-vfs://github/o/r"], "vscode-vfs://github/o/r/a.md") == ["vscode-vfs://github/o/r"]
    assert projects_of(["file://["], "file://[/a.md") == ["file://["]
    assert projects_of(["file:///w"], "untitled:Untitled-1") == ["file:///w", "/w", "/w/"]
    assert projects_of(["file:///a%00b"], None) == ["file:///a%00b"]
