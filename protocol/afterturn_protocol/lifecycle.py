"""Start, end, cancellation, progress, trace and configuration (protocol.md, 'Lifecycle').

This module is loaded before `initialize` is answered, so it imports no other noun; settings stay undecoded.
"""

from typing import Any

from afterturn_protocol.shape import Count, Int, Shape


class ClientInfo(Shape, frozen=True, kw_only=True):
    """Who the client is.

    name: the program.
    version: its version.
    """

    name: str
    version: str | None = None


class RecapCapability(Shape, frozen=True, kw_only=True):
    """What the client can do with a recap.

    can_show: it can show one to a person; without this none is drafted by itself.
    can_save: it keeps one in its session file.
    focus_reporting: whether it reports focus: "unknown" (the default), "supported", "unsupported".
    """

    can_show: bool
    can_save: bool | None = None
    focus_reporting: str | None = None


class AfterturnClientCapabilities(Shape, frozen=True, kw_only=True):
    """What the client declares under `capabilities.experimental.afterturn`.

    protocol_version: the version it speaks; omitted means 1.
    sampling: it answers sampling/createMessage.
    context: it answers host/getContext.
    recap: what it can do with recaps.
    """

    protocol_version: Int | None = None
    sampling: bool | None = None
    context: bool | None = None
    recap: RecapCapability | None = None


class ClientExperimental(Shape, frozen=True, kw_only=True):
    """The client's experimental capabilities.

    afterturn: this protocol's own part.
    """

    afterturn: AfterturnClientCapabilities | None = None


class ClientCapabilities(Shape, frozen=True, kw_only=True):
    """The client's capabilities, as far as afterturn reads them. All but the last are LSP's, in LSP's own shapes.

    text_document: there for an editor only; its presence mounts the language-server face, which reads the next three.
    workspace: LSP.
    window: LSP.
    general: LSP.
    experimental: where this protocol's own capabilities are.
    """

    text_document: Any = None
    workspace: Any = None
    window: Any = None
    general: Any = None
    experimental: ClientExperimental | None = None


class WorkspaceFolder(Shape, frozen=True, kw_only=True):
    """A folder that an editor has open.

    uri: its URI.
    name: its name in the editor.
    """

    uri: str
    name: str | None = None


class InitializeParams(Shape, frozen=True, kw_only=True):
    """Params of `initialize`.

    process_id: pid of the client, which is watched; null or omitted where there is none to watch.
    client_info: who the client is.
    locale: such as en-GB.
    trace: "off", "messages" or "verbose".
    root_uri: the workspace, for clients without workspace folders.
    workspace_folders: the workspace.
    capabilities: what the client can do.
    initialization_options: Settings; null and {} mean defaults.
    """

    process_id: Int | None = None
    client_info: ClientInfo | None = None
    locale: str | None = None
    trace: str | None = None
    root_uri: str | None = None
    workspace_folders: list[WorkspaceFolder] | None = None
    capabilities: ClientCapabilities | None = None
    initialization_options: Any = None


class Limits(Shape, frozen=True, kw_only=True):
    """What the server takes at once.

    max_message_bytes: longest message body, in bytes.
    max_in_flight: requests of this client that may be open at once before more are answered `busy`.
    """

    max_message_bytes: Count
    max_in_flight: Count


class AfterturnServerCapabilities(Shape, frozen=True, kw_only=True):
    """What the server declares under `capabilities.experimental.afterturn`.

    protocol_version: the version this connection speaks.
    methods: the methods this server answers.
    events: the events it can send.
    limits: what it takes at once.
    """

    protocol_version: Int
    methods: list[str]
    events: list[str]
    limits: Limits


class ServerExperimental(Shape, frozen=True, kw_only=True):
    """The server's experimental capabilities.

    afterturn: this protocol's own part.
    """

    afterturn: AfterturnServerCapabilities


class ServerCapabilities(Shape, frozen=True, kw_only=True):
    """The server's capabilities. The LSP ones are declared to an editor only, in LSP's own shapes.

    experimental: where this protocol's own capabilities are.
    position_encoding: LSP.
    text_document_sync: LSP.
    hover_provider: LSP.
    definition_provider: LSP.
    document_highlight_provider: LSP.
    document_link_provider: LSP.
    completion_provider: LSP.
    execute_command_provider: LSP.
    workspace: LSP.
    """

    experimental: ServerExperimental
    position_encoding: Any = None
    text_document_sync: Any = None
    hover_provider: Any = None
    definition_provider: Any = None
    document_highlight_provider: Any = None
    document_link_provider: Any = None
    completion_provider: Any = None
    execute_command_provider: Any = None
    workspace: Any = None


class ServerInfo(Shape, frozen=True, kw_only=True):
    """Who the server is.

    name: "afterturn".
    version: the package's version, which is apart from the protocol's.
    """

    name: str
    version: str


class InitializeResult(Shape, frozen=True, kw_only=True):
    """Result of `initialize`.

    capabilities: what the server can do.
    server_info: who the server is.
    """

    capabilities: ServerCapabilities
    server_info: ServerInfo


class CancelParams(Shape, frozen=True, kw_only=True):
    """Params of `$/cancelRequest`, in both directions.

    id: the id of the request to cancel.
    """

    id: Int | str


class WorkDoneProgress(Shape, frozen=True, kw_only=True):
    """How far a request is.

    kind: "begin", "report" or "end".
    title: what is being done; with begin.
    message: what is being done right now.
    percentage: 0 to 100.
    """

    kind: str
    title: str | None = None
    message: str | None = None
    percentage: Count | None = None


class ProgressParams(Shape, frozen=True, kw_only=True):
    """Params of `$/progress`, sent for a request that carried a `workDoneToken`.

    token: the request's token.
    value: how far it is.
    """

    token: Int | str
    value: WorkDoneProgress


class SetTraceParams(Shape, frozen=True, kw_only=True):
    """Params of `$/setTrace`.

    value: "off", "messages" or "verbose".
    """

    value: str


class LogTraceParams(Shape, frozen=True, kw_only=True):
    """Params of `$/logTrace`.

    message: one line; never the body of a message.
    verbose: more of it, with trace "verbose".
    """

    message: str
    verbose: str | None = None


class DidChangeConfigurationParams(Shape, frozen=True, kw_only=True):
    """Params of `workspace/didChangeConfiguration`.

    settings: an object whose key `afterturn` holds Settings.
    """

    settings: Any = None


class LogMessageParams(Shape, frozen=True, kw_only=True):
    """Params of `window/logMessage`.

    type: 1 error, 2 warning, 3 info, 4 log.
    message: one line for a person.
    """

    type: Int
    message: str
