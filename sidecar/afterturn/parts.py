"""The services behind the methods, put together from settings, store, completer and clock.

Loaded with the first method that needs one of them, never for `initialize`; each service on its first use.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

from afterturn.clock import Clock
from afterturn.condense.needs import Needs
from afterturn.condense.service import CondenseService
from afterturn.models.host import HostCompleter
from afterturn.redact import Redactor
from afterturn.rpc.connection import Connection
from afterturn.sessions import Sessions
from afterturn.status import Status
from afterturn.storage import configured_store, no_store, place_of, store_status
from afterturn.store.errors import StoreUnavailable
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.lifecycle import AfterturnClientCapabilities
from afterturn_protocol.service import SettingsProblem, StoreStatus
from afterturn_protocol.settings import Settings

log = logging.getLogger("afterturn.parts")

SWEEP_AFTER_SECONDS = 60.0
SWEEP_EVERY_SECONDS = 3600.0
SWEEP_STEP_SECONDS = 0.05
CLOSE_MS = 500


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
        self._batches = 0

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
            redact=self._hide,
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
        return Status(self._host, self._store_status, self._offered, lambda: self._batches, self._host.clock)

    @cached_property
    def store(self) -> SqliteStore:
        """The store; its file is opened by the first thing that is asked of it."""
        store = configured_store(self._host.settings.store, os.environ)
        self._host.connection.spawn(self._sweep())
        return store

    def _hide(self, text: str) -> tuple[str, Mapping[str, int]]:
        return self._redact(text)

    # -- what they need --------------------------------------------------------------------------------------

    def _offered(self) -> bool:
        return bool(self._host.client_capabilities.sampling)

    def _allowed(self) -> bool:
        return self._host.settings.models.provider in ("auto", "host")

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            self._batches += 1
            try:
                await work()
            finally:
                self._batches -= 1

        self._host.connection.spawn(run())

    async def _sweep(self) -> None:
        """Expire originals past their time: not while everything starts, then hourly, in steps that hold nothing up."""
        clock, wait_seconds = self._host.clock, SWEEP_AFTER_SECONDS
        while True:
            await clock.sleep(wait_seconds)
            try:
                swept = await self.store.retention.step(
                    retention_days=self._host.settings.store.retention_days, now_ms=clock.now_ms()
                )
            except StoreUnavailable as problem:
                log.warning("nothing expires for now: %s", problem)
                wait_seconds = SWEEP_EVERY_SECONDS
            else:
                wait_seconds = SWEEP_STEP_SECONDS if swept.more else SWEEP_EVERY_SECONDS

    async def _resume(self, session_id: str, after_reply: Callable[[Callable[[], None]], None]) -> None:
        await self.condense.resume(session_id, arrived=lambda: None, after_reply=after_reply)

    def _store_status(self) -> StoreStatus:
        try:
            return store_status(self.store)
        except StoreUnavailable as problem:
            return no_store(problem)

    def settings_changed(self) -> list[SettingsProblem]:
        """Take over what is not read anew at every use; returns what cannot change any more."""
        settings = self._host.settings
        self._redact = _redactor(settings)
        if "store" not in self.__dict__ or self.store.place == place_of(settings.store, os.environ):
            return []
        text = "store.path is another one now, and counts from the next start on: the store stays where it was opened"
        return [SettingsProblem(path="store.path", problem=text)]

    async def close(self) -> None:
        """Save and let go of the store."""
        if "store" in self.__dict__:
            await self.store.close(timeout_ms=CLOSE_MS)


def _redactor(settings: Settings) -> Callable[[str], tuple[str, Mapping[str, int]]]:
    if not settings.redaction.enabled:
        return lambda text: (text, {})
    return Redactor(settings.redaction.extra_patterns).redact
