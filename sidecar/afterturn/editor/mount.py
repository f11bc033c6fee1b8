"""Puts the language-server face before a connection: routes for LSP's methods, and what `initialize` says of them.

pygls holds the register of features and commands, and makes the capabilities of it. It gets no stream: it would leave
malformed params and requests after `shutdown` unanswered, and be a second writer (docs/decisions). Its documents stay
unused (see `lines`).
"""

import json
import logging
from collections.abc import Callable
from functools import partial
from types import CoroutineType
from typing import Any

import msgspec
from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer

from afterturn import __version__
from afterturn.editor.client import EditorClient, editor_client
from afterturn.editor.commands import Commands
from afterturn.editor.configuration import Configuration
from afterturn.editor.documents import Documents
from afterturn.editor.features import Features
from afterturn.editor.meaning import Meaning
from afterturn.editor.originals import OriginalReader
from afterturn.editor.params import params_type, strict_converter, structured
from afterturn.editor.places import SCHEME
from afterturn.editor.ports import Needs
from afterturn.editor.progress import Progress
from afterturn.misfits import InvalidInputError
from afterturn.rpc.call import Call, Handler
from afterturn.rpc.routes import DEFAULT_DEADLINE_SECONDS, Route
from afterturn_protocol.lifecycle import ClientCapabilities, DidChangeConfigurationParams, InitializeParams
from afterturn_protocol.shape import Empty

Feature = Callable[[Any], Any]
"""Takes a method's params; gives its result, or a coroutine for it."""

COMMAND_SECONDS = 120.0
"""A recap may wait for a model, which bounds itself."""

_OPTIONS: dict[str, Any] = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(),
    types.TEXT_DOCUMENT_DOCUMENT_LINK: types.DocumentLinkOptions(resolve_provider=True),
}

_NOTIFICATIONS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
)

_DECLARED = (
    "position_encoding",
    "text_document_sync",
    "hover_provider",
    "definition_provider",
    "document_highlight_provider",
    "document_link_provider",
    "completion_provider",
    "execute_command_provider",
)


