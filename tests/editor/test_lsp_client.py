"""The real process, as pytest-lsp's client - a language client with a conscience about capabilities - sees it."""

import asyncio
import stat
import sys
import urllib.parse
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from afterturn.editor.features import MOST_SESSIONS
from tests.editor.archive import OUTPUT, SESSION, work

BOUND_SECONDS = 60.0
TEXT = """\
# Plan

See `t1`, (t2) and 🚀 t3; not t99, at1 or src/t1.py.

```
t1
```

t12
b1
t
"""


def capabilities(*encodings: str, documents: bool = False) -> types.ClientCapabilities:
    content = types.TextDocumentContentClientCapabilities() if documents else None
    formats = [types.MarkupKind.Markdown, types.MarkupKind.PlainText]
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=list(encodings)) if encodings else None,
        workspace=types.WorkspaceClientCapabilities(configuration=True, text_document_content=content),
        window=types.WindowClientCapabilities(work_done_progress=True),
        text_document=types.TextDocumentClientCapabilities(
            hover=types.HoverClientCapabilities(content_format=formats),
            document_link=types.DocumentLinkClientCapabilities(tooltip_support=True),
        ),
    )


class Editor:
    """A client with one document open."""

    def __init__(self, client: LanguageClient, project: Path) -> None:
        self.client = client
        self.uri = (project / "plan.md").as_uri()
        self.document = types.TextDocumentIdentifier(self.uri)
        self.server: types.InitializeResult | None = None

    def open(self, text: str) -> None:
        item = types.TextDocumentItem(self.uri, "markdown", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def hover(self, line: int, character: int) -> str | None:
        found = await self.client.text_document_hover_async(
            types.HoverParams(self.document, types.Position(line, character))
        )
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def command(self, name: str, **argument: Any) -> Any:
        params = types.ExecuteCommandParams(f"afterturn.{name}", [argument] if argument else None)
        return await self.client.workspace_execute_command_async(params)


@asynccontextmanager
async def editor(
    home: Path, project: Path, can: types.ClientCapabilities, settings: dict[str, Any]
) -> AsyncGenerator[Editor]:
    command = [sys.executable, "-I", "-m", "afterturn", "--stdio"]
    config = ClientServerConfig(server_command=command, server_env={"AFTERTURN_HOME": str(home)})
    client = await config.start()
    assert isinstance(client, LanguageClient)
    client.set_configuration(settings, section="afterturn")
    editing = Editor(client, project)
    folder = types.WorkspaceFolder(project.as_uri(), project.name)
    editing.server = await client.initialize_session(
        types.InitializeParams(capabilities=can, root_uri=project.as_uri(), workspace_folders=[folder])
    )
    editing.open(TEXT)
    try:
        yield editing
    finally:
        await client.shutdown_session()
        await client.stop()
    assert client.error is None


def drive(
    home: Path,
    project: Path,
    body: Callable[[Editor], Awaitable[None]],
    can: types.ClientCapabilities | None = None,
    settings: dict[str, Any] | None = None,
) -> None:
    """Run `body` with an editor, in bounded time."""

    async def run() -> None:
        async with asyncio.timeout(BOUND_SECONDS), editor(home, project, can or capabilities(), settings or {}) as each:
            await body(each)

    asyncio.run(run())


def path_of(uri: str) -> Path:
    return Path(urllib.parse.unquote(uri.removeprefix("file://")))


@pytest.mark.req("editor.capabilities")
def test_what_the_server_says_it_can(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        assert editing.server is not None
        can = editing.server.capabilities
        assert can.position_encoding == types.PositionEncodingKind.Utf16
        assert can.text_document_sync == types.TextDocumentSyncOptions(
            open_close=True, change=types.TextDocumentSyncKind.Incremental, save=False
        )
        assert (can.hover_provider, can.definition_provider, can.document_highlight_provider) == (True, True, True)
        assert can.document_link_provider == types.DocumentLinkOptions(resolve_provider=True)
        assert can.completion_provider == types.CompletionOptions()
        assert can.execute_command_provider is not None
        assert list(can.execute_command_provider.commands) == [
            "afterturn.recap",
            "afterturn.searchTraces",
            "afterturn.showRef",
            "afterturn.status",
        ]
        assert can.workspace is not None
        assert can.workspace.text_document_content is None
        assert can.references_provider is None
        assert can.rename_provider is None

    drive(home, project, body)


@pytest.mark.req("editor.hover")
def test_hover_tells_tool_args_status_and_the_head_of_the_output(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        first = await editing.hover(2, 5)
        assert first is not None
        assert first.startswith("**t1** `bash` · ok · turn 4 · ")
        assert '{"command": "ls # 1"}' in first
        assert "total 12\nrow 1\n" in first
        assert "row 59" not in first
        assert "· error ·" in str(await editing.hover(2, 11))
        assert "· denied ·" in str(await editing.hover(2, 22))  # behind a char of two units
        assert "t1" in str(await editing.hover(9, 0))  # the block's text names its refs

    drive(home, project, body)


@pytest.mark.req("editor.no-refs")
def test_fences_words_and_unknown_numbers_tell_nothing(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        line = TEXT.split("\n")[2]
        places = [2 * (char > "\uffff") or 1 for char in line]
        for text in ("t99", "at1", "t1.py"):
            column = sum(places[: line.index(text)]) + 1
            assert await editing.hover(2, column) is None
        assert await editing.hover(5, 1) is None
        assert await editing.hover(0, 0) is None
        assert await editing.hover(500, 500) is None

    drive(home, project, body)


@pytest.mark.req("editor.definition")
def test_definition_is_the_whole_original_as_a_private_file(home: Path, project: Path) -> None:
    written: list[Path] = []

    async def body(editing: Editor) -> None:
        found = await editing.client.text_document_definition_async(
            types.DefinitionParams(editing.document, types.Position(8, 1))
        )
        assert isinstance(found, types.Location)
        file = path_of(found.uri)
        written.append(file)
        assert file.read_text("utf-8") == OUTPUT
        assert file.is_relative_to(home)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [stat.S_IMODE(folder.stat().st_mode) for folder in list(file.parents)[:3]] == [0o700] * 3

    drive(home, project, body)
    assert not written[0].exists()
    assert not written[0].parent.exists()


@pytest.mark.req("editor.documents")
def test_definition_is_a_document_where_the_editor_asks_for_those(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        assert editing.server is not None
        assert editing.server.capabilities.workspace is not None
        content = editing.server.capabilities.workspace.text_document_content
        assert content is not None
        assert list(content.schemes) == ["afterturn"]
        found = await editing.client.text_document_definition_async(
            types.DefinitionParams(editing.document, types.Position(8, 1))
        )
        assert isinstance(found, types.Location)
        assert found.uri == f"afterturn://original/t12.txt?{SESSION}"
        original = await editing.client.workspace_text_document_content_async(
            types.TextDocumentContentParams(found.uri)
        )
        assert original.text == OUTPUT

    drive(home, project, body, capabilities(documents=True))
    assert not list(home.rglob("*.txt"))


@pytest.mark.req("editor.links")
def test_links_are_the_refs_that_the_session_knows(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        links = await editing.client.text_document_document_link_async(types.DocumentLinkParams(editing.document))
        assert links is not None
        assert [(link.range.start.line, link.range.start.character, link.range.end.character) for link in links] == [
            (2, 5, 7),
            (2, 11, 13),
            (2, 22, 24),
            (8, 0, 3),
            (9, 0, 2),
        ]
        assert [link.target for link in links] == [None] * 5
        followed = await editing.client.document_link_resolve_async(links[3])
        assert followed.target is not None
        assert path_of(followed.target).read_text("utf-8") == OUTPUT

    drive(home, project, body)


def test_links_stop_at_the_sessions_that_are_too_many_and_at_no_others(home: Path, project: Path) -> None:
    others = "".join(f"session: nobody-{number}\nt1\n" for number in range(MOST_SESSIONS))

    async def body(editing: Editor) -> None:
        editing.open(f"session: {SESSION}\nt1\n{others}session: {SESSION}\nt2")
        links = await editing.client.text_document_document_link_async(types.DocumentLinkParams(editing.document))
        assert links is not None
        assert [link.range.start.line for link in links] == [1, 2 * MOST_SESSIONS + 3]

    drive(home, project, body)


@pytest.mark.req("editor.highlights")
def test_highlights_are_the_same_ref_outside_fences(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        editing.open("t1 t12\n```\nt1\n```\nt1, t1\n")
        found = await editing.client.text_document_document_highlight_async(
            types.DocumentHighlightParams(editing.document, types.Position(4, 0))
        )
        assert found is not None
        assert [(each.range.start.line, each.range.start.character) for each in found] == [(0, 0), (4, 0), (4, 4)]

    drive(home, project, body)


@pytest.mark.req("editor.completion")
def test_completion_offers_the_sessions_refs_newest_first(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        async def offered(text: str) -> list[str] | None:
            editing.open(text)
            line = text.rsplit("\n", maxsplit=1)[-1]
            where = types.Position(text.count("\n"), len(line))
            found = await editing.client.text_document_completion_async(types.CompletionParams(editing.document, where))
            if found is None:
                return None
            assert isinstance(found, types.CompletionList)
            return [item.label for item in found.items]

        assert await offered("see t") == [f"t{number}" for number in range(12, 0, -1)]
        assert await offered("see t1") == ["t12", "t11", "t10", "t1"]
        assert await offered("b") == ["b1"]
        assert await offered("at") is None
        assert await offered("") is None
        assert await offered("```\n```\n~~~\n~~~\nt12") == ["t12"]

    drive(home, project, body)


@pytest.mark.req("editor.session")
def test_a_session_line_says_whose_refs_they_are(home: Path, project: Path) -> None:
    work(home, project.parent, "another", calls=3)

    async def body(editing: Editor) -> None:
        editing.open("t12\nsession: another\nt3 t12\nsession: fix-login\nt12\nsession: nobody\nt1")
        assert await editing.hover(2, 4) is None
        assert "denied" in str(await editing.hover(2, 0))
        assert "total" in str(await editing.hover(4, 0))
        assert await editing.hover(6, 0) is None
        assert await editing.hover(0, 0) is None

    drive(home, project, body)


def test_the_command_for_a_ref_in_a_document_means_the_session_of_its_line(home: Path, project: Path) -> None:
    work(home, project.parent, "another", calls=3)

    async def body(editing: Editor) -> None:
        editing.open("t1\nsession: another\nt1\nsession: fix-login\nt1")

        async def meant(**place: Any) -> str:
            return (await editing.command("showRef", ref="t1", **place))["sessionId"]

        assert [await meant(uri=editing.uri, line=line) for line in (0, 2, 4)] == ["another", "another", SESSION]
        assert await meant(uri=editing.uri) == SESSION
        assert await meant(line=2) == SESSION
        assert await meant(uri=f"{editing.uri}.not-open", line=2) == SESSION
        assert await meant(uri=editing.uri, line=2, sessionId=SESSION) == SESSION

    drive(home, project, body)


def test_the_newest_session_of_the_project_counts(home: Path, project: Path) -> None:
    work(home, project, "later", calls=3)

    async def body(editing: Editor) -> None:
        assert (await editing.command("status"))["sessionId"] == "later"
        assert await editing.hover(8, 0) is None

    drive(home, project, body)


@pytest.mark.req("editor.encodings")
@pytest.mark.parametrize(
    ("encoding", "column"),
    [
        (types.PositionEncodingKind.Utf8, 24),
        (types.PositionEncodingKind.Utf16, 22),
        (types.PositionEncodingKind.Utf32, 21),
    ],
)
def test_columns_are_counted_as_was_agreed(
    home: Path, project: Path, encoding: types.PositionEncodingKind, column: int
) -> None:
    async def body(editing: Editor) -> None:
        assert editing.server is not None
        assert editing.server.capabilities.position_encoding == encoding
        change = types.TextDocumentContentChangePartial(
            types.Range(types.Position(2, column), types.Position(2, column + 2)), "t2"
        )
        version = types.VersionedTextDocumentIdentifier(2, editing.uri)
        editing.client.text_document_did_change(types.DidChangeTextDocumentParams(version, [change]))
        found = await editing.client.text_document_hover_async(
            types.HoverParams(editing.document, types.Position(2, column))
        )
        assert found is not None
        assert "· error ·" in str(found.contents)
        assert found.range == types.Range(types.Position(2, column), types.Position(2, column + 2))

    drive(home, project, body, capabilities(encoding))


@pytest.mark.req("editor.commands")
def test_commands(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        shown = await editing.command("showRef", ref="`t12`")
        assert (shown["sessionId"], shown["ref"]) == (SESSION, "t12")
        assert path_of(shown["uri"]).read_text("utf-8") == OUTPUT
        assert shown["text"].startswith("**t12**")
        named_nothing = await editing.command("showRef", ref="t12", sessionId="")
        assert (named_nothing["sessionId"], named_nothing["uri"]) == ("", None)
        gone = await editing.command("showRef", ref="t99")
        assert (gone["uri"], gone["text"]) == (None, None)
        status = await editing.command("status")
        assert status["sessionId"] == SESSION
        assert {"pygls", "lsprotocol"} <= set(status["process"]["loadedModules"])
        assert (await editing.command("searchTraces", query="anything"))["hits"] == []
        assert await editing.command("recap") == {"sessionId": SESSION, "recap": None, "reason": "noContext"}

    drive(home, project, body)


@pytest.mark.req("editor.progress")
def test_a_recap_shows_progress(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        await editing.command("recap")
        (reports,) = editing.client.progress_reports.values()
        assert [type(report).__name__ for report in reports] == ["WorkDoneProgressBegin", "WorkDoneProgressEnd"]

    drive(home, project, body)


@pytest.mark.req("editor.configuration")
def test_settings_are_pulled_from_the_editor(home: Path, project: Path) -> None:
    async def body(editing: Editor) -> None:
        problems: list[Any] = []
        while not problems:  # they are pulled beside everything else
            problems = (await editing.command("status"))["settingsProblems"]
        assert [problem["path"] for problem in problems] == ["recap.maxChars"]
        editing.client.set_configuration({}, section="afterturn")
        editing.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
        while problems:
            problems = (await editing.command("status"))["settingsProblems"]

    drive(home, project, body, settings={"recap": {"maxChars": "many"}})
