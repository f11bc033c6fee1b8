"""The services behind the methods, put together from settings, store, completer and clock.

Loaded with the first method that needs one of them, never for `initialize`; each service on its first use.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

from afterturn_protocol.lifecycle import AfterturnClientCapabilities
from afterturn_protocol.service import SettingsProblem, StoreStatus
from afterturn_protocol.settings import Settings

from afterturn.clock import Clock
from afterturn.condense.needs import Needs
from afterturn.condense.service import CondenseService
from afterturn.models.host import HostCompleter
from afterturn.redact import PatternError, Redactor
from afterturn.rpc.connection import Connection
from afterturn.sessions import Sessions
from afterturn.status import Status
from afterturn.store import open_store, store_status

log = logging.getLogger("afterturn.parts")


class Host(Protocol):
    """What the services need of the process they run in."""

    connection: Connection
    clock: Clock
    started: float

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        ...

    @property
    def settings_problems(self) -> list[SettingsProblem]:
        """What could not be used of the settings."""
        ...

    @property
    def client_capabilities(self) -> AfterturnClientCapabilities:
        """What the client declared."""
        ...


class Parts:
    """Each service, built when it is first asked for."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._redact = _redactor(host.settings)

    # -- services, by the names that methods.table uses ----------------------------------------------------

    def service(self, name: str) -> Any:
        """The service of this name."""
        return {"sessions": lambda: self.sessions, "condense": lambda: self.condense, "status": lambda: self.status}[
            name
        ]()

    @cached_property
    def sessions(self) -> Sessions:
        """session/*"""
        return Sessions(lambda: self.store.sessions, self._resume, self._host.clock)

    @cached_property
    def condense(self) -> CondenseService:
        """condense/*"""
        host = self._host
        needs = Needs(
            store=self.store,
            settings=lambda: host.settings.condense,
            redact=lambda text: self._redact(text),
            completer=HostCompleter(host.connection.request, self._offered, self._allowed),
            clock=host.clock,
            owner=f"{os.getpid()}-{os.urandom(6).hex()}",
            keep_raw=lambda: host.settings.store.raw,
            report=log.warning,
        )
        return CondenseService(needs, spawn=self._spawn, emit=host.connection.notify)

    @cached_property
    def status(self) -> Status:
        """afterturn/status"""
        return Status(self._host, self._store_status, self._offered, self._host.clock)

    @cached_property
    def store(self) -> Any:
        """The store; its file is opened by the first thing that is asked of it."""
        return open_store(self._host.settings.store, os.environ, clock=self._host.clock)

    # -- what they need --------------------------------------------------------------------------------------

    def _offered(self) -> bool:
        return bool(self._host.client_capabilities.sampling)

    def _allowed(self) -> bool:
        return self._host.settings.models.provider in ("auto", "host")

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        self._host.connection.spawn(run())

    async def _resume(self, session_id: str, after_reply: Callable[[Callable[[], None]], None]) -> None:
        await self.condense.resume(session_id, arrived=lambda: None, after_reply=after_reply)

    def _store_status(self) -> StoreStatus:
        opened = "store" in self.__dict__
        return store_status(self._host.settings.store, os.environ, self.store if opened else None)

    def settings_changed(self) -> None:
        """Take over what is not read anew at every use. The store stays where it was opened."""
        self._redact = _redactor(self._host.settings)

    async def close(self) -> None:
        """Save and let go of the store."""
        if "store" in self.__dict__:
            await self.store.close()


def _redactor(settings: Settings) -> Callable[[str], tuple[str, Mapping[str, int]]]:
    if not settings.redaction.enabled:
        return lambda text: (text, {})
    try:
        return Redactor(settings.redaction.extra_patterns).redact
    except PatternError as problem:
        # Better to hide too little of what one wanted on top than to hide nothing.
        log.warning("redaction.extraPatterns is not used: %s", problem)
        return Redactor().redact
