"""What the sidecar's store holds, read by another sidecar on it, as a later session would."""

from typing import Any

from tests.e2e.server import Server
from tests.hosts.pi.host import Home

DRAIN_MS = 30_000


def traces(home: Home) -> list[dict[str, Any]]:
    """All traces in the order of their steps, after the jobs that were left are done."""
    with Server(home.store) as server:
        server.initialize()
        for session in {entry["id"] for file in home.sessions.glob("*.jsonl") for entry in home.entries(file)[:1]}:
            server.call("session/open", {"sessionId": session, "project": str(home.project)})
        server.call("capture/drain", {"timeoutMs": DRAIN_MS})
        found = server.call("traces/list", {"project": str(home.project)})["traces"]
    return sorted(found, key=lambda trace: (trace["ts"], trace["stepIndex"]))
