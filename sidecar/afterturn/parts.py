"""The services behind the methods, put together from settings, store, completer and clock.

Loaded with the first method that needs one of them, never for `initialize`; each service on its first use.
"""

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from afterturn.clock import Clock
from afterturn.models.lazy import LazyCompleter
from afterturn.redact.by_settings import redact_of
from afterturn.rpc.call import current_call
from afterturn.rpc.connection import Connection
from afterturn.sessions import Sessions
from afterturn.status import Status
from afterturn.storage import configured_store, no_store, place_of, store_status
from afterturn.store.errors import StoreUnavailable
from afterturn.store.sqlite.store import SqliteStore
from afterturn_protocol.lifecycle import AfterturnClientCapabilities
from afterturn_protocol.service import SettingsProblem, StoreStatus
from afterturn_protocol.settings import EmbeddingsSettings, Settings

if TYPE_CHECKING:
    from afterturn.capture.embedder import Embedder
    from afterturn.capture.needs import CaptureNeeds
    from afterturn.capture.recall import RecallService
    from afterturn.capture.service import CaptureService
    from afterturn.condense.resolving import Originals
    from afterturn.condense.service import CondenseService
    from afterturn.embeddings.choice import OwnedEmbedder
    from afterturn.models.litellm import LitellmProvider
    from afterturn.models.pool import Pool
    from afterturn.models.provider import Provider
    from afterturn.models.report import UsageReport
    from afterturn.recap.service import RecapService

log = logging.getLogger("afterturn.parts")

