"""The table names every call and event of the protocol, and loads their types only when they are needed."""

import subprocess
import sys
from typing import Any

import pytest

from afterturn.methods.table import BINDINGS
from afterturn_protocol.errors import CODES, KINDS, Kind
from afterturn_protocol.shape import Shape
from afterturn_protocol.table import EITHER, EVENTS, METHODS, NOTIFICATION, REQUEST, SERVER_REQUESTS, load

# Name -> (params, result); everything else about a method stands in the table itself.
CALLS = {
    REQUEST: "initialize shutdown session/open session/delete condense/summarize condense/resolveRef"
    " condense/onTurnEnd condense/flush condense/fuse condense/plan recap/now recap/get recap/dismiss"
    " capture/episodeFinalized capture/status capture/drain capture/retry traces/list traces/get traces/search"
    " traces/delete traces/updateScore events/since afterturn/status afterturn/usage",
    NOTIFICATION: "initialized exit $/cancelRequest $/setTrace workspace/didChangeConfiguration session/changed",
    EITHER: "session/close recap/onFocus recap/onTurnStart recap/onAgentStart recap/onInput recap/onTurnEnd",
}
EVENT_NAMES = (
    "$/progress $/logTrace window/logMessage condense.ready recap.ready recap.cleared recap.skipped recap.failed"
    " capture.started capture.done capture.failed usage.limit"
)
ENTRIES: list[Any] = [*METHODS.values(), *EVENTS.values(), *SERVER_REQUESTS.values()]


@pytest.mark.parametrize("kind", CALLS)
def test_calls_of_a_kind(kind: str) -> None:
    assert {name for name, method in METHODS.items() if method.kind == kind} == set(CALLS[kind].split())


def test_events_and_server_requests() -> None:
    assert set(EVENTS) == set(EVENT_NAMES.split())
    assert set(SERVER_REQUESTS) == {"sampling/createMessage", "host/getContext"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_types_load(entry: Any) -> None:
    assert issubclass(load(entry.params), Shape)
    result = getattr(entry, "result", None)
    assert (result is None) == (getattr(entry, "kind", NOTIFICATION) == NOTIFICATION and entry not in server_requests())
    if result is not None:
        assert issubclass(load(result), Shape)


def server_requests() -> list[Any]:
    return list(SERVER_REQUESTS.values())


def test_what_is_called_implemented_is_what_the_server_binds() -> None:
    of_the_connection = {"exit", "$/cancelRequest"}
    assert {name for name, method in METHODS.items() if method.implemented} == set(BINDINGS) | of_the_connection


def test_the_start_path_loads_no_noun() -> None:
    code = (
        "import sys; before = set(sys.modules); from afterturn_protocol import errors, lifecycle, table;"
        "print(*sorted(m for m in set(sys.modules) - before if m.startswith('afterturn')))"
    )
    out = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    names = ["afterturn_protocol", *(f"afterturn_protocol.{n}" for n in ("errors", "lifecycle", "shape", "table"))]
    assert out.stdout.split() == names


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys; import afterturn_protocol; print('msgspec' in sys.modules)"
    out = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout == "False\n"


@pytest.mark.req("errors.kinds")
def test_kinds_and_codes() -> None:
    assert {value for name, value in vars(Kind).items() if name.isupper()} == set(KINDS)
    # protocol.md, 'Errors' and 'Framing and transport'
    assert set(KINDS) == {
        "busy",
        "conflict",
        "unknown_job",
        "store_unavailable",
        "message_too_large",
        "bad_header",
        "protocol_version",
        "deadline",
        "budget_exceeded",
        "provider_unavailable",
        "internal",
    }
    assert sorted(CODES.values()) == [-32803, -32802, -32800, -32700, -32603, -32602, -32601, -32600, -32002]
    assert {code for code, _ in KINDS.values()} <= set(CODES.values())
