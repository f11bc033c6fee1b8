"""An editor's settings: pulled from it where it answers, taken as they come where it does not (LSP 3.17)."""

import logging
from typing import Any, cast

import msgspec

from afterturn.editor.client import EditorClient
from afterturn.editor.ports import Needs
from afterturn.rpc.errors import RequestFailed

log = logging.getLogger("afterturn.editor")

SECTION = "afterturn"
PULL_SECONDS = 20.0

_CHANGES: dict[str, Any] = {
    "registrations": [
        {
            "id": "afterturn-configuration",
            "method": "workspace/didChangeConfiguration",
            "registerOptions": {"section": SECTION},
        }
    ]
}


class Configuration:
    """Keeps the settings that the editor has for us."""

    def __init__(self, needs: Needs, client: EditorClient) -> None:
        self._needs = needs
        self._client = client

    def initialized(self) -> None:
        """`initialized`: the editor can be asked now."""
        if self._client.registers:
            self._needs.line.spawn(self._register())
        if self._client.configuration:
            self._needs.line.spawn(self._pull())

    def changed(self, settings: Any) -> None:
        """`workspace/didChangeConfiguration`: what it says, where it says something of ours; else it is asked."""
        tree = cast("dict[str, Any]", settings) if isinstance(settings, dict) else {}
        if SECTION in tree or not self._client.configuration:
            self._needs.change_settings(tree.get(SECTION))
        else:
            self._needs.line.spawn(self._pull())

    async def _register(self) -> None:
        try:
            await self._needs.line.request("client/registerCapability", _CHANGES, PULL_SECONDS)
        except RequestFailed as problem:
            log.info("changes of settings are not told: %s", problem)

    async def _pull(self) -> None:
        try:
            raw = await self._needs.line.request(
                "workspace/configuration", {"items": [{"section": SECTION}]}, PULL_SECONDS
            )
            answer = msgspec.json.decode(raw) if isinstance(raw, msgspec.Raw) else raw
        except (RequestFailed, msgspec.DecodeError) as problem:
            log.warning("the editor's settings are not known: %s", type(problem).__name__)
            return
        if not isinstance(answer, list):
            log.warning("the editor's settings are not known: it gave no list")
            return
        found = cast("list[Any]", answer)
        self._needs.change_settings(found[0] if found else None)