TAKE_UP_AFTER_SECONDS = 1.0
SWEEP_AFTER_SECONDS = 60.0
SWEEP_EVERY_SECONDS = 3600.0
SWEEP_STEP_SECONDS = 0.05
CLOSE_MS = 500
MOST_USED = 10_000
"""Sessions of one connection whose jobs are told of and whose projects are looked at; the first used is forgotten."""
CLOSE_PROVIDERS_SECONDS = 0.5


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
        self._redact = redact_of(host.settings.redaction)
        self._pool_settings = host.settings
        self._recaps_wanted = bool(host.client_capabilities.recap or host.client_capabilities.context)
        self._embedding: tuple[EmbeddingsSettings, OwnedEmbedder | None] | None = None
        self._batches = 0
        self._taking_up = False
        self.used: dict[str, int] = {}
        """The sessions that this client has used, oldest first, and when it first did, epoch ms."""
        self._owner = f"{os.getpid()}-{os.urandom(6).hex()}"

    # -- services, by the names that methods.table uses ----------------------------------------------------

    def service(self, name: str) -> Any:
        """The service of this name."""
        services: dict[str, Callable[[], Any]] = {
            "sessions": lambda: self.sessions,
            "originals": lambda: self.originals,
            "condense": lambda: self.condense,
            "status": lambda: self.status,
            "usage": lambda: self.usage,
            "recap": lambda: self.recap,
            "capture": lambda: self.capture,
            "recall": lambda: self.recall,
        }
        return services[name]()

    @cached_property
    def sessions(self) -> Sessions:
        """session/*"""
        return Sessions(lambda: self.store.sessions, self._resume, self._host.clock, self._recaps, self._erasing)

    @cached_property
    def originals(self) -> "Originals":
        """condense/resolveRef"""
        from afterturn.condense.resolving import Originals

        return Originals(self.store.archive, self._host.clock)

    @cached_property
    def condense(self) -> "CondenseService":
        """condense/* but for resolveRef"""
        from afterturn.condense.needs import Needs
        from afterturn.condense.service import CondenseService

        host = self._host
        needs = Needs(
            store=self.store,
            settings=lambda: host.settings.condense,
            redact=self._hide,
            completer=self.completer,
            clock=host.clock,
            owner=self._owner,
            keep_raw=lambda: host.settings.store.raw,
            report=log.warning,
        )
        return CondenseService(needs, spawn=self._spawn, emit=host.connection.notify)

    @cached_property
    def recap(self) -> "RecapService":
        """recap/*"""
        from afterturn.host_context import HostContext
        from afterturn.models.choosing import HOST, choose
        from afterturn.recap.ports import Needs as RecapNeeds
        from afterturn.recap.service import RecapService

        self._recaps_wanted = True
        host, connection = self._host, self._host.connection
        needs = RecapNeeds(
            store=lambda: self.store.recaps,
            settings=lambda: host.settings.recap,
            capability=lambda: host.client_capabilities.recap,
            default_model=lambda: host.settings.models.model,
            by_host=lambda: choose(host.settings.models, None, self._offered()).provider == HOST,
            completer=self.completer,
            host_context=HostContext(connection.request, lambda: bool(host.client_capabilities.context)),
            redact=lambda text: self._redact(text)[0],
            clock=host.clock,
            new_id=lambda: f"recap-{os.urandom(8).hex()}",
            emit=connection.notify,
            tell=lambda text: connection.notify("window/logMessage", {"type": 2, "message": f"afterturn: {text}"}),
            report=log.warning,
        )
        return RecapService(needs, spawn=connection.spawn)

    @cached_property
    def capture(self) -> "CaptureService":
        """capture/*"""
        from afterturn.capture.service import CaptureService

        return CaptureService(self._capture_needs, spawn=self._host.connection.spawn)

    @cached_property
    def recall(self) -> "RecallService":
        """traces/*, events/since"""
        from afterturn.capture.recall import RecallService

        return RecallService(self._capture_needs, self.capture.relay)

    @cached_property
    def _capture_needs(self) -> "CaptureNeeds":
        from afterturn.capture.needs import CaptureNeeds

        host, connection = self._host, self._host.connection
        return CaptureNeeds(
            store=self.store.capture,
            settings=lambda: host.settings.capture,
            completer=self.completer,
            embedder=self._embedder,
            redact=self._hide,
            clock=host.clock,
            owner=self._owner,
            new_id=lambda: f"job-{os.urandom(12).hex()}",
            used=lambda: self.used,
            emit=connection.notify,
            congested=lambda: connection.congested,
            report=log.warning,
        )

    def _embedder(self) -> "Embedder | None":
        settings = self._host.settings.embeddings
        if self._embedding is None or self._embedding[0] != settings:
            from afterturn.capture.absent import AbsentEmbedder
            from afterturn.embeddings.choice import chosen_embedder

            if self._embedding is not None and self._embedding[1] is not None:
                self._host.connection.spawn(self._embedding[1].close())
            try:
                self._embedding = settings, chosen_embedder(settings, self._remote_embedder)
            except ValueError as problem:
                log.warning("there are no vectors: %s", problem)
                self._embedding = settings, AbsentEmbedder(str(problem))
        return self._embedding[1]

    def _embedder_rests(self) -> str | None:
        """Why the embedder of the settings in force is left alone for now, as far as it was used."""
        if self._embedding is None or self._embedding[0] != self._host.settings.embeddings:
            return None
        return self._embedding[1].resting if self._embedding[1] is not None else None

    def _remote_embedder(self, settings: EmbeddingsSettings, model: str) -> "OwnedEmbedder":
        from afterturn.embeddings.remote import RemoteEmbedder
        from afterturn.models.budget import Budget
        from afterturn.models.embedding import EmbeddingCalls

        host = self._host
        budget = Budget(lambda: self.store.models.ledger, lambda: host.settings.models, host.clock, self._emit_after)
        return RemoteEmbedder(settings, model, EmbeddingCalls(self._litellm, budget), self._hide, os.environ)

    @asynccontextmanager
    async def _erasing(self) -> AsyncGenerator[None]:
        """A session is erased: the events of the jobs that this ends are found in the outbox, after the answer."""
        if "capture" not in self.__dict__:
            await self._load_captures()
        relay = self.capture.relay
        relay.start()
        await relay.ready()
        with relay.held():
            yield

    def at_work(self, session_id: str) -> None:
        """The client uses a session: episodes that wait are gone on with soon. For every message of a session."""
        if session_id not in self.used:
            if len(self.used) >= MOST_USED:
                del self.used[next(iter(self.used))]
            self.used[session_id] = self._host.clock.now_ms()
        if not self._taking_up:
            self._taking_up = True
            self._host.connection.spawn(self._take_up_captures())

    async def _take_up_captures(self) -> None:
        """Go on with episodes that wait, but not while the host waits for its answers, and only now and then."""
        await self._host.clock.sleep(TAKE_UP_AFTER_SECONDS)
        self._taking_up = False
        if self._host.settings.capture.enabled:
            await self._load_captures()
            with suppress(StoreUnavailable):  # which is found out, and told, wherever the store is needed
                await self.capture.go_on()

    async def _captures_left(self) -> tuple[int, int]:
        """Jobs and vectors that are not done; a store that is not there is not made to tell."""
        if "capture" not in self.__dict__:
            if self._store_status().bytes is None:
                return 0, 0
            await self._load_captures()
        return await self.capture.left()

    async def _load_captures(self) -> None:
        from anyio import to_thread

        await to_thread.run_sync(import_module, "afterturn.capture.service")

    @cached_property
    def status(self) -> Status:
        """afterturn/status"""
        return Status(
            self._host,
            self._store_status,
            self._offered,
            batches=lambda: self._batches,
            pool=lambda: self.__dict__.get("pool"),
            ledger=lambda: self.store.models.ledger,
            captures=self._captures_left,
            embedder_rests=self._embedder_rests,
            clock=self._host.clock,
        )

    @cached_property
    def usage(self) -> "UsageReport":
        """afterturn/usage"""
        from afterturn.models.report import UsageReport

        return UsageReport(lambda: self.store.models.ledger)

    @cached_property
    def completer(self) -> LazyCompleter:
        """Every job's way to a model."""
        return LazyCompleter(lambda: self._host.settings.models, self._offered, lambda: self.pool)

    @cached_property
    def pool(self) -> "Pool":
        """What is behind it. Nothing of a provider is loaded before its first call."""
        from random import random

        from afterturn.models.pool import Pool

        host = self._host
        return Pool(
            settings=lambda: host.settings.models,
            offered=self._offered,
            providers={"host": self._host_provider, "litellm": lambda: self._litellm},
            store=lambda: self.store.models,
            redact=self._hide,
            clock=host.clock,
            chance=random,
            emit=self._emit_after,
        )

    @cached_property
    def store(self) -> SqliteStore:
        """The store; its file is opened by the first thing that is asked of it."""
        store = configured_store(self._host.settings.store, os.environ)
        self._host.connection.own_folder = f"{store.place.file.parent}{os.sep}"
        self._host.connection.spawn(self._sweep())
        return store

    def _hide(self, text: str) -> tuple[str, Mapping[str, int]]:
        return self._redact(text)

    # -- what they need --------------------------------------------------------------------------------------

    def _offered(self) -> bool:
        return bool(self._host.client_capabilities.sampling)

    def _host_provider(self) -> "Provider":
        from afterturn.models.host import HostProvider

        return HostProvider(self._host.connection.request, self._offered)

    @cached_property
    def _litellm(self) -> "LitellmProvider":
        """One worker process, for completions and for vectors."""
        from afterturn.models.litellm import LitellmProvider

        return LitellmProvider(lambda: self._host.settings.models, self._host.clock, os.environ)

    def _emit_after(self, method: str, params: Any) -> None:
        """Send an event, after the answer of the request that it comes from, if it comes from one."""
        call = current_call.get()
        if call is None:
            self._host.connection.notify(method, params)
        else:
            call.after_reply(lambda: self._host.connection.notify(method, params))

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            self._batches += 1
            try:
                await work()
            finally:
                self._batches -= 1

        self._host.connection.spawn(run())

    async def _sweep(self) -> None:
        """Expire what is past its time: not while everything starts, then hourly, in steps that hold nothing up."""
        clock, wait_seconds, expired = self._host.clock, SWEEP_AFTER_SECONDS, False
        while True:
            await clock.sleep(wait_seconds)
            try:
                kept = self._host.settings.store
                retention, now_ms = self.store.retention, clock.now_ms()
                swept = await retention.step(retention_days=kept.retention_days, now_ms=now_ms)
                events = await retention.outbox_step(outbox_days=kept.outbox_days, now_ms=now_ms)
                expired = expired or swept.expired > 0
                more = swept.more or events.more
                if expired and not more:
                    await retention.scrub()
                    expired = False
            except StoreUnavailable as problem:
                log.warning("nothing expires for now: %s", problem)
                wait_seconds = SWEEP_EVERY_SECONDS
            else:
                wait_seconds = SWEEP_STEP_SECONDS if more else SWEEP_EVERY_SECONDS

    def _recaps(self, wanted: bool) -> "RecapService | None":
        """Who hears of sessions: nothing of recaps is loaded for a client that shows no sign of wanting any."""
        return self.recap if wanted or self._recaps_wanted else None

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
        self._redact = redact_of(settings.redaction)
        if "pool" in self.__dict__ and settings != self._pool_settings:
            self._pool_settings = settings
            self.pool.settings_changed()
        if "store" not in self.__dict__ or self.store.place == place_of(settings.store, os.environ):
            return []
        text = "store.path is another one now, and counts from the next start on: the store stays where it was opened"
        return [SettingsProblem(path="store.path", problem=text)]

    async def close(self) -> None:
        """Save and let go of providers and store."""
        if "capture" in self.__dict__:
            with suppress(StoreUnavailable):  # then its leases run out, as they do for a process that was killed
                await self.capture.leave()
        if "pool" in self.__dict__ or self._embedding is not None:
            from anyio import move_on_after

            with move_on_after(CLOSE_PROVIDERS_SECONDS):
                await self._close_providers()
        if "store" in self.__dict__:
            await self.store.close(timeout_ms=CLOSE_MS)

    async def _close_providers(self) -> None:
        if self._embedding is not None and self._embedding[1] is not None:
            await self._embedding[1].close()
        if "pool" in self.__dict__:
            await self.pool.close()
        if "_litellm" in self.__dict__:
            await self._litellm.close()