class Face:
    """An editor's part of a connection. routes: LSP's methods. capabilities: by their names in our types."""

    def __init__(self, needs: Needs, params: InitializeParams) -> None:
        self._needs = needs
        logging.getLogger("pygls").setLevel(logging.WARNING)  # below that it logs what it is given
        client = editor_client(params.capabilities or ClientCapabilities())
        self._converter = strict_converter()
        self._server = LanguageServer("afterturn", __version__, converter_factory=lambda: self._converter)
        self._configuration = Configuration(needs, client)
        self._register(client)
        self.capabilities = self._declared(client, params)
        self.routes = self._routes()

    # -- what pygls keeps ------------------------------------------------------------------------------------

    def _register(self, client: EditorClient) -> None:
        server, needs = self._server, self._needs
        meaning = Meaning(needs.catalogue, lambda: [folder.uri for folder in server.workspace.folders.values()])
        originals = OriginalReader(needs, documents=client.documents, markdown=client.markdown)
        documents = Documents(ServerCapabilitiesBuilder.choose_position_encoding(_lsp_capabilities(client)))
        features = Features(documents, meaning, originals, needs.catalogue, opens_documents=client.documents)
        commands = Commands(needs, documents, meaning, originals, Progress(needs.line, shows=client.progress))
        for name, command in commands.table().items():
            server.command(name)(partial(command))  # pygls marks what it registers, which no bound method takes
        handlers: dict[str, Feature] = {
            types.TEXT_DOCUMENT_DID_OPEN: features.did_open,
            types.TEXT_DOCUMENT_DID_CHANGE: features.did_change,
            types.TEXT_DOCUMENT_DID_CLOSE: features.did_close,
            types.TEXT_DOCUMENT_HOVER: features.hover,
            types.TEXT_DOCUMENT_DEFINITION: features.definition,
            types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: features.highlights,
            types.TEXT_DOCUMENT_DOCUMENT_LINK: features.links,
            types.DOCUMENT_LINK_RESOLVE: features.resolve_link,
            types.TEXT_DOCUMENT_COMPLETION: features.completion,
            types.WORKSPACE_TEXT_DOCUMENT_CONTENT: features.content,
            types.WORKSPACE_EXECUTE_COMMAND: self._execute,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._folders_changed,
        }
        for method, handler in handlers.items():
            server.feature(method, _OPTIONS.get(method))(partial(handler))

    def _declared(self, client: EditorClient, params: InitializeParams) -> dict[str, Any]:
        """What pygls makes of what is registered: its answer to `initialize`, without what we do not do."""
        folders = [types.WorkspaceFolder(each.uri, each.name or each.uri) for each in params.workspace_folders or ()]
        if not folders and params.root_uri is not None:
            folders = [types.WorkspaceFolder(params.root_uri, params.root_uri)]
        given = types.InitializeParams(capabilities=_lsp_capabilities(client), workspace_folders=folders)
        answering = self._server.protocol.lsp_initialize(given)
        try:
            next(answering)
        except StopIteration as end:
            declared: types.ServerCapabilities = end.value.capabilities
        else:
            raise AssertionError("nothing is registered that pygls would call while it initializes")
        capabilities = {name: self._converter.unstructure(getattr(declared, name)) for name in _DECLARED}
        workspace: dict[str, Any] = {"workspaceFolders": {"supported": True, "changeNotifications": True}}
        if client.documents:
            workspace["textDocumentContent"] = {"schemes": [SCHEME]}
        return {**capabilities, "workspace": workspace}

    @property
    def _register_of_pygls(self) -> Any:
        """Its feature manager, whose tables are untyped."""
        return self._server.protocol.fm

    async def _execute(self, params: types.ExecuteCommandParams) -> Any:
        """`workspace/executeCommand`."""
        commands: dict[str, Feature] = self._register_of_pygls.commands
        command = commands.get(params.command)
        if command is None:
            raise InvalidInputError("$.command", f"one of {', '.join(sorted(commands))}")
        return await command(params)

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        """`workspace/didChangeWorkspaceFolders`."""
        for folder in params.event.removed:
            self._server.workspace.remove_folder(folder.uri)
        for folder in params.event.added:
            self._server.workspace.add_folder(folder)

    # -- routes ----------------------------------------------------------------------------------------------

    def _routes(self) -> dict[str, Route]:
        features: dict[str, Feature] = self._register_of_pygls.features
        routes = {name: self._route(name, feature) for name, feature in features.items()}
        routes["initialized"] = _own_route("initialized", Empty, lambda given, call: self._configuration.initialized())
        routes["workspace/didChangeConfiguration"] = _own_route(
            "workspace/didChangeConfiguration",
            DidChangeConfigurationParams,
            lambda given, call: self._configuration.changed(given.settings),
        )
        routes["shutdown"] = _own_route("shutdown", Empty, self._shut_down)
        return routes

    def _route(self, name: str, feature: Feature) -> Route:
        type_ = params_type(name)

        def handle(given: Any, call: Call) -> Any:
            # Lua writes an empty object so.
            result = feature(structured(self._converter, {} if given == [] else given, type_))
            return self._answer(result) if isinstance(result, CoroutineType) else None

        return Route(
            name,
            lambda: (object, handle),
            request_only=name not in _NOTIFICATIONS,
            deadline_seconds=COMMAND_SECONDS if name == types.WORKSPACE_EXECUTE_COMMAND else DEFAULT_DEADLINE_SECONDS,
        )

    async def _answer(self, work: Any) -> msgspec.Raw:
        return _as_json(self._converter.unstructure(await work))

    def _shut_down(self, given: Empty, call: Call) -> Any:
        self._needs.begin_shutdown()
        return _as_json(None)  # to the connection None would be a result that is not described


def _as_json(result: Any) -> msgspec.Raw:
    """A result of pygls's converter, which is JSON already but for the text of it."""
    try:
        return msgspec.Raw(msgspec.json.encode(result))
    except (UnicodeEncodeError, OverflowError):  # half a character, or an integer of any size
        return msgspec.Raw(json.dumps(result).encode())


def _own_route(name: str, params: type[Any], handle: Handler) -> Route:
    return Route(name, lambda: (params, handle))


def _lsp_capabilities(client: EditorClient) -> types.ClientCapabilities:
    """The part of an editor's capabilities that pygls's answer depends on."""
    general = types.GeneralClientCapabilities(position_encodings=client.encodings or None)
    return types.ClientCapabilities(general=general)
